// A user-defined model of distances, and a program that replays with it: nodes form a ring, and
// each hop beyond the first adds to the latency. Flows do not share bandwidth, so the replay needs
// no global order of time and can process many such scenarios at once. Build it with the
// CMakeLists.txt in this directory; usage: ring TRACE HOP
//
// As a part of Rubato, the model would be models/topologies/ring.cc, listed in
// models/topologies/CMakeLists.txt; `--on infiniband-hdr:contention.hop=100ns` would select it. To
// share links, replace the nullptr by a Network as in backplane.cc.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "models/network/network_model.h"
#include "replay/rubato.h"

namespace {

class Ring : public rubato::Distances {
 public:
  Ring(const rubato::Placement& placement, double hop) : placement_(placement), hop_(hop) {}

  int between(int from, int to) const override {
    const int apart = std::abs(placement_.node_of(from) - placement_.node_of(to));
    return std::min(apart, placement_.nodes() - apart) - 1;
  }
  int count() const override { return std::max(1, placement_.nodes() / 2); }
  double latency(int distance) const override { return distance * hop_; }

 private:
  rubato::Placement placement_;
  double hop_;
};

const rubato::NetworkModel kRing = {
    "ring",
    "nodes on a ring: latency grows with the hops",
    {{"hop", rubato::NetworkKey::Kind::kSeconds, "latency of each hop beyond the first", 0}},
    nullptr,
    [](const rubato::ContentionSetting& setting,
       const rubato::Placement& placement) -> std::unique_ptr<rubato::Distances> {
      return std::make_unique<Ring>(placement, *setting.number("hop"));
    }};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: ring TRACE HOP\n"), 2;
  rubato::add_network_model(kRing);
  const std::string machine = "bandela:latency=1us,bandwidth=1GB/s";
  const auto flat = rubato::parse_scenario(machine);
  const auto ring = rubato::parse_scenario(machine + ",contention.hop=" + argv[2]);
  const auto trace = rubato::open_trace(argv[1]);
  for (const auto& result : rubato::run_replay(*trace, {flat, ring}, {}).scenarios)
    std::printf("%s %.3f us\n", result.name.c_str(), result.elapsed * 1e6);
} catch (const std::exception& error) {
  std::fprintf(stderr, "ring: %s\n", error.what());
  return 1;
}
