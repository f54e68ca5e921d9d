#pragma once

// Where in the program ranks wait, and the places of the ranks that make them wait. wait_causes.h
// finds the ranks; here each has a place: a call, with the function and the line that make it, or
// compute, with the function.
//
//     s2  ──── solve ────────────┐send             of r's wait: [0, 4) to solve of s2,
//     s        ▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓──pack──┐send                 [4, 6) to pack of s
//     r   ▓▓▓▓▓▓▓▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//         0                      4        6
//
// The window of a wait, from the call's enter to its cause on another rank s, is divided by the
// activities of s in it. The waits of s itself are attributed to their own causes. All other time
// is attributed to s: compute, and calls as far as they do not wait. So the sums are the delay
// costs of Böhme, Geimer, Wolf, Arnold (ICPP 2010), without their long-term part, as in WaitCauses.
//
// Compute outside of recorded functions is named after the next call. Between two calls the
// archive's functions count with their shares, in the order in which they were entered first. If a
// wait has more than kMostPieces parts, its shortest parts are merged with their neighbours when it
// is attributed to others' waits.
//
// The same observer sums up functions: compute, and the MPI calls that each makes itself.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/observe/kept_losses.h"
#include "replay/observe/observer.h"
#include "replay/observe/wait_patterns.h"
#include "replay/store/call_places.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The activity of a rank at some time, and its place in the program.
struct Place {
  enum class Kind : uint8_t {
    kCompute,  ///< in `function`, else before `call` at `site`
    kCall,     ///< in `call`, which `function` makes at `site`
    kLost,     ///< the tracer wrote its buffer or was off, or the thread had no core
    kUnknown,  ///< dropped from the past
  };
  static constexpr uint16_t kNoCall = UINT16_MAX;

  Kind kind = Kind::kUnknown;
  uint16_t call = kNoCall;          ///< index into TraceDefinitions::calls
  uint32_t function = kNoPlace;     ///< index into EventSource::functions()
  uint32_t site = kNoPlace;         ///< index into EventSource::call_sites()
  uint32_t path = CallTree::kRoot;  ///< of `function`: node of WaitPlaces::paths()
  bool operator==(const Place&) const = default;
};

/// Ticks of a timeline, or a rank, in one function, without the functions that it calls.
struct FunctionSum {
  double compute = 0;  ///< between calls
  double mpi = 0;      ///< in MPI calls that it makes itself
  double waits = 0;    ///< the waiting time in these, until their cause
  FunctionSum& operator+=(const FunctionSum& other);
};

/// Sums up the waits of one scenario by place. Only the window of a rank counts, as in Profile.
/// Memory: about 10 KiB a timeline, at most 130 KiB, and 50 bytes for each function that it is in;
/// 4 KiB and 4 bytes for each of its call paths more if places are recorded. REQUIRES:
/// note_places() was called for the source. Errors: as CallFile's.
class WaitPlaces : public Observer<1> {
 public:
  /// `probe`: ticks that the scenario subtracts for each enter or leave of a function.
  WaitPlaces(const EventSource& source, KeptLosses kept = {}, double probe = 0);

  void begin() override;
  bool watches_enters() const override { return true; }
  void entered(int timeline, const Call& call, const Lanes<1>& clock_before, double recorded_before,
               const Lanes<1>& enter) override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  const std::vector<Place>& places() const { return places_; }
  /// Of all timelines; functions with equal name and line are one.
  const CallTree& paths() const { return paths_; }

  /// A place, as index into places(), and a communicator.
  using PlaceOnComm = std::pair<uint32_t, uint32_t>;
  /// Waits of a rank.
  const std::map<PlaceOnComm, WaitSum>& waits(int rank) const { return ranks_[rank].waits; }
  /// The place of the cause, and the place where others wait for it: indices into places().
  using CauseAndWait = std::pair<uint32_t, uint32_t>;
  /// Ticks of all ranks' waits of which this rank is the root.
  const std::map<CauseAndWait, double>& delays(int rank) const { return ranks_[rank].delays; }
  /// By index into EventSource::functions(), kNoPlace for time outside of functions; only those
  /// that the timeline was in; empty if none are recorded. Functions with equal name and line share
  /// the entry of the first one.
  using FunctionSums = std::unordered_map<uint32_t, FunctionSum>;
  const FunctionSums& functions(int timeline) const { return timelines_[timeline].functions; }

