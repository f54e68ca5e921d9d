#pragma once

#include <link.h>

#include <cstdint>
#include <string>
#include <vector>

/// The program and the libraries that the loader has mapped, and where they refer to functions of
/// MPI. Not for the hot path: each function takes the loader's lock and may allocate.
namespace rubato {
inline namespace tracing {
namespace objects {

/// The object that this code or data is in; null where it is in none.
const link_map* holding(const void* address);

/// The addresses of an object.
struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool has(const void* address) const {
    return reinterpret_cast<uintptr_t>(address) - begin < end - begin;
  }
};
Range range_of(const link_map& object);
/// Those of the object that this function is in.
template <class Function>
Range range_of_code(Function* function) {
  const link_map* object = holding(reinterpret_cast<const void*>(function));
  return object != nullptr ? range_of(*object) : Range{};
}

/// The file name, without its directory.
std::string file_name(const link_map& object);

/// What `name` means to code of the object that was loaded with RTLD_DEEPBIND: its own definition,
/// or that of a library it needs. Null where there is none.
void* scope_definition(const link_map& object, const char* name);

/// The object itself defines PMPI_Init, so that it is an MPI library, whatever its name is.
bool is_mpi_library(const link_map& object);

/// A word of an object that holds the address of a function of MPI, as the loader has bound it. If
/// it is bound at the first call, the address is in the object itself until then.
struct Reference {
  const char* function;
  void** place;
};

/// The references of an object to functions whose names begin with MPI or PMPI.
std::vector<Reference> mpi_references(const link_map& object);

/// Makes the reference lead to `target`, also where the loader has made its page read-only. False
/// where that cannot be done.
bool rebind(const Reference& reference, void* target);

/// All that are loaded now, in the loader's order.
std::vector<const link_map*> all();

}  // namespace objects
}  // namespace tracing
}  // namespace rubato
