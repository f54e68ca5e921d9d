#include "tracer/recorder.h"

#include <unwind.h>

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

}  // namespace tracing
}  // namespace rubato
