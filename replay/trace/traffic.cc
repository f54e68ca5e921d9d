#include "replay/trace/traffic.h"

namespace rubato {

Traffic traffic_of(std::span<const Action> actions) {
  Traffic traffic;
  for (const Action& action : actions) {
    const Traffic more = traffic_of(action);
    traffic.sent += more.sent;
    traffic.received += more.received;
  }
  return traffic;
}

}  // namespace rubato
