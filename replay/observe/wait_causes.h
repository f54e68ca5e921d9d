#pragma once

// Which ranks make others wait, and where. Two questions for each wait of a call, from its enter to
// the cause C on another rank s:
//
//   direct   s entered the awaited call at C: in which call was the wait, and of which pattern?
//   root     what did s do in this window? The parts in which s itself waited belong to the rank
//            that s waited for, and so on; the rest belongs to s.
//
//     s2  ──compute──────────────┐send                 root of r's wait: [0, 4) s2, [4, 6) s
//     s        ▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓──compute──┐send     (direct: s, all of it)
//     r   ▓▓▓▓▓▓▓▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//         0                      4           6
//
// Roots are the delay costs of Böhme, Geimer, Wolf, Arnold: Identifying the root causes of wait
// states in large-scale parallel applications (ICPP 2010), without their long-term part: in the
// paper delays are the excess of s over r since their last synchronisation, here all that s does in
// the window.
//
// A late sender's wait counts as "wrong order" when the same timeline later receives a message
// whose send was entered before that sender's.

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Waits of one rank in the calls of one name.
struct WaitSum {
  uint64_t count = 0;
  double ticks = 0;
};

/// Sums up the waits of one scenario by call and by causing rank. Only the window of a rank counts,
/// as in Profile, and of a wait the part that is not lost. Memory: a few KiB a timeline, and at
/// most 12 KiB a timeline for the causes of its waits.
class WaitCauses : public Observer<1> {
 public:
  struct Key {
    int rank;
    uint16_t call;  ///< index into TraceDefinitions::calls
    WaitPattern pattern;
    auto operator<=>(const Key&) const = default;
  };
  struct Pair {
    int waiting;
    int causing;
    auto operator<=>(const Pair&) const = default;
  };

  explicit WaitCauses(const TraceDefinitions& trace);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  std::map<Key, WaitSum> waits() const;
  /// Ticks that the first rank waited for the second, directly. For a timeline that waits for more
  /// than kMostCauses ranks, approximately those with the longest waits: each time that there are
  /// too many, the smaller half is dropped.
  std::map<Pair, double> direct() const;
  /// By rank: the ticks of all ranks' waits whose root is this rank.
  const std::vector<double>& roots() const { return roots_; }

 private:
  static constexpr size_t kSegmentsKept = 512;  ///< older waits count as the timeline's own
  static constexpr size_t kReceivesKept = 32;
  static constexpr size_t kMostCauses = 256;

  /// A part of a wait, and its root.
  struct Segment {
    double begin;
    double end;
    int root;      ///< rank
    double ticks;  ///< the ticks of it that count
  };
  /// A wait for a late sender that may turn out to be of wrong order.
  struct LateSend {
    double cause;
    double wait;
    uint16_t call;
  };
  struct Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    bool has_waited = false;
    Waited waited;                 ///< then: of the call that call() will report next
    std::deque<Segment> segments;  ///< in the order of time, disjoint
    std::deque<LateSend> late;
    std::map<std::pair<uint16_t, WaitPattern>, WaitSum> waits;  ///< by call and pattern
    std::map<int, double> direct;                               ///< by causing rank
  };

  void add_wait(int timeline, uint16_t call, const Waited& waited, double counts);
  /// For a wait in any call.
  void add_root(int timeline, const Waited& waited, double counts);
  void add_direct(Timeline& waiting, int causing, double ticks);
  /// `part`: the part that counts.
  void add_segment(Timeline& to, double begin, double end, int root, double part);
  void find_wrong_order(int timeline, const Waited& received);
  void forget(Timeline& timeline);

  const TraceDefinitions* trace_;
  std::vector<Timeline> timelines_;
  std::vector<double> roots_;
};

}  // namespace rubato