 private:
  static constexpr size_t kMostPieces = 64;  ///< of a wait that is attributed to others
  static constexpr size_t kRecentSums = 4;
  static constexpr size_t kFewParts = 256, kMostParts = 8192;  ///< of a timeline's past

  /// Lasts to the begin of the next part.
  struct Part {
    double begin;
    int32_t root;  ///< rank that it is attributed to
    uint32_t place;
  };
  struct Piece {
    int32_t root;
    uint32_t place;
    double ticks;
  };
  struct Timeline {
    bool over = false;     ///< MPI_Finalize was entered
    bool ended = false;    ///< there are no more calls
    bool in_call = false;  ///< the past is complete up to its current call
    // A loop of polls is one part of the past, until the next call determines what it waited for.
    bool in_loop = false;
    double loop_begin = 0;
    uint32_t loop = 0;       ///< the place of its first poll
    double until = 0;        ///< end of the past
    std::vector<Part> past;  ///< its activities, in the order of time, without gaps
    size_t most_past = kFewParts;
    uint32_t here = 0;  ///< its current or last call
    // The wait of the call that call() will report next: its causing rank, -1: none known.
    int by = -1;
    uint32_t comm = 0;
    double wait = 0, kept = 1;
    std::optional<CallPlaces::Reader> reader;
    std::vector<uint32_t> paths;  ///< by node of CallPlaces::paths(): that of WaitPlaces::paths()
    FunctionSums functions;
    struct RecentSum {
      uint32_t function = 0;
      FunctionSum* sum = nullptr;
    };
    std::array<RecentSum, kRecentSums> recent_sums;  ///< recent entries of `functions`
  };
  struct Rank {
    std::map<PlaceOnComm, WaitSum> waits;
    std::map<CauseAndWait, double> delays;
  };

  void begin(int number, double time);
  uint32_t number_of(const Place& place);
  static FunctionSum& sum_of(Timeline& timeline, uint32_t function);
  uint32_t known(uint32_t function) const {
    return function < same_function_.size() ? same_function_[function] : kNoPlace;
  }
  /// Adds the time between the previous call and this one.
  void add_gap(Timeline& timeline, int rank, const Call& call, double clock_before,
               double recorded_before, double enter);
  /// The same; between polls there was no work.
  void add_gap_or_loop(Timeline& timeline, int rank, const Call& call, double clock_before,
                       double recorded_before, double enter);
  void add_part(Timeline& timeline, double end, int32_t root, uint32_t place);
  /// Adds the wait of the current call, of which `part` counts, to its root.
  void add_wait(Timeline& timeline, int rank, double part);
  WaitSum& wait_of(int rank, uint32_t place, uint32_t comm);
  void add_delay(const Piece& piece, uint32_t waiting, double part);
  /// Sets pieces_ to the activities of `theirs` from `begin` to `end`.
  void find_pieces(const Timeline& theirs, int32_t rank, double begin, double end);
  void add_pieces(Timeline& to, double begin, double end);
  /// Drops the past that no timeline can wait for any more.
  void forget_past(Timeline& timeline);

  const EventSource* source_;
  const TraceDefinitions* trace_;
  KeptLosses kept_;
  double probe_;
  const CallPlaces* call_places_ = nullptr;
  std::vector<uint32_t> same_function_, same_site_;  ///< the first one that looks the same
  std::vector<Timeline> timelines_;
  std::vector<Rank> ranks_;
  std::vector<Place> places_;
  CallTree paths_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  ///< of places, packed
  struct Recent {
    uint64_t packed = UINT64_MAX;  ///< of Place(), which is number 0
    uint32_t number = 0;
  };
  std::vector<Recent> recent_;  ///< recently used entries of numbers_, by hash
  /// By name of call, if no places are recorded: the number of the call, and of compute before it.
  std::vector<std::pair<uint32_t, uint32_t>> by_name_;
  // The recently used entries of Rank::waits and Rank::delays, by hash.
  struct RecentWait {
    int rank = -1;
    PlaceOnComm key;
    WaitSum* sum = nullptr;
  };
  struct RecentDelay {
    int rank = -1;
    CauseAndWait key;
    double* ticks = nullptr;
  };
  std::vector<RecentWait> recent_waits_;
  std::vector<RecentDelay> recent_delays_;
  std::vector<Piece> pieces_, summed_;
};

}  // namespace rubato
