#pragma once

// What messages cost each other. Everything here happens in the order of time:
// replay/rules/time_order.h.
//
// A flow is the data of a message on its way: from the moment when it can leave its sender until it
// has arrived. Alone it takes `length`, of which `data` grows with the size and the rest is
// latency.
//
//   degradation   T(n) = L + n / B(n) * LR * DR (MPInside paper, section 4.3). LR is the number of
//                 live requests on the node: the flows that come from it or go to it, this one
//                 included; of the two nodes of a flow the one with more. It changes while a flow
//                 is under way, and is then counted for as long as it holds: the data of a flow
//                 moves on by dt / (LR * DR) in a time dt. The latency comes first and knows
//                 nothing of the load, but a flow is live during it.
//   buses         (Dimemas) a flow needs one of the links out of its node, one of those into the
//                 other and one bus of the network, all at once, and occupies them for its `data`.
//                 Until it gets them it waits, first come, first served; of those that came at one
//                 time, the lower rank first. Nobody passes one that came before and needs the same
//                 link, so whoever waits will get its links. It keeps no bus meanwhile: a bus goes
//                 to the first one that has its links.

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
  double alone = 0;   ///< when it arrives if it starts when it comes, and nobody is in its way
};

/// Decides when flows arrive. Flows have numbers, which are used again once they have arrived and
/// left nothing behind.
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
  /// A timer is over; true when that flow has arrived.
  virtual bool over(const Timer& timer) = 0;

  /// The timers that were asked for since this was called the last time.
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
    double since = 0;     ///< that was at this time
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
    int kept = 0;  ///< for those who wait, in the round of that number
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

  /// Starts who can.
  void serve(double now);

  std::vector<Links> out_, in_;
  Links network_;
  std::vector<Flow> flows_;                                        ///< by number
  std::set<std::tuple<double, int, uint64_t, uint32_t>> waiting_;  ///< since, rank, which, number
  uint64_t came_ = 0;
  uint64_t round_ = 0;
};

}  // namespace rubato
