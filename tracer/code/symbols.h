#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracer/layout/module.h"

/// Names and lines of source code for addresses of a process, this one or one that has died.
///
/// Names come from the symbol tables of the files. Lines need libdw, which is loaded on demand;
/// without it only lines are missing.
namespace rubato {
inline namespace tracing {

/// A function, or a line of it.
struct CodeName {
  std::string name;     ///< as in the source; "module+0xoffset" where there is no symbol
  std::string symbol;   ///< linker symbol
  std::string module;   ///< file name without its directory
  uint64_t offset = 0;  ///< in the function, or in the file where there is no symbol
  bool known = false;   ///< there is a symbol
  std::string file;     ///< of the source; empty where there is no debug information
  uint32_t line = 0;
};

class Symbols {
 public:
  explicit Symbols(std::vector<Module> modules);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The place of an address.
  CodeName find(uint64_t address);
  /// Likewise for a return address: the line is that of the call.
  CodeName find_call(uint64_t return_address);

  /// All functions that have a symbol: their addresses and names.
  std::vector<std::pair<uint64_t, std::string>> functions();

 private:
  class File;
  struct Place {
    File* file;  ///< null where it cannot be read
    const Module* module;
    uint64_t address;  ///< as the file counts
  };
  bool locate(uint64_t address, Place& place);
  CodeName describe(uint64_t address, uint64_t line_of);
  File* open(const Module& module);

  std::vector<Module> modules_;
  std::map<std::string, std::unique_ptr<File>> files_;
};

}  // namespace tracing
}  // namespace rubato
