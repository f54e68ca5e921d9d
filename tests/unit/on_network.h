// Sends on networks with a shape: contended(), with links of 1 GB/s, one byte a tick.
#pragma once

#include <fmt/core.h>

#include "tests/unit/contended.h"

namespace rubato {

inline Scenario on_network(const std::string& keys) {
  return contended(keys + "\nlink_bandwidth = \"1GB/s\"");
}

/// Each rank on a node of its own. All send at 0, eagerly, and then receive in that order.
struct Send {
  int from, to, bytes;
};
inline std::string traffic(int ranks, const std::vector<Send>& sends) {
  std::string text = "nodes";
  for (int rank = 0; rank < ranks; ++rank) text += fmt::format(" {}", rank);
  text += "\n";
  for (const Send& send : sends)
    text += fmt::format("{}: 0..0 send {} {}B\n", send.from, send.to, send.bytes);
  std::vector<int> now(ranks);
  for (const Send& send : sends) {
    int& clock = now[send.to];
    text +=
        fmt::format("{}: {}..{} recv {} {}B\n", send.to, clock, clock + 10, send.from, send.bytes);
    clock += 10;
  }
  for (int rank = 0; rank < ranks; ++rank) text += fmt::format("{}: {} end\n", rank, now[rank]);
  return text;
}
/// When each rank has all that is for it, ns.
inline Ends received(int ranks, const std::vector<Send>& sends, const Scenario& scenario) {
  return ends(traffic(ranks, sends), scenario);
}

}  // namespace rubato
