// Machines with contention between transfers, for times worked out by hand.
#pragma once

#include <string>

#include "tests/unit/toy.h"

namespace rubato {

/// Between nodes T(n) = 100 + n ns, within one 10 + n; no overheads, no gap; async from 5000 bytes
/// on. `contention` is the content of [contention].
inline Scenario contended(const std::string& contention) {
  Scenario scenario;
  scenario.name = contention;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "10ns", bandwidth = "1GB/s" } ]
    gap = "0ns"
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    gap = "0ns"
    protocol = [ { from = "0B", kind = "eager" }, { from = "5000B", kind = "async" } ]
  )" + (contention.empty() ? "" : "[contention]\n" + contention),
                                     "cluster.toml");
  return scenario;
}

inline Scenario degraded(double ratio) {
  return contended("model = \"degradation\"\ndegradation_ratio = " + std::to_string(ratio));
}

/// The same machine with dr=fit.
inline Scenario fitted() {
  return changed(degraded(1), "dr=fit");
}

inline Scenario buses(const std::string& limits) {
  return contended("model = \"buses\"\n" + limits);
}

}  // namespace rubato
