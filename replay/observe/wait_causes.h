#pragma once

// Who makes others wait, and where. Two questions for each wait of a call, from its enter to the
// cause C on another rank s:
//
//   direct   s entered what was waited for at C: which call was that wait in, of which pattern?
//   root     what did s do meanwhile? The parts of the window in which s itself waited belong to
//            whoever s waited for, and so on; the rest belongs to s.
//
//     s2  ──compute──────────────┐send                 root of r's wait: [0, 4) s2, [4, 6) s
//     s        ▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓──compute──┐send     (direct: s, all of it)
//     r   ▓▓▓▓▓▓▓▓▓▓▓ recv ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓
//         0                      4           6
//
// Roots are the delay costs of Böhme, Geimer, Wolf, Arnold: Identifying the root causes of wait
// states in large-scale parallel applications (ICPP 2010), short of its long-term part: there
// delays are the excess of s over r since their last meeting, here all that s does in the window.
//
// A late sender's wait counts as "wrong order" when the same timeline receives later a message
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

/// Adds up the waits of one scenario by call and by who caused them. Only the window of a rank
/// counts, as in Profile, and of a wait what the call did not lose. Memory: a few KiB a timeline,
/// and 12 KiB a timeline at most for who causes its waits.
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
  /// Ticks that the first rank waited for the second, directly. Of a timeline that waits for more
  /// than kMostCauses ranks those that it waits for longest, or nearly: each time that they become
  /// too many, the lesser half is forgotten.
  std::map<Pair, double> direct() const;
  /// Ticks of all ranks' waits whose root is this rank; by rank.
  const std::vector<double>& roots() const { return roots_; }

 private:
  static constexpr size_t kSegmentsKept = 512;  ///< of a timeline; older waits count as its own
  static constexpr size_t kReceivesKept = 32;
  static constexpr size_t kMostCauses = 256;

  /// A part of a wait, and its root.
  struct Segment {
    double begin;
    double end;
    int root;      ///< rank
    double ticks;  ///< of it those that count
  };
  /// A wait for a late sender that may turn out to be of the wrong order.
  struct LateSend {
    double cause;
    double wait;
    uint16_t call;
  };
  struct Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    bool has_waited = false;
    Waited waited;                 ///< then: of the call that call() hears of next
    std::deque<Segment> segments;  ///< in the order of time, apart from each other
    std::deque<LateSend> late;
    std::map<std::pair<uint16_t, WaitPattern>, WaitSum> waits;  ///< by call and pattern
    std::map<int, double> direct;                               ///< by rank that causes them
  };

  void add_wait(int timeline, uint16_t call, const Waited& waited, double counts);
  /// Of a wait in any call.
  void add_root(int timeline, const Waited& waited, double counts);
  void add_direct(Timeline& waiting, int causing, double ticks);
  /// `part` of it counts.
  void add_segment(Timeline& to, double begin, double end, int root, double part);
  void find_wrong_order(int timeline, const Waited& received);
  void forget(Timeline& timeline);

  const TraceDefinitions* trace_;
  std::vector<Timeline> timelines_;
  std::vector<double> roots_;
};

}  // namespace rubato
