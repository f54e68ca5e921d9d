#pragma once

#include <otf2/otf2.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "tracer/base/processors.h"
#include "tracer/layout/definitions.h"
#include "tracer/layout/thread_records.h"

/// Turns the calls of one thread into OTF2 events.
namespace rubato {
inline namespace tracing {

/// References of our attributes, and of the strings that hold their names and descriptions; fixed,
/// so that events can be written before definitions.
enum AttributeRef : OTF2_AttributeRef {
  kAttributeSource,
  kAttributeTag,
  kAttributeComm,
  kAttributeMode,
  kAttributeOwnComm,
  kAttributeSent,
  kAttributeReceived,
  kAttributeRequest,
  kAttributePartPeers,
  kAttributeInitOrder,
  kAttributeFoundSource,
  kAttributeFoundTag,
  kAttributePostedBytes,
  kAttributeStolen,
  kAttributeBlock,
  kAttributeInPlace,
  kAttributeOwnWork,
  kAttributeCallback,
  kAttributeCallSite,
  kAttributeCallPath,
  kAttributePeriods
};

/// References of our parameters.
enum ParameterRef : OTF2_ParameterRef {
  kParameterStart,
  kParameterEnd,
  kParameterPart,
  kParameterReady
};

/// The metric class of all counters.
inline constexpr OTF2_MetricRef kMetricClass = 0;
/// The reference of what interrupts the program for samples.
inline constexpr OTF2_InterruptGeneratorRef kSampleTimer = 0;

/// Strings that events or fixed definitions refer to; the others are numbered behind them.
enum StringRef : OTF2_StringRef { kStringEmpty, kStringProgram, kFirstFreeString };

struct LocationSummary {
  uint64_t location = 0;
  uint64_t events = 0;
  uint64_t calls = 0;      ///< to MPI
  uint64_t backwards = 0;  ///< times earlier than their predecessor, which replaces them
  uint64_t damaged = 0;    ///< records left out since they name an invalid rank or operation
  uint64_t first = 0;      ///< ticks
  uint64_t last = 0;
  uint64_t involuntary_switches = kUnknownSwitches;
};

/// OTF2 reports some errors only to its callback and returns success (a buffer that could not be
/// written in the middle of an event file). Set in the callback, checked after every call.
inline bool otf2_failed = false;
/// The first of these errors: errno; or, where that is not its reason, minus OTF2's code.
inline int otf2_error = 0;

/// Facts about a thread's records that are needed before they can be written.
struct ThreadSummary {
  uint64_t first = 0;  ///< first time, ticks; 0 where there is no record
  uint64_t last = 0;   ///< latest time, ticks
  int open_call = -1;  ///< the call that the process died in, by CallId; -1: none
  bool read = true;    ///< false: there are records that cannot be read
};

/// The calls, addresses and threads to which the records of a process refer.
struct Used {
  std::vector<bool> calls;
  std::unordered_set<uint64_t> functions;  ///< addresses
  std::unordered_set<uint64_t> call_sites;
  std::unordered_set<uint64_t> callbacks;  ///< callback_word() (own_work.h)
  PathsOfThreads<PathNode> paths;
  bool call_paths = false;  ///< each call has the number of its path; set before summarise()
  std::unordered_set<uint64_t> threads;  ///< that begin (threads.h), by number
  /// The threads that calls of pthreads name, by CallId.
  std::map<unsigned, std::unordered_set<uint64_t>> named_threads;

  /// Call it once all threads are summarised: calls that name only threads without a begin are not
  /// written.
  void leave_out_unknown_threads();
};

/// Adds to `used` what a thread recorded.
ThreadSummary summarise(const ThreadRecords& records, uint64_t zero, Used& used);

/// The ends assumed for calls and functions that were not left, in ticks.
struct OpenEnds {
  uint64_t call = 0;
  uint64_t functions = 0;  ///< not before the thread's last record
  /// The program begins and ends on the main thread, but not after the first or before the last
  /// record of any thread: the main thread may lack records, or may have made no more calls.
  uint64_t program_begin = UINT64_MAX;
  uint64_t program_end = 0;
};

/// Writes all events of a thread. `good` becomes false when OTF2 cannot write, or records cannot be
/// read.
LocationSummary write_events(const ThreadRecords& records, uint64_t zero, const OpenEnds& ends,
                             OTF2_EvtWriter* writer, uint64_t location,
                             const Translation& translation, bool& good);

}  // namespace tracing
}  // namespace rubato
