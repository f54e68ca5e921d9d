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

/// The object whose own symbol table defines the function at this address; null where none does. (A
/// program that takes the address of a function may have an entry for it that is no definition.)
const link_map* defining(const void* function);

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

/// The definition that a lookup in the object's own scope finds, as code of an object that was
/// loaded with RTLD_DEEPBIND does: its own, or that of a library it needs. Null where there is
/// none.
void* scope_definition(const link_map& object, const char* name);

/// True if the object itself defines PMPI_Init: it is an MPI library, whatever its name.
bool is_mpi_library(const link_map& object);

/// A word of an object that holds the address of a function, as the loader has bound it. If it is
/// bound at the first call, the address is in the object itself until then.
struct Reference {
  const char* function;
  void** place;
};

/// The references of an object to functions that the tracer interposes: MPI functions, dlsym and
/// dlopen.
std::vector<Reference> references(const link_map& object);

/// Binds the reference to `target`, also if the loader has made its page read-only. False on
/// failure.
bool rebind(const Reference& reference, void* target);

/// Identifies a loaded object without keeping it loaded.
struct Name {
  std::string path;  ///< empty for the program
  uintptr_t base = 0;

  bool operator==(const Name&) const = default;
};

/// All that are loaded now, in the loader's order.
std::vector<Name> all();

/// Keeps an object loaded while this lives.
class Pin {
 public:
  explicit Pin(const Name& name);
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  /// Null where the object is gone.
  const link_map* object() const { return object_; }

 private:
  void* handle_ = nullptr;
  const link_map* object_ = nullptr;
};

}  // namespace objects
}  // namespace tracing
}  // namespace rubato
