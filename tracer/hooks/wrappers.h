#pragma once

#include "tracer/hooks/call_collectives.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/hooks/call_completion.h"
#include "tracer/hooks/call_matched.h"
#include "tracer/hooks/call_messages.h"
#include "tracer/hooks/call_neighbours.h"
#include "tracer/hooks/call_passed.h"
#include "tracer/hooks/call_rma.h"
#include "tracer/hooks/callbacks.h"
#include "tracer/timing/periodic_sync.h"

/// What the generated wrappers include, with session/session_calls.h, and the few kinds of calls
/// that fit nowhere else.
namespace rubato {
inline namespace tracing {

/// Blocks are counted behind the call, in time that is the tracer's.
template <class Real>
int record_type_commit(Call call, Real real, MPI_Datatype* type) {
  const int result = real(type);
  const uint64_t end = call.leave();
  if (result != MPI_SUCCESS) return result;
  datatypes::of(*type);
  call.tracer_time_since(end);
  return result;
}

template <class Real>
int record_type_free(Call call, Real real, MPI_Datatype* type) {
  const int result = pass_type_free(real, type);
  call.leave();
  return result;
}

/// Level 0 switches recording off, any other on. MPI libraries ignore the other arguments, which
/// wrapper libraries get (gen_wrappers.py).
template <class Real>
int record_pcontrol(Call call, Real real, int level) {
  const int result = real(level);
  const uint64_t end = call.leave();
  level == 0 ? Recorder::pause(end) : Recorder::resume(end);
  return result;
}

}  // namespace tracing
}  // namespace rubato
