#pragma once

#include <cstdint>

#include "tracer/base/stolen.h"

namespace rubato {
inline namespace tracing {

/// The threads that the program creates during recording, and the calls that wait for their end.
///
/// The library interposes pthread_create(), pthread_join() and related functions (std::thread calls
/// them, too). Each new thread gets a number, from 1. A thread that calls MPI gets a log
/// (recorder.h); the log starts with kMarkThreadBegin, at the time when the thread began, and ends
/// with kMarkThreadEnd. Threads with a log record which threads they create and wait for. Threads
/// without a log do not appear in the archive.
///
/// Not covered: threads created before MPI_Init, threads created by MPI, and threads created with
/// C's thrd_create(), which libc implements internally.
namespace threads {

/// The calling thread's number and when it began, in ticks.
struct Birth {
  uint64_t number = 0;  ///< 0: it was not created while the program was recorded
  uint64_t begin = 0;
  bool on_record = false;
};
Birth& own();

/// The begin of the calling thread is recorded, so waits for its end are to be recorded too.
void note_on_record();

/// The times of the threads of this process without a log, since note_times(): of all that exist,
/// and of the ended ones that pthread_create() made since then.
ThreadTimes times_without_log();
void note_times();

}  // namespace threads
}  // namespace tracing
}  // namespace rubato
