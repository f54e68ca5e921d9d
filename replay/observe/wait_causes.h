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

#include <deque>
#include <map>
#include <vector>

#include "replay/observe/wait_patterns.h"
#include "replay/trace/trace.h"

namespace rubato {

/// WaitPatterns that also sum up waits by the rank that causes them, directly or as their root.
/// Memory: at most 12 KiB a timeline more.
class WaitCauses : public WaitPatterns {
 public:
  struct Pair {
    int waiting;
    int causing;
    auto operator<=>(const Pair&) const = default;
  };

  explicit WaitCauses(const TraceDefinitions& trace);

  void begin() override;

  /// Ticks that the first rank waited for the second, directly. For a timeline that waits for more
  /// than kMostCauses ranks, approximately those with the longest waits: each time that there are
  /// too many, the smaller half is dropped.
  std::map<Pair, double> direct() const;
  /// By rank: the ticks of all ranks' waits whose root is this rank.
  const std::vector<double>& roots() const { return roots_; }

 private:
  static constexpr size_t kSegmentsKept = 512;  ///< older waits count as the timeline's own
  static constexpr size_t kMostCauses = 256;

  /// A part of a wait, and its root.
  struct Segment {
    double begin;
    double end;
    int root;      ///< rank
    double ticks;  ///< the ticks of it that count
  };
  struct Timeline {
    std::deque<Segment> segments;  ///< in the order of time, disjoint
    std::map<int, double> direct;  ///< by causing rank
  };

  void add_cause(int timeline, const Waited& waited, double counts) override;
  void forget(int timeline) override;
  void add_direct(Timeline& waiting, int causing, double ticks);
  /// `part`: the part that counts.
  void add_segment(Timeline& to, double begin, double end, int root, double part);

  std::vector<Timeline> timelines_;
  std::vector<double> roots_;
};

}  // namespace rubato
