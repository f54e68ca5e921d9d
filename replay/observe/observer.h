#pragma once

#include <span>

#include "models/base/lanes.h"
#include "replay/observe/polling_loop.h"
#include "replay/observe/waited.h"
#include "replay/trace/operation.h"

namespace rubato {

/// A message at the moment at which a call has received it. Times in ticks.
struct Delivery {
  int sender = 0;    ///< timeline
  double sent = 0;   ///< enter of the call that sends it
  int receiver = 0;  ///< timeline; the call is the one that call() hears of next
  uint64_t bytes = 0;
};

/// Sees every replayed call, in program order per timeline. The interleaving of timelines is that
/// of the run queue and has no meaning.
template <int K>
class Observer {
 public:
  virtual ~Observer() = default;

  /// A replay begins. One that was given up begins anew (with what it lacked, or with receives
  /// matched as recorded): nothing of the one before counts.
  virtual void begin() {}

  /// `call` of `timeline` left. `clock_before` and `recorded_before` are the leave of the call
  /// before it, replayed and recorded; `block` holds its actions and records.
  virtual void call(int timeline, const Call& call, const Block& block,
                    const Lanes<K>& clock_before, double recorded_before, const Lanes<K>& enter,
                    const Lanes<K>& leave) = 0;

  /// True for the one, at most, that entered() is for. With one scenario only.
  virtual bool watches_enters() const { return false; }
  /// `call` of `timeline`, which may wait for others, was entered; also before a call() of it.
  /// Those that wait for nobody may show in call() alone.
  virtual void entered(int timeline, const Call& call, const Lanes<K>& clock_before,
                       double recorded_before, const Lanes<K>& enter) {
    (void)timeline, (void)call, (void)clock_before, (void)recorded_before, (void)enter;
  }

  /// Before waited(): what the polls of the loop that `call` ends waited for, from `begin` on.
  /// Under the same conditions.
  virtual void polled(int timeline, std::span<const PolledWait> polls, double begin,
                      const Waited& waited) {
    (void)timeline, (void)polls, (void)begin, (void)waited;
  }

  /// Before call(): what the call waited for, where there was something and wait states are summed
  /// up (ReplayOptions::wait_states). With one scenario only.
  virtual void waited(int timeline, const Call& call, const Waited& waited) {
    (void)timeline, (void)call, (void)waited;
  }

  /// Before that, where wants_messages(), for each message that the call received: of the engine's
  /// matching. Under the same conditions as waited(), but also if nobody waited.
  virtual void message(const Delivery& delivery) { (void)delivery; }
  /// Asked once, before the replay.
  virtual bool wants_messages() const { return false; }
};

}  // namespace rubato
