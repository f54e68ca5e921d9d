#pragma once

#include "tracer/record/recorder.h"
#include "tracer/timing/clock_sync.h"

/// Comparing clocks during the run (--sync-every), since drift may bend.
///
/// The ranks have to agree on the moment: by their own clocks they would disagree, and some would
/// wait forever. So rank 0 decides, and announces it inside calls that all ranks make in the same
/// order anyway: blocking collectives on MPI_COMM_WORLD. After a number of them rank 0 broadcasts
/// whether to compare now and how many calls to let pass next.
///
/// Unrecorded calls count too: a rank whose memory for records is used up still has to take part,
/// and so has a rank on which a call failed, even if an exception of the program's error handler
/// leaves the call. Calls with arguments that MPI refuses before it communicates do not count. (An
/// exception does not show its error, so such calls count, and the ranks wait for each other if
/// others made no such mistake.) MPI forbids two threads in collectives of one communicator at the
/// same time, and for the program this is still inside the collective, so nothing here needs a
/// lock.
namespace rubato {
inline namespace tracing {

class PeriodicSync {
 public:
  /// All ranks or none. `clocks` stays with the caller.
  static void start(MPI_Comm comm, ClockSync& clocks, double seconds);
  static void stop() { on_ = false; }
  static bool on() { return on_; }

  /// Surrounds a call on a file that is not recorded: collectives that the MPI library makes in it
  /// are not the program's. (Inside a recorded call the recorder detects that itself.)
  class Inside {
   public:
    Inside() { ++inside_; }
    ~Inside() { --inside_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
  };

  /// Surrounds one blocking collective, which counts when the object is destroyed. `log` is the log
  /// of the call, or null. To be constructed before the Call, so that the log is free at its
  /// destruction.
  class Collective {
   public:
    Collective(ThreadLog* log, MPI_Comm comm) : log_(log), comm_(comm) {}
    ~Collective() {
      if (on_ && inside_ == 0 && !was_refused(code_)) [[unlikely]]
        count(log_, comm_);
    }
    Collective(const Collective&) = delete;
    Collective& operator=(const Collective&) = delete;

    /// The call's error code, which is handed on. Without it an exception passes through.
    int returned(int code) { return code_ = code; }

   private:
    ThreadLog* log_;
    MPI_Comm comm_;
    int code_ = MPI_SUCCESS;
  };

 private:
  static bool was_refused(int code) { return code != MPI_SUCCESS && is_of_arguments(code); }
  static bool is_of_arguments(int code);
  static void count(ThreadLog* log, MPI_Comm comm);

  static inline bool on_ = false;
  static inline thread_local int inside_ = 0;
};

}  // namespace tracing
}  // namespace rubato
