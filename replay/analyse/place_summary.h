#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/observe/critical_path.h"
#include "replay/observe/wait_causes.h"
#include "replay/observe/wait_places.h"

namespace rubato {

/// A place in the program, by name.
struct NamedPlace {
  Place::Kind kind = Place::Kind::kUnknown;
  std::string call;            ///< "": none
  std::string function;        ///< "": not recorded
  std::string function_place;  ///< "solve (app.c:12)"
  std::string caller;          ///< that calls it: "main (app.c:40)"; "": not recorded
  std::string site;            ///< of the call: "app.c:41", without directories; "": not recorded
  /// Of the function that computes or makes the call, the outermost first; empty: not recorded.
  /// Lines as in `function_place`, but with recorded call paths of calls as in SiteRow::path.
  std::vector<std::string> path = {};
};

/// POP's efficiencies of one function, without the functions that it calls: compute between its own
/// MPI calls, and these calls; and the compute with its callees. Seconds by rank, summed over
/// threads.
struct FunctionEfficiency {
  std::string name;                         ///< "": outside of recorded functions
  std::string place;                        ///< "solve (app.c:41)"
  std::vector<double> compute, mpi, waits;  ///< waits: a part of `mpi`
  /// Compute with callees; recursion counts once. Each function's compute in the scenario is
  /// divided over its call paths as recorded. Empty without function_totals().
  std::vector<double> inclusive;
  uint64_t calls = 0;  ///< of all ranks; likewise
  /// Half-widths of the 95 % intervals of the sums, for functions from samples; else 0.
  double compute_error = 0, inclusive_error = 0;

  double sum_of(const std::vector<double>& values) const;
  /// Load balance of compute: mean / maximum; 1 without compute.
  double load_balance() const;
  /// Compute, waits, and the rest of MPI time, each as a share of compute plus MPI; 0 if both are
  /// 0.
  double compute_share() const;
  double wait_share() const;
  double transfer_share() const;

 private:
  double share(double seconds) const;
};

/// The samples that functions are known from. Seconds of processor time.
struct Sampling {
  uint64_t samples = 0;
  double asked = 0;   ///< period
  double period = 0;  ///< that the kernel gave
};
/// Unset if no functions are known from samples.
std::optional<Sampling> sampling_of(const EventSource& source);

/// The places where ranks wait, and the places of the ranks that they wait for, in one scenario:
/// WaitPlaces in seconds and names.
struct PlaceSummary {
  struct Wait {
    int rank = 0;
    size_t place = 0;          ///< index into `places`
    std::string communicator;  ///< or window
    uint64_t count = 0;
    double seconds = 0;
  };
  struct Delay {
    int rank = 0;        ///< causing rank
    size_t place = 0;    ///< place of the cause
    size_t waiting = 0;  ///< place of the wait: index into `places`
    double seconds = 0;
  };

  std::vector<NamedPlace> places;
  std::vector<Wait> waits;
  std::vector<Delay> delays;  ///< the longest first
  bool knows_functions = false;
  std::optional<Sampling> sampling;  ///< of `functions`; unset if they are on record by calls
  std::vector<FunctionEfficiency>
      functions;  ///< with compute or MPI of their own or of callees, the longest first
};

/// "app.c:41", without directories.
std::string site_text(const CallSite& site);

/// To be called after the replay. `probe`: as of `seen`.
PlaceSummary place_summary(const WaitPlaces& seen, const EventSource& source, double probe = 0);

/// The waits of all ranks at one place, over all paths to its caller, on one communicator.
struct WaitAtPlace {
  size_t place = 0;  ///< one of them
  std::string communicator;
  uint64_t count = 0;
  double seconds = 0;
  // The rank and place that cause most of the waiting there, over all communicators; -1: none.
  int rank = -1;
  size_t cause = 0;
  double caused = 0;  ///< seconds
  double all = 0;     ///< caused there by all ranks
};
/// The longest first.
std::vector<WaitAtPlace> waits_by_place(const PlaceSummary& summary);

/// The ranks that make others wait, and the critical path, of one scenario: WaitCauses and
/// CriticalPath in seconds and names.
struct CauseSummary {
  struct Wait {
    int rank = 0;
    std::string call;
    WaitPattern pattern = WaitPattern::kLateSender;
    uint64_t count = 0;
    double seconds = 0;
  };
  struct Pair {
    int waiting = 0;
    int causing = 0;
    double seconds = 0;
  };
  using Parts = std::vector<std::pair<std::string, double>>;  ///< by call, the largest first

  std::vector<Wait> waits;
  std::vector<Pair> direct;
  std::vector<double> roots;  ///< by rank

  // The path; its components add up to `elapsed`.
  double elapsed = 0;
  double late_start = 0;
  std::vector<double> compute;  ///< by rank
  Parts calls;                  ///< in calls that do not wait
  Parts crossings;              ///< by the call at the receiving end
  uint64_t hops = 0;
};

/// To be called after the replay.
CauseSummary cause_summary(const WaitCauses& causes, const CriticalPath& path,
                           const TraceDefinitions& trace);

}  // namespace rubato
