#pragma once

// What each timeline does at each time of a scenario, as spans that follow one another: compute in
// a function, the wait of a call, the rest of the call, a loss. Pictures are made of these.

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/observe/kept_losses.h"
#include "replay/observe/observer.h"
#include "replay/store/call_places.h"
#include "replay/store/call_stacks.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The four waits are those of WaitKind, in its order. share/report/timeline_data.js has the names
/// and colours, in this order.
enum class Activity : uint8_t {
  kNone,
  kCompute,
  kMpi,
  kLateSender,
  kLateReceiver,
  kCollective,
  kOneSided,
  kOther,
  // In calls of these classes without waiting; kMpi is for all other calls.
  kMessages,
  kCollectives,
  kOneSidedCalls
};
inline constexpr int kActivities = 11;
/// After them: compute in functions with a colour of their own.
inline constexpr int kColouredFunctions = 5;

/// Some time of a timeline. Ticks.
struct ActivitySpan {
  static constexpr uint16_t kNoCall = UINT16_MAX;

  double from = 0;
  double to = 0;
  Activity activity = Activity::kNone;
  uint16_t call = kNoCall;       ///< index into TraceDefinitions::calls
  uint32_t function = kNoPlace;  ///< that computes, or makes the call: EventSource::functions()
  uint32_t site = kNoPlace;      ///< of the call: EventSource::call_sites()
  uint32_t stack = 0;            ///< of `function`: a node of stacks(); 0: not known
  uint32_t calls = 0;            ///< 1: the last span of a call that is not a loss
};

class Activities : public Observer<1> {
 public:
  /// `kept`: losses of calls that the scenario keeps.
  Activities(const TraceDefinitions& trace, KeptLosses kept);
  /// To be called before the replay: spans have places, from `source`. By its function: the number
  /// from 0 to kColouredFunctions - 1, or -1. Compute in it is Activity kActivities + number.
  void know_places(const EventSource& source, std::vector<int> number_of_function);

  /// Null without know_places().
  const CallStacks* stacks() const { return stacks_ ? &*stacks_ : nullptr; }

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void polled(int timeline, std::span<const PolledWait> polls, double begin,
              const Waited& waited) override;

 protected:
  /// In the order of time per timeline.
  virtual void span(int timeline, const ActivitySpan& span) = 0;
  /// The timeline left MPI_Init at `time`: earlier spans are not part of its window.
  virtual void window_begins(int timeline, double time) { (void)timeline, (void)time; }
  /// Calls since `begin`, which were reported as not waiting, waited until `end` for these ticks.
  virtual void polls_waited(int timeline, std::span<const PolledWait> polls, double begin,
                            double end, Activity wait) = 0;

  const TraceDefinitions* trace_;
  const EventSource* source_ = nullptr;

 private:
  struct Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    double wait = 0;    ///< of the call that call() will report next
    Activity what{};    ///< likewise
    std::optional<CallPlaces::Reader> reader;
  };

  void compute(int timeline, const Call& call, const CallPlace* place, double recorded_before,
               double from, double to);

  KeptLosses kept_;
  std::vector<int> number_of_function_;
  std::optional<CallStacks> stacks_;
  std::vector<Timeline> timelines_;
};

}  // namespace rubato
