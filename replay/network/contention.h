#pragma once

// How concurrent messages slow each other down. Everything here happens in the order of time:
// replay/rules/time_order.h.
//
// A flow is the data of a message under way: from the moment when it can leave its sender until its
// arrival. Alone it takes `length`: `data`, which grows with the size, plus latency.
//
//   degradation   T(n) = L + n / B(n) * LR * DR (MPInside paper, section 4.3). LR is the number of
//                 live requests on the node: the flows from it or to it, this one included; the
//                 larger count of the flow's two nodes. LR changes while a flow is under way, and
//                 each value counts for as long as it holds: the data of a flow advances by dt /
//                 (LR * DR) in a time dt. The latency comes first and does not depend on the load,
//                 but the flow is live during it.
//   buses         (Dimemas) a flow needs a link out of its node, a link into the other node and a
//                 bus of the network, all at once, and occupies them for its `data`. Flows wait
//                 first come, first served; simultaneous ones by rank. No flow passes an earlier
//                 one that needs the same link, so every flow will get its links. A waiting flow
//                 reserves no bus: a bus goes to the first flow that has its links.

#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/cost/contention.h"

namespace rubato {

/// Ticks.
struct Flow {
  int rank = 0;  ///< that sends it
  int from = 0;  ///< nodes
  int to = 0;
  double length = 0;  ///< from start to arrival, alone
  double data = 0;    ///< of it: what grows with the size
  double alone = 0;   ///< its arrival if it starts at once and flows alone
};

/// Decides when flows arrive. The number of a flow is used again after its arrival, once nothing
/// refers to it.
class Contention {
 public:
  /// Something will happen to a flow.
  struct Timer {
    double time;
    uint32_t flow;
    uint32_t version;  ///< older ones are void
  };

  virtual ~Contention() = default;

  virtual void start(uint32_t number, const Flow& flow, double now) = 0;
  /// A timer has expired; true when its flow has arrived.
  virtual bool over(const Timer& timer) = 0;

  /// The timers requested since the last call.
  std::vector<Timer> take_timers() { return std::exchange(timers_, {}); }

 protected:
  void ask(double time, uint32_t flow, uint32_t version) {
    timers_.push_back({time, flow, version});
  }

 private:
  std::vector<Timer> timers_;
};

/// Flows know nothing of each other.
class NoContention : public Contention {
 public:
  void start(uint32_t number, const Flow& flow, double) override { ask(flow.alone, number, 0); }
  bool over(const Timer&) override { return true; }
};

class Degradation : public Contention {
 public:
  Degradation(double ratio, int nodes) : ratio_(ratio), live_(nodes) {}

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;

 private:
  struct State {
    Flow flow;
    bool moving = false;  ///< the latency is over
    double left = 0;      ///< of the data, in ticks alone
    double since = 0;     ///< time at which `left` was true
    double pace = 0;      ///< LR * DR
    uint32_t version = 0;
  };

  double pace(const Flow& flow) const;
  /// The number of live requests on a node of `flow` has changed.
  void change_pace(const Flow& flow, double now);
  void change_pace(int node, double now);
  /// Asks for a timer at the next arrival.
  void plan();

  double ratio_;
  std::vector<State> states_;                ///< by number of the flow
  std::vector<std::vector<uint32_t>> live_;  ///< by node: its flows
  std::vector<uint32_t> moving_;             ///< those whose latency is over
  Timer planned_ = {0, 0, 0};                ///< version 0: none yet
};

class Buses : public Contention {
 public:
  Buses(const ContentionModel& model, int nodes)
      : out_(nodes, Links(model.out)), in_(nodes, Links(model.in)), network_(model.network) {}

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer& timer) override;

 private:
  enum Version : uint32_t { kReleases, kArrives };

  struct Links {
    explicit Links(const std::optional<int>& limit) : most(limit) {}
    std::optional<int> most;
    int used = 0;
    int kept = 0;  ///< reserved for waiting flows, in the round of that number
    uint64_t round = 0;

    bool free(uint64_t current) const {
      return !most || used + (round == current ? kept : 0) < *most;
    }
    void keep(uint64_t current) {
      if (round != current) kept = 0;
      round = current;
      ++kept;
    }
  };

  /// Starts the flows that can start.
  void serve(double now);

  std::vector<Links> out_, in_;
  Links network_;
  std::vector<Flow> flows_;                                        ///< by number
  std::set<std::tuple<double, int, uint64_t, uint32_t>> waiting_;  ///< since, rank, which, number
  uint64_t came_ = 0;
  uint64_t round_ = 0;
};

}  // namespace rubato
