#include "tracer/mpi/symbol_lookup.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "tracer/mpi/loaded_objects.h"
#include "tracer/mpi/pmpi.h"

extern "C" {

/// What the stubs below jump to, found at their first call: constructors of other libraries may run
/// before ours.
__attribute__((visibility("hidden"))) void* rubato_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* rubato_real_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* rubato_real_dlmopen = nullptr;
/// A library was loaded with RTLD_DEEPBIND, and its references are not rebound yet.
__attribute__((visibility("hidden"))) unsigned char rubato_deepbind_pending = 0;
/// Libraries were loaded into a namespace of their own.
__attribute__((visibility("hidden"))) unsigned char rubato_other_namespace = 0;

}  // extern "C"

namespace rubato {
inline namespace tracing {
namespace {

using Dlsym = void* (*)(void*, const char*);

/// Protects `loaded_before`. Use try_lock only: a thread that loads a library holds the loader's
/// lock, which the owner of this mutex may need.
std::mutex lookup_mutex;
/// Libraries loaded before the ones still to be rebound; null if there are none.
std::vector<objects::Name>* loaded_before = nullptr;

std::atomic<bool> asked_by_dlsym{false};
std::atomic<bool> deepbind_rebound{false};

/// A function of the C library. Since version 2.34 these are in libc.so, before in libdl.so, where
/// they have the version `before`, or that of the first library for the processor.
void* function_of_libc(const char* name, [[maybe_unused]] const char* before) {
#ifdef __aarch64__
  before = "GLIBC_2.17";
#endif
  void* address = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
  return address != nullptr ? address : dlvsym(RTLD_NEXT, name, before);
}

/// The loader's function of this name if the tracer interposes it; else null.
void* function_of_loader(const char* name) {
  if (std::strcmp(name, "dlsym") == 0) return rubato_real_dlsym;
  if (std::strcmp(name, "dlopen") == 0) return rubato_real_dlopen;
  return nullptr;
}

void find_real_functions() {
  const auto store = [](void** place, void* function) {
    __atomic_store_n(place, function, __ATOMIC_RELEASE);
  };
  store(&rubato_real_dlmopen, function_of_libc("dlmopen", "GLIBC_2.3.4"));
  store(&rubato_real_dlopen, function_of_libc("dlopen", "GLIBC_2.2.5"));
  store(&rubato_real_dlsym, function_of_libc("dlsym", "GLIBC_2.2.5"));
}

const link_map* own_object() {
  return objects::holding(reinterpret_cast<const void*>(&find_real_functions));
}

/// The library of MPI that the wrappers call; null before there is one.
const link_map* mpi_library() {
  const void* init = mpi_function("PMPI_Init");
  return init != nullptr ? objects::holding(init) : nullptr;
}

/// The tracer's replacement for a function of the loader or of MPI (then the PMPI function); null
/// if it has none.
void* own_function(const char* name) {
  const link_map* own = own_object();
  const bool lacks_p = std::strncmp(name, "MPI", 3) == 0;
  const std::string full = (lacks_p ? "P" : "") + std::string(name);
  void* function = own != nullptr ? objects::scope_definition(*own, full.c_str()) : nullptr;
  return function != nullptr && objects::holding(function) == own ? function : nullptr;
}

/// Rebinds the references of libraries that were loaded with RTLD_DEEPBIND to the tracer.
void bind_new_libraries() {
  const std::unique_lock lock(lookup_mutex, std::try_to_lock);
  if (!lock.owns_lock() || loaded_before == nullptr) return;
  const link_map* const library = mpi_library();
  for (const objects::Name& name : objects::all()) {
    if (std::find(loaded_before->begin(), loaded_before->end(), name) != loaded_before->end())
      continue;
    const objects::Pin pin(name);
    const link_map* const object = pin.object();
    if (object == nullptr || object == library) continue;
    for (const objects::Reference& reference : objects::references(*object)) {
      void* const meant = objects::scope_definition(*object, reference.function);
      if (meant == nullptr) continue;
      const bool is_of_loader = meant == function_of_loader(reference.function);
      const link_map* const holder = objects::holding(meant);
      if (!is_of_loader && (library == nullptr || holder != library)) continue;
      // Skip references bound to something else, as in libraries loaded without RTLD_DEEPBIND.
      const link_map* const now = objects::holding(*reference.place);
      if (now != holder && now != object) continue;
      void* const own = own_function(reference.function);
      if (own != nullptr && objects::rebind(reference, own) && !is_of_loader)
        deepbind_rebound = true;
    }
  }
  rubato_deepbind_pending = 0;
  if (library == nullptr)
    return;  // one of them may load it: repeated at the next lookup of an MPI name
  delete loaded_before;
  loaded_before = nullptr;
}

/// What dlsym(RTLD_NEXT) returns to code of `caller`, an object behind the tracer: the first
/// definition in the objects behind `caller`.
void* next_definition(const link_map& caller, const char* name) {
  bool is_behind = false;
  for (const objects::Name& next : objects::all()) {
    const objects::Pin pin(next);
    if (pin.object() == nullptr) continue;
    if (!is_behind) {
      is_behind = pin.object() == &caller;
      continue;
    }
    void* function = objects::scope_definition(*pin.object(), name);
    if (function != nullptr && objects::holding(function) == pin.object()) return function;
  }
  return nullptr;
}

/// What dlsym() returns instead of a function of the MPI library; null: the result of the real one.
void* answer(void* handle, const char* name, const void* call_site) {
  if (std::strncmp(name, "MPI", 3) != 0 && std::strncmp(name, "PMPI", 4) != 0) return nullptr;
  if (handle == RTLD_DEFAULT) {
    // A library loaded with RTLD_DEEPBIND would find MPI's function, so it gets the tracer's too.
    void* const found = real_dlsym(RTLD_DEFAULT, name);
    if (found == nullptr || objects::holding(found) != own_object()) return nullptr;
    asked_by_dlsym = true;
    return found;
  }
  const void* found = nullptr;
  if (handle == RTLD_NEXT) {
    const link_map* caller = objects::holding(call_site);
    // Where nothing of that name is behind the tracer, there is nothing for the caller either.
    if (caller == nullptr || real_dlsym(RTLD_NEXT, name) == nullptr) return nullptr;
    found = next_definition(*caller, name);
  } else {
    found = real_dlsym(handle, name);
  }
  if (found == nullptr) return nullptr;
  const link_map* const library = mpi_library();
  if (library == nullptr || objects::holding(found) != library) return nullptr;
  void* const own = own_function(name);
  if (own != nullptr) asked_by_dlsym = true;
  return own;
}

}  // namespace

void* real_dlsym(void* handle, const char* name) {
  if (rubato_real_dlsym == nullptr) find_real_functions();
  return reinterpret_cast<Dlsym>(rubato_real_dlsym)(handle, name);
}

Interception interception() {
  Interception result;
  result.by_dlsym = asked_by_dlsym;
  result.by_deepbind = deepbind_rebound;
  if (rubato_other_namespace != 0) result.unwatched.push_back("libraries loaded by dlmopen");
  const link_map* const library = mpi_library();
  if (library == nullptr) return result;
  const objects::Range of_mpi = objects::range_of(*library);
  const objects::Range own = objects::range_of_code(&find_real_functions);
  for (const objects::Name& name : objects::all()) {
    const objects::Pin pin(name);
    if (pin.object() == nullptr || pin.object() == library || pin.object() == own_object())
      continue;
    bool is_unwatched = false;
    for (const objects::Reference& reference : objects::references(*pin.object())) {
      const void* const now = *reference.place;
      if (now == nullptr) continue;  // weak, and nothing defines it
      if (function_of_loader(reference.function) == now) {
        is_unwatched = true;
      } else if (own.has(now)) {
        result.by_reference |= function_of_loader(reference.function) == nullptr;
      } else if (of_mpi.has(now)) {
        // Functions that only compute are not recorded.
        is_unwatched |= own_function(reference.function) != nullptr;
      }
    }
    if (is_unwatched) result.unwatched.push_back(objects::file_name(*pin.object()));
  }
  std::sort(result.unwatched.begin(), result.unwatched.end());
  return result;
}

}  // namespace tracing
}  // namespace rubato

/// The slow path of dlsym(): for MPI names, at the first call, and when libraries are to be
/// rebound.
extern "C" __attribute__((visibility("hidden"), used)) void* rubato_dlsym_slowly(
    void* handle, const char* name, const void* call_site) {
  using namespace rubato;
  if (rubato_real_dlsym == nullptr) find_real_functions();
  if (loaded_before != nullptr) bind_new_libraries();
  return answer(handle, name, call_site);
}

/// The first call of dlmopen().
extern "C" __attribute__((visibility("hidden"), used)) void rubato_find_loader() {
  rubato::find_real_functions();
}

/// The slow path of dlopen(): for RTLD_DEEPBIND, and at the first call.
extern "C" __attribute__((visibility("hidden"), used)) void rubato_dlopen_slowly(const char*,
                                                                                 int flags) {
  using namespace rubato;
  if (rubato_real_dlopen == nullptr) find_real_functions();
  if ((flags & RTLD_DEEPBIND) == 0) return;
  if (rubato_deepbind_pending != 0) bind_new_libraries();
  const std::unique_lock lock(lookup_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (loaded_before == nullptr) loaded_before = new std::vector<objects::Name>(objects::all());
  rubato_deepbind_pending = 1;
}
