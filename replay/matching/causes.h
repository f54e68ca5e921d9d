#pragma once

// The latest event that a call waits for: W, in ticks, as recorded and as replayed. Every set of
// rules uses these functions, and so do wait states.

#include <limits>

#include "replay/matching/collective_instances.h"
#include "replay/matching/windows.h"
#include "replay/trace/action.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Gives W of member `local` in a collective that synchronises as `how`; false if it waits for no
/// member.
template <int K>
bool collective_cause(const CollectiveInstance<K>& instance, Synchronisation how, int local,
                      const Communicator& comm, double& recorded, Lanes<K>& replayed) {
  switch (how) {
    case Synchronisation::kOneToAll:
      if (!instance.waits_for_root(local, comm)) return false;
      recorded = instance.recorded_root_enter;
      replayed = instance.root_enter;
      return true;
    case Synchronisation::kAllToOne:
      if (local != instance.root) return false;
      break;
    case Synchronisation::kPrefix:
      if (local == 0) return false;
      recorded = instance.recorded_enters[local];
      replayed = instance.enters[local];
      return true;
    case Synchronisation::kAllToAll:
      break;
  }
  const Arrivals<K>& all = instance.awaited_by(local, comm);
  recorded = all.recorded_last;
  replayed = all.last;
  if (!instance.parts.empty()) instance.parts.latest(local, recorded, replayed);
  return recorded > -std::numeric_limits<double>::infinity();
}

/// The same for a call that left at `leave` when recorded.
template <int K>
bool collective_cause(const CollectiveInstance<K>& instance, const Action& action, int local,
                      const Communicator& comm, double leave, double& recorded,
                      Lanes<K>& replayed) {
  if (comm.size() <= 1 || instance.held_nobody()) return false;
  if (!collective_cause(instance, instance.how, local, comm, recorded, replayed)) return false;
  return !(action.flags & kTakesNothing && leave < recorded);
}

/// W of an epoch; false if the recording shows that the call did not wait for it (windows.h).
template <int K>
bool epoch_cause(const Epoch<K>& epoch, const Action& action, double leave, double& recorded,
                 Lanes<K>& replayed) {
  const bool is_origin = Windows<K>::is_origin(action);
  recorded = is_origin ? epoch.recorded_post : epoch.recorded_complete;
  replayed = is_origin ? epoch.posted : epoch.completed;
  return !epoch.abandoned && !(is_origin && recorded > leave);
}

}  // namespace rubato
