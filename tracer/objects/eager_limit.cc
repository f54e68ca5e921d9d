#include "tracer/objects/eager_limit.h"

#include <link.h>

#include <cstring>

#include "tracer/mpi/pmpi.h"

/// Open MPI has a limit per transport (BTL), used only by its own protocols (PML ob1). MPICH 4
/// (ch4) leaves the limit to the network library and does not report it.
namespace rubato {
inline namespace tracing {
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

/// The value of one of Open MPI's variables that are sizes; 0 where there is none of that name.
///
/// The functions are of its library below MPI, where every version since 1.7 has them
/// (opal/mca/base/mca_base_var.h). MPI's own interface to the same value, MPI_T_init_thread, opens
/// all components once more, which takes 0.22 s since some measure the processor's clock.
uint64_t size_variable(const char* name) {
  const auto find =
      reinterpret_cast<int (*)(const char*, int*)>(mpi_function("mca_base_var_find_by_name"));
  const auto get_value = reinterpret_cast<int (*)(int, const void*, void*, const char**)>(
      mpi_function("mca_base_var_get_value"));
  if (find == nullptr || get_value == nullptr) return 0;
  constexpr int kSuccess = 0;
  int index = -1;
  const size_t* value = nullptr;  // it gives the place where the value is
  if (find(name, &index) != kSuccess || get_value(index, &value, nullptr, nullptr) != kSuccess)
    return 0;
  return value == nullptr ? 0 : *value;
}

}  // namespace

EagerLimits eager_limits() {
  if (!is_loaded("mca_pml_ob1") || is_loaded("mca_pml_ucx") || is_loaded("mca_pml_cm")) return {};
  EagerLimits limits;
  if (is_loaded("mca_btl_vader")) limits.node = size_variable("btl_vader_eager_limit");
  if (is_loaded("mca_btl_tcp") && !is_loaded("mca_btl_openib")) {
    limits.network = size_variable("btl_tcp_eager_limit");
  }
  return limits;
}

}  // namespace tracing
}  // namespace rubato
