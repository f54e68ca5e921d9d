#include "tracer/mpi/pmpi.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tracer/mpi/loaded_objects.h"
#include "tracer/mpi/symbol_lookup.h"

namespace rubato {
inline namespace tracing {

std::atomic<void*> pmpi_table[kCallCount];
Handles handles;
std::atomic<decltype(&PMPI_Pcontrol)> next_pcontrol{nullptr};

namespace {

/// Finds a loaded library whose file name begins with "libmpi" and that has MPI's functions.
void* local_mpi_library() {
  static std::atomic<void*> library{nullptr};
  if (library.load() != nullptr) return library.load();
  for (const objects::Name& name : objects::all()) {
    if (name.path.compare(name.path.rfind('/') + 1, 6, "libmpi") != 0) continue;
    // Never closed: the tracer needs the library until the end.
    void* handle = dlopen(name.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr || real_dlsym(handle, "PMPI_Init") == nullptr) continue;
    library.store(handle);
    break;
  }
  return library.load();
}

/// Made at their first use: other libraries' constructors may call MPI before ours has run.
std::vector<std::string>& wrappers() {
  static auto* const all = new std::vector<std::string>;
  return *all;
}

/// Adds the object that defines this MPI function to the wrapper libraries; false if it is an MPI
/// library or no object defines the function.
bool note_wrapper(const void* function) {
  const link_map* object = objects::defining(function);
  if (object == nullptr || objects::is_mpi_library(*object)) return false;
  const std::string file = objects::file_name(*object);
  if (std::find(wrappers().begin(), wrappers().end(), file) == wrappers().end())
    wrappers().push_back(file);
  return true;
}

/// Called in place of a function that the MPI library of this process lacks.
int missing_function() {
  return MPI_ERR_OTHER;
}

}  // namespace

void* mpi_function(const char* name) {
  if (void* address = real_dlsym(RTLD_NEXT, name)) return address;
  void* library = local_mpi_library();
  return library != nullptr ? real_dlsym(library, name) : nullptr;
}

void* mpi_variable(const char* name) {
  if (void* address = real_dlsym(RTLD_DEFAULT, name)) return address;
  void* library = local_mpi_library();
  return library != nullptr ? real_dlsym(library, name) : nullptr;
}

void* resolve_pmpi(CallId id) {
  char name[128];
  std::snprintf(name, sizeof name, "P%s", kCalls[id].name);
  void* address = mpi_function(name);
  if (address == nullptr) address = reinterpret_cast<void*>(&missing_function);
  pmpi_table[id].store(address, std::memory_order_relaxed);
  return address;
}

const std::vector<std::string>& wrapper_libraries() {
  return wrappers();
}

bool find_wrapper_libraries() {
  static std::atomic<bool> done{false};
  if (mpi_function("PMPI_Init") == nullptr || done.exchange(true)) return false;
  const objects::Range own = objects::range_of_code(&missing_function);
  for (unsigned id = 0; id < kCallCount && rubato_mpi_entries[id] != nullptr; ++id) {
    char name[128];
    std::snprintf(name, sizeof name, "P%s", kCalls[id].name);
    // The program itself, or a library that was preloaded in front of the tracer.
    const void* const first = real_dlsym(RTLD_DEFAULT, name + 1);
    if (first != nullptr && !own.has(first)) note_wrapper(first);
    // In an MPI library both names refer to one function.
    void* const next = real_dlsym(RTLD_NEXT, name + 1);
    if (next == nullptr || next == real_dlsym(RTLD_NEXT, name)) continue;
    if (!note_wrapper(next)) continue;
    // A tool's MPI_Pcontrol need not call PMPI_Pcontrol, which does nothing in most libraries: the
    // wrapper calls the tool's, and what that calls is not recorded again.
    if (id == kMPI_Pcontrol) {
      rubato_pmpi_entries[id] = resolve_pmpi(kMPI_Pcontrol);
      next_pcontrol.store(reinterpret_cast<decltype(&PMPI_Pcontrol)>(next));
    } else {
      __atomic_store_n(&rubato_mpi_entries[id], next, __ATOMIC_RELEASE);
    }
  }
  std::sort(wrappers().begin(), wrappers().end());
  return true;
}

void pass_everything() {
  // Each MPI call has an entry. The ids behind them, of probes (measure_overhead.cc), have none.
  for (unsigned id = 0; id < kCallCount && rubato_pmpi_entries[id] != nullptr; ++id) {
    void* const own = rubato_pmpi_entries[id];
    void* const address = resolve_pmpi(static_cast<CallId>(id));
    if (id == kMPI_Pcontrol) {
      const auto next = next_pcontrol.load();
      rubato_mpi_entries[id] = next != nullptr ? reinterpret_cast<void*>(next) : address;
    } else if (rubato_mpi_entries[id] == own) {
      __atomic_store_n(&rubato_mpi_entries[id], address, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&rubato_pmpi_entries[id], address, __ATOMIC_RELEASE);
  }
}

#ifdef OPEN_MPI
namespace {

const char* first_missing = nullptr;

/// Sets a handle to the address of Open MPI's object; false when there is none.
template <class Handle>
bool load(Handle& handle, const char* symbol) {
  handle = reinterpret_cast<Handle>(mpi_variable(symbol));
  if (handle == nullptr) first_missing = symbol;
  return handle != nullptr;
}

}  // namespace

bool load_handles() {
  return load(handles.world, "ompi_mpi_comm_world") && load(handles.self, "ompi_mpi_comm_self") &&
         load(handles.comm_null, "ompi_mpi_comm_null") &&
         load(handles.request_null, "ompi_request_null") &&
         load(handles.datatype_null, "ompi_mpi_datatype_null") &&
         load(handles.byte, "ompi_mpi_byte") && load(handles.int64, "ompi_mpi_int64_t") &&
         load(handles.info_null, "ompi_mpi_info_null") && load(handles.min, "ompi_mpi_op_min") &&
         load(handles.max, "ompi_mpi_op_max") && load(handles.sum, "ompi_mpi_op_sum") &&
         load(handles.no_op, "ompi_mpi_op_no_op") &&
         load(handles.errors_return, "ompi_mpi_errors_return");
}

const char* missing_handle() {
  return mpi_variable("ompi_mpi_comm_world") != nullptr ? first_missing : nullptr;
}
#else
bool load_handles() {
  if (mpi_variable("ompi_mpi_comm_world") != nullptr) return false;
  handles = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL,    MPI_REQUEST_NULL, MPI_DATATYPE_NULL,
             MPI_BYTE,       MPI_INT64_T,   MPI_INFO_NULL,    MPI_MIN,          MPI_MAX,
             MPI_SUM,        MPI_NO_OP,     MPI_ERRORS_RETURN};
  return true;
}

const char* missing_handle() {
  return nullptr;
}
#endif

}  // namespace tracing
}  // namespace rubato
