#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// The threads that the program creates while it is recorded, and who waits for their end.
///
/// The library stands in for pthread_create() and pthread_join() and its kin (std::thread calls
/// them, too). Each new thread gets a number, from 1; a thread that gets a log (recorder.h), which
/// is to say that it calls MPI, begins that log with kMarkThreadBegin at the time when it began,
/// and ends it with kMarkThreadEnd. Whoever has a log itself records which threads it creates and
/// waits for. Of threads without a log nothing gets into the archive.
///
/// Not seen are threads that were there before MPI_Init, those that MPI itself creates, and those
/// of C's thrd_create(), which is a matter within libc.
namespace threads {

/// The calling thread's number and when it began, in ticks.
struct Birth {
  uint64_t number = 0;  ///< 0: it was not created while the program was recorded
  uint64_t begin = 0;
  bool on_record = false;
};
Birth& own();

/// The calling thread has its begin on record: who waits for its end is to be known.
void note_on_record();

}  // namespace threads
}  // namespace tracing
}  // namespace rubato
