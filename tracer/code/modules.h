#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/layout/module.h"

/// The places of a process's code in its memory. Records hold addresses; their names are looked up
/// when the archive is written, perhaps after the death of the process. So each mapping goes to the
/// journal as soon as an address in it is recorded.
namespace rubato {
inline namespace tracing {

namespace modules {

/// Notes the present mappings, also in the journal. Call it before the first address is recorded.
/// Code in files with one of these names makes MPI calls for the program, as MPI libraries do.
void start(const std::vector<std::string>& wrapper_libraries);

/// The addresses for which an earlier result of note() holds.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool bindings =
      false;  ///< an MPI or wrapper library: code there that calls MPI is not the program's

  bool has(uint64_t address) const { return address - begin < end - begin; }
};

/// Ensures that the mapping of this address is known; not for signal handlers.
Range note(uint64_t address);

/// All mappings that were noted.
std::vector<Module> seen();

}  // namespace modules
}  // namespace tracing
}  // namespace rubato
