#pragma once

#include <string>

/// Messages of the tracer: to the user on standard error, and to the `rubato trace` that started
/// it.
namespace rubato {
inline namespace tracing {

/// One line on standard error, "rubato: ..."; nothing where it is closed.
void warn(const std::string& message);

/// The same for the outcome of the trace, the last line of a run. Then `rubato trace` does not
/// print one (tools/launch/trace_watch.h).
void say_outcome(const std::string& message);
/// The outcome is reported in another way.
void outcome_is_said();
/// Rank 0 records: reports the final name of its archive to `rubato trace`, and its MPI_Finalize.
void tell_output(const std::string& output);
void tell_finalize();

}  // namespace tracing
}  // namespace rubato
