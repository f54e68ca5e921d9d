#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/base/processors.h"
#include "tracer/layout/clock_model.h"
#include "tracer/layout/definitions.h"
#include "tracer/layout/eager_limits.h"
#include "tracer/layout/module.h"
#include "tracer/layout/overhead.h"

/// The facts needed to read a process's records after its death, written to a file beside them as
/// soon as they are known: <directory>/<rank>.journal, a row of entries (kind, length, bytes). Each
/// is written by one write(), which a kill does not undo.
namespace rubato {
inline namespace tracing {

enum class JournalEntry : uint32_t {
  kProcess = 1,       ///< ProcessFacts, once
  kCommunicator,      ///< CommunicatorReport of a new communicator
  kCommunicatorName,  ///< its local number, the name
  kClockSample,       ///< parent in the tree of clocks (a rank, -1: none), ClockSample
  kWindow,            ///< WindowReport of a new window
  kWindowName,        ///< its local number, the name
  kTopology,          ///< TopologyReport of a new communicator
  kGroup,             ///< world ranks of the next group that a window names
  kModule,            ///< Module that an address on record may lie in
  kSessions,          ///< whether the program has any of MPI's sessions open
  kEnded,  ///< MPI_Finalize was reached; whether recording had stopped before (1) or not (0), errno
  kLast = kEnded,
};

/// Facts known when recording starts.
struct ProcessFacts {
  uint64_t job = 0;  ///< the same on all ranks of a job
  int rank = 0;
  int size = 1;
  uint64_t pid = 0;
  std::string host;
  std::string boot;    ///< changes when the machine is started anew: its clocks begin again
  std::string output;  ///< where the archive was to be
  std::string command;
  std::string mpi_library;
  bool tsc = false;
  uint64_t zero = 0;             ///< tick that records count from
  uint64_t first_ticks = 0;      ///< the record clock ...
  uint64_t first_monotonic = 0;  ///< ... and CLOCK_MONOTONIC at one moment
  uint64_t start_ticks = 0;      ///< the record clock ...
  uint64_t start_realtime = 0;   ///< ... and nanoseconds since 1970 at one moment
  Overhead overhead;
  Processors processors;
  EagerLimits eager_limits;
  std::vector<std::string> call_names;  ///< by CallId
  std::vector<unsigned> call_roles;
  bool call_sites = false;      ///< each call has its call site
  std::string function_filter;  ///< rules, see function_filter.h
  uint32_t function_hooks = 0;  ///< FunctionHooks
  std::string counters;         ///< names, separated by commas
  bool call_paths = false;      ///< each call has its call path
  uint64_t sample_period = 0;   ///< nanoseconds; 0: no samples

  /// Each call has an Item::kCallSite.
  bool has_places() const { return call_sites || call_paths; }

  std::string pack() const;
  static ProcessFacts unpack(const std::string& bytes);
};

namespace journal {

/// Makes the file; false when that fails, and then nothing below does anything.
bool open(const std::string& directory, int rank);
void append(JournalEntry kind, const std::string& bytes);
void communicator(const CommunicatorReport& report);
void communicator_name(uint32_t id, const std::string& name);
void topology(const TopologyReport& report);
void window(const WindowReport& report);
void window_name(uint32_t id, const std::string& name);
void group(const std::vector<int>& world_ranks);
void module(const Module& module);
/// The last of `samples`, if there is one.
void clock_sample(int parent, const std::vector<ClockSample>& samples);
/// The program has opened the first of MPI's sessions, or closed the last.
void sessions(bool open);
/// Recording is complete, and the archive is to be written; `early`: recording had stopped before,
/// for the reason why_stopped(error).
void ended(bool early, int error);
/// The archive is written: removes the file.
void remove();

std::string file_name(const std::string& directory, int rank);

}  // namespace journal

/// A journal read back.
struct Journal {
  ProcessFacts facts;
  ProcessReport report;   ///< but for the calls that were used
  int clock_parent = -1;  ///< a rank that reads the clock which this one was measured against
  std::vector<ClockSample> clock_samples;
  std::vector<Module> modules;
  bool alive = false;            ///< the process still runs
  bool sessions = false;         ///< it had sessions of MPI in place of MPI_Init ...
  bool sessions_closed = false;  ///< ... and closed them all
  bool ended = false;            ///< it reached MPI_Finalize ...
  bool ended_early = false;      ///< ... and had stopped to record before
  int ended_error = 0;           ///< ... for this reason, see why_stopped()
  size_t damaged = 0;            ///< entries that cannot be right and were left out
};

/// Its process is alive: it holds the lock on its journal or, if it closed all its files, a process
/// with its id and command line exists.
bool still_runs(const Journal& journal);

/// Reads a file up to its first torn entry; false, with a reason, if it is not a journal.
bool read_journal(const std::string& file, Journal& journal, std::string& reason);

}  // namespace tracing
}  // namespace rubato
