#include "replay/operation.h"

namespace rubato {

Traffic traffic_of(std::span<const Action> actions) {
  Traffic traffic;
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::kSend:
      case ActionKind::kOneSided:
        traffic.sent += action.bytes;
        break;
      case ActionKind::kPost:
        if (action.flags & kBlocking) traffic.received += action.bytes;
        break;
      case ActionKind::kWaitReceive:
      case ActionKind::kFetch:
        traffic.received += action.bytes;
        break;
      case ActionKind::kCollective:
      case ActionKind::kWaitCollective:
        traffic.sent += action.bytes;
        traffic.received += action.bytes_received;
        break;
      default:
        break;
    }
  }
  return traffic;
}

}  // namespace rubato
