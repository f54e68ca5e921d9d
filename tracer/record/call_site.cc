#include "tracer/record/recorder.h"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

namespace rubato {
inline namespace tracing {
namespace {

/// A walk over the frames from here outwards.
struct Walk {
  ThreadLog& log;
  uint64_t from;  ///< the frame of MPI's library that called the wrapper, until it was met; then 0
  uint64_t found = 0;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const uint64_t address = _Unwind_GetIP(context);
  if (walk.from == address) walk.from = 0;
  if (walk.from != 0 || walk.log.bindings.has(address)) return _URC_NO_REASON;
  if (!walk.log.code.has(address)) {
    const modules::Range range = modules::note(address);
    if (range.bindings) return _URC_NO_REASON;
    walk.log.code = range;
  }
  walk.found = address;
  return _URC_NORMAL_STOP;
}

/// This address is in a Fortran binding of another function than `function`. Bindings are called
/// mpi_comm_size_, pmpi_comm_size_f08_, ompi_comm_size_f, MPIR_Comm_size_cdesc, and those of large
/// counts mpi_type_contiguous_f08_large_; those of C++ and Java have other names.
bool is_in_another_binding(uint64_t address, const char* function) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_sname == nullptr)
    return false;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const std::string_view file = slash != nullptr ? slash + 1 : info.dli_fname;
  if (!file.starts_with("libmpi")) return false;
  const auto lower = [](std::string text) {
    for (char& letter : text) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
    }
    return text;
  };
  const std::string symbol = lower(info.dli_sname);
  const bool is_fortran = symbol.starts_with("mpi") || symbol.starts_with("pmpi") ||
                          symbol.starts_with("ompi_") || symbol.starts_with("ompix_");
  std::string name = lower(function).substr(std::strlen("mpi_"));
  if (name.ends_with("_c")) name.resize(name.size() - 2);
  return is_fortran && symbol.find(name) == std::string::npos;
}

}  // namespace

uint64_t program_call_site(ThreadLog& log) {
  const auto address = reinterpret_cast<uint64_t>(log.call_site);
  if (log.code.has(address)) [[likely]]
    return address;
  if (!log.bindings.has(address)) {
    const modules::Range range = modules::note(address);
    (range.bindings ? log.bindings : log.code) = range;
    if (!range.bindings) return address;
  }
  Walk walk{log, address};
  _Unwind_Backtrace(step, &walk);
  return walk.found != 0 ? walk.found : address;
}

bool made_by_binding(const ThreadLog& log, const char* function) {
  const auto address = reinterpret_cast<uint64_t>(log.call_site);
  // Looking up a name is slow, and a function is called from few places. The answer is the lowest
  // bit of an entry, the address is above it.
  static std::array<std::atomic<uint64_t>, 1024> answers;
  std::atomic<uint64_t>& answer = answers[(address * 0x9e3779b97f4a7c15u) >> 54];
  const uint64_t known = answer.load(std::memory_order_relaxed);
  if (known >> 1 == address) [[likely]]
    return (known & 1) != 0;
  const bool other = is_in_another_binding(address, function);
  answer.store(address << 1 | static_cast<uint64_t>(other), std::memory_order_relaxed);
  return other;
}

}  // namespace tracing
}  // namespace rubato
