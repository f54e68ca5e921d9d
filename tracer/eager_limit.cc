#include "tracer/eager_limit.h"

#include <link.h>

#include <cstring>

#include "tracer/pmpi.h"

/// Open MPI has a limit per way that messages go (BTL), and uses those only under its own protocols
/// (PML ob1). MPICH 4 (ch4) leaves it to the network library and does not tell.
namespace rubato {
namespace {

bool is_loaded(const char* part) {
  struct Search {
    const char* part;
    bool found;
  } search{part, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<Search*>(data);
        s->found = s->found || std::strstr(info->dlpi_name, s->part) != nullptr;
        return 0;
      },
      &search);
  return search.found;
}

/// The value of an integer control variable; 0 where there is none of that name.
uint64_t control_variable(const char* name) {
  const auto get_index =
      reinterpret_cast<int (*)(const char*, int*)>(mpi_symbol("PMPI_T_cvar_get_index"));
  const auto allocate = reinterpret_cast<int (*)(int, void*, MPI_T_cvar_handle*, int*)>(
      mpi_symbol("PMPI_T_cvar_handle_alloc"));
  const auto read =
      reinterpret_cast<int (*)(MPI_T_cvar_handle, void*)>(mpi_symbol("PMPI_T_cvar_read"));
  const auto free_handle =
      reinterpret_cast<int (*)(MPI_T_cvar_handle*)>(mpi_symbol("PMPI_T_cvar_handle_free"));
  if (get_index == nullptr || allocate == nullptr || read == nullptr || free_handle == nullptr) {
    return 0;
  }
  int index, count = 0;
  MPI_T_cvar_handle handle;
  if (get_index(name, &index) != MPI_SUCCESS ||
      allocate(index, nullptr, &handle, &count) != MPI_SUCCESS) {
    return 0;
  }
  uint64_t value[8] = {};
  const bool good = count == 1 && read(handle, value) == MPI_SUCCESS;
  free_handle(&handle);
  return good ? value[0] : 0;
}

}  // namespace

EagerLimits eager_limits() {
  if (!is_loaded("mca_pml_ob1") || is_loaded("mca_pml_ucx") || is_loaded("mca_pml_cm")) return {};
  const auto begin = reinterpret_cast<int (*)(int, int*)>(mpi_symbol("PMPI_T_init_thread"));
  const auto end = reinterpret_cast<int (*)()>(mpi_symbol("PMPI_T_finalize"));
  // Open MPI takes the level of threads asked for here for that of all MPI from then on.
  int level = MPI_THREAD_MULTIPLE;
  PMPI(Query_thread)(&level);
  if (begin == nullptr || end == nullptr || begin(level, &level) != MPI_SUCCESS) {
    return {};
  }
  EagerLimits limits;
  if (is_loaded("mca_btl_vader")) limits.node = control_variable("btl_vader_eager_limit");
  if (is_loaded("mca_btl_tcp") && !is_loaded("mca_btl_openib")) {
    limits.network = control_variable("btl_tcp_eager_limit");
  }
  end();
  return limits;
}

}  // namespace rubato
