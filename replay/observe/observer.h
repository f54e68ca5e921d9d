#pragma once

#include <span>

#include "models/base/lanes.h"
#include "replay/observe/polling_loop.h"
#include "replay/observe/waited.h"
#include "replay/trace/operation.h"

namespace rubato {

/// A message at the time at which a call has received it. Times in ticks.
struct Delivery {
  int sender = 0;    ///< timeline
  double sent = 0;   ///< enter of the call that sends it
  int receiver = 0;  ///< timeline; the receiving call is the one that call() will report next
  uint64_t bytes = 0;
};

/// Receives every replayed call, in program order per timeline. The interleaving of timelines is
/// that of the run queue and has no meaning.
template <int K>
class Observer {
 public:
  virtual ~Observer() = default;

  /// A replay begins. A replay that was abandoned begins again (with the data it lacked, or with
  /// receives matched as recorded): all earlier calls are void.
  virtual void begin() {}

  /// `call` of `timeline` left. `clock_before` and `recorded_before` are the leave of the previous
  /// call, replayed and recorded; `block` has its actions and records.
  virtual void call(int timeline, const Call& call, const Block& block,
                    const Lanes<K>& clock_before, double recorded_before, const Lanes<K>& enter,
                    const Lanes<K>& leave) = 0;

  /// True for an observer that needs entered(): at most one.
  virtual bool watches_enters() const { return false; }
  /// `call` of `timeline`, which may wait for others, was entered; comes before its call(). Calls
  /// that do not wait may be reported by call() alone.
  virtual void entered(int timeline, const Call& call, const Lanes<K>& clock_before,
                       double recorded_before, const Lanes<K>& enter) {
    (void)timeline, (void)call, (void)clock_before, (void)recorded_before, (void)enter;
  }

  /// Before waited(): the waits of the polls in the loop that `call` ends, from `begin` on. Under
  /// the same conditions.
  virtual void polled(int timeline, std::span<const PolledWait> polls, double begin,
                      const Waited& waited) {
    (void)timeline, (void)polls, (void)begin, (void)waited;
  }

  /// Before call(): what the call waited for in the first scenario, if anything, and if wait states
  /// are summed up (ReplayOptions::wait_states).
  virtual void waited(int timeline, const Call& call, const Waited& waited) {
    (void)timeline, (void)call, (void)waited;
  }

  /// Before waited(), if wants_messages(), for each message that the call received, as matched by
  /// the engine. Under the same conditions as waited(), but also if the call did not wait.
  virtual void message(const Delivery& delivery) { (void)delivery; }
  /// Called once, before the replay; so is wants_bounds().
  virtual bool wants_messages() const { return false; }

  /// True for an observer that needs Waited::bound_to and bound_at, which are not set else. With
  /// one scenario only.
  virtual bool wants_bounds() const { return false; }
};

}  // namespace rubato
