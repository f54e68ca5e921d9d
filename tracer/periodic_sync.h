#pragma once

#include "tracer/clock_sync.h"
#include "tracer/recorder.h"

/// Comparing clocks during the run (--sync-every), since drift may bend.
///
/// When to do so has to be decided in common: ranks that looked at clocks of their own would
/// disagree, and some would wait for the others for ever. So rank 0 decides. The other ranks hear
/// it inside calls that all of them make in the same order anyway: blocking collectives on
/// MPI_COMM_WORLD. After every so many of them rank 0 broadcasts whether to compare now and how
/// many calls to let pass next.
///
/// Calls are counted whether or not they are recorded: a rank whose memory for records is used up
/// still has to take part, and so has one where a call failed that did not on others, even where an
/// exception of the program's error handler leaves it. Calls with arguments that MPI refuses before
/// it talks to anybody do not count: they meet nobody's. (An exception does not say what error it
/// is about, so there they do, and the ranks wait for each other if others made no such mistake.)
/// MPI forbids two threads to be in a collective of one communicator at the same time, and this is
/// still inside of it for the program; so nothing here needs a lock.
namespace rubato {

class PeriodicSync {
 public:
  /// All ranks or none. `clocks` stays with the caller.
  static void start(MPI_Comm comm, ClockSync& clocks, double seconds);
  static void stop() { on_ = false; }
  static bool on() { return on_; }

  /// Around one blocking collective, which counts when this goes. `log` is where it is recorded, or
  /// null. To be made before the Call, so that the log is free again by then.
  class Collective {
   public:
    Collective(ThreadLog* log, MPI_Comm comm) : log_(log), comm_(comm) {}
    ~Collective() {
      if (on_ && !was_refused(code_)) [[unlikely]]
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
};

}  // namespace rubato
