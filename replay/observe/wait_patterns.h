#pragma once

// Classifies the waits of a scenario by pattern. A late sender's wait counts as "wrong order" when
// the same timeline later receives a message whose send was entered before that sender's.

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

/// Sums up the waits of one scenario by call and pattern. Only the window of a rank counts, as in
/// Profile, and of a wait the part that is not lost. Memory: a few KiB a timeline.
class WaitPatterns : public Observer<1> {
 public:
  struct Key {
    int rank;
    uint16_t call;  ///< index into TraceDefinitions::calls
    WaitPattern pattern;
    auto operator<=>(const Key&) const = default;
  };

  explicit WaitPatterns(const TraceDefinitions& trace);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

  std::map<Key, WaitSum> waits() const;

 protected:
  /// A wait of which `counts` ticks count.
  virtual void add_cause(int timeline, const Waited& waited, double counts) {
    (void)timeline, (void)waited, (void)counts;
  }
  /// The timeline left MPI_Init: earlier waits do not count.
  virtual void forget(int timeline) { timelines_[timeline] = {}; }

  const TraceDefinitions* trace_;

 private:
  static constexpr size_t kReceivesKept = 32;

  /// A wait for a late sender that may turn out to be of wrong order.
  struct LateSend {
    double cause;
    double wait;
    uint16_t call;
  };
  struct Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    bool has_waited = false;
    Waited waited;  ///< then: of the call that call() will report next
    std::deque<LateSend> late;
    std::map<std::pair<uint16_t, WaitPattern>, WaitSum> waits;  ///< by call and pattern
  };

  void add_to_pattern(Timeline& own, uint16_t call, const Waited& waited, double counts);
  static void find_wrong_order(Timeline& own, const Waited& received);

  std::vector<Timeline> timelines_;
};

}  // namespace rubato
