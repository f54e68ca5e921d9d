// All nodes send at once, each to another node, and receive from a third one (Shift in
// models/fit/network_fit.h). A ping-pong never has more than one message in a link, so it measures
// the bandwidth of one message and not the total of many (mpptest's "total bandwidth is not
// point-to-point bandwidth"; Gropp and Lusk 1999).
//
// Two more tests decide how messages share a port. All nodes send to all others, in the order of
// their numbers or each beginning with the next one: this takes equally long where ports are fair.
// And a node sends a short message behind a long one to the same node (Shift::Form).
//
// Rank 0 runs the sweep and sends the length and the number of steps to the others. The slowest
// rank's time counts. Numbers of steps are even: ranks that began a latency apart wait in turn, one
// in odd steps and one in even ones.
#include "calibrate/measure/sharing.h"

#include <mpi.h>

#include <algorithm>
#include <array>

#include "models/fit/network_fit.h"

namespace rubato {
namespace {

constexpr int kShiftTag = 0, kShortTag = 1;

/// The ranks of each node, nodes in the order of their lowest rank.
std::vector<std::vector<int>> ranks_by_node(const Placement& places) {
  std::vector<int> nodes;
  std::vector<std::vector<int>> ranks;
  for (int rank = 0; rank < places.ranks(); ++rank) {
    const auto known = std::find(nodes.begin(), nodes.end(), places.node_of(rank));
    if (known == nodes.end()) {
      nodes.push_back(places.node_of(rank));
      ranks.push_back({rank});
    } else {
      ranks[known - nodes.begin()].push_back(rank);
    }
  }
  return ranks;
}

std::vector<Shift> shifts_of(const Placement& places) {
  const auto ranks = ranks_by_node(places);
  size_t least = ranks.front().size();
  for (const auto& of_node : ranks) least = std::min(least, of_node.size());
  return shifts_to_measure(static_cast<int>(ranks.size()), static_cast<int>(least));
}

struct ShiftOrder {
  size_t bytes = 0;
  int steps = 0;  ///< 0: no more
};

/// One rank's part in a shift.
class ShiftRunner {
 public:
  ShiftRunner(MPI_Comm comm, const Shift& shift, size_t max_bytes)
      : comm_(comm), out_(max_bytes, 1), in_(max_bytes, 2) {
    // Ranks of a node are next to each other.
    int ranks = 0;
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks);
    if (shift.form == Shift::Form::kOvertaking) return;
    if (shift.form == Shift::Form::kShift) {
      const int distance = shift.shift * shift.ranks;
      to_ = {(rank_ + distance) % ranks};
      from_ = {(rank_ + ranks - distance) % ranks};
      return;
    }
    const bool in_turn = shift.form == Shift::Form::kInTurn;
    for (int i = 0; i < ranks; ++i) {
      const int peer = in_turn ? (rank_ + i) % ranks : i;
      if (peer == rank_) continue;
      to_.push_back(peer);
      from_.push_back(in_turn ? (rank_ + ranks - i) % ranks : i);
    }
  }

  /// On rank 0 while the others serve(): seconds of a step.
  double run(const ShiftOrder& order) {
    tell(order);
    return perform(order);
  }
  void release() { tell({}); }
  void serve() {
    for (;;) {
      ShiftOrder order;
      MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, comm_);
      if (order.steps == 0) return;
      perform(order);
    }
  }

 private:
  void tell(ShiftOrder order) { MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, comm_); }

  void step(size_t bytes) {
    const size_t messages = to_.size();
    requests_.resize(2 * messages);
    const int count = static_cast<int>(bytes);
    for (size_t i = 0; i < messages; ++i)
      MPI_Irecv(in_.data() + i * bytes, count, MPI_BYTE, from_[i], kShiftTag, comm_, &requests_[i]);
    for (size_t i = 0; i < messages; ++i) {
      MPI_Isend(out_.data() + i * bytes, count, MPI_BYTE, to_[i], kShiftTag, comm_,
                &requests_[messages + i]);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  /// Returns the seconds until the short message has arrived, on its sender.
  double overtake(size_t bytes) {
    const auto all = static_cast<int>(bytes);
    const auto some = static_cast<int>(Shift::kShort * static_cast<double>(bytes));
    std::array<MPI_Request, 2> requests;
    MPI_Barrier(comm_);
    const double begin = now();
    double end = begin;
    if (rank_ == 0) {
      MPI_Isend(out_.data(), all, MPI_BYTE, 1, kShiftTag, comm_, &requests[0]);
      MPI_Isend(out_.data(), some, MPI_BYTE, 1, kShortTag, comm_, &requests[1]);
      MPI_Recv(nullptr, 0, MPI_BYTE, 1, kShortTag, comm_, MPI_STATUS_IGNORE);
      end = now();
    } else {
      MPI_Irecv(in_.data(), all, MPI_BYTE, 0, kShiftTag, comm_, &requests[0]);
      MPI_Recv(in_.data() + bytes, some, MPI_BYTE, 0, kShortTag, comm_, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, 0, kShortTag, comm_);
      requests[1] = MPI_REQUEST_NULL;
    }
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    return end - begin;
  }

  double perform(const ShiftOrder& order) {
    const int steps = (order.steps + 1) / 2 * 2;
    double seconds = 0;
    MPI_Barrier(comm_);
    if (to_.empty()) {
      for (int i = 0; i < steps; ++i) seconds += overtake(order.bytes) / steps;
    } else {
      for (int i = 0; i < 2; ++i) step(order.bytes);
      const double begin = now();
      for (int i = 0; i < steps; ++i) step(order.bytes);
      seconds = (now() - begin) / steps;
    }
    double slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, comm_);
    return slowest;
  }

  MPI_Comm comm_;
  Buffer out_, in_;
  int rank_ = 0;
  std::vector<int> to_, from_;  ///< none: kOvertaking
  std::vector<MPI_Request> requests_;
};

double sharing_seconds(const Pace& pace) {
  return pace.seconds(0.1, 1);
}

}  // namespace

double sharing_seconds(const Pace& pace, const Placement& places) {
  return static_cast<double>(shifts_of(places).size()) * sharing_seconds(pace);
}

std::vector<Series> measure_sharing(const Placement& places, const Effort& effort,
                                    const std::function<void()>& wait) {
  const auto ranks = ranks_by_node(places);
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  std::vector<Series> all;
  for (const Shift& shift : shifts_of(places)) {
    int place = -1;
    for (int node = 0; node < shift.nodes; ++node) {
      for (int i = 0; i < shift.ranks; ++i) {
        if (ranks[node][i] == own) place = node * shift.ranks + i;
      }
    }
    MPI_Comm talking;
    MPI_Comm_split(MPI_COMM_WORLD, place >= 0 ? 0 : MPI_UNDEFINED, place, &talking);
    if (place >= 0) {
      ShiftRunner runner(talking, shift, effort.max_bytes);
      if (place > 0) {
        runner.serve();
      } else if (effort.stop && effort.stop()) {
        effort.leave_out(shift.name());
        runner.release();
      } else {
        SweepOptions options = sweep_options(effort, sharing_seconds(effort.pace));
        effort.begin(options.budget);
        if (effort.progress) effort.progress("network, " + shift.name());
        tell_left_out(options, effort, shift.name());
        // The shortest one shows the distance of the nodes.
        const bool spreads =
            shift.form == Shift::Form::kInOrder || shift.form == Shift::Form::kInTurn;
        const bool overtakes = shift.form == Shift::Form::kOvertaking;  // two messages fit
        const size_t longest = effort.max_bytes / (spreads ? kMostSpread : overtakes ? 2 : 1);
        options.only = {8, longest / 16, longest / 4, longest};
        options.refine = false;
        all.push_back({shift.name(), sweep(
                                         [&](size_t bytes, int steps) {
                                           return runner.run({bytes, steps});
                                         },
                                         options)});
        runner.release();
      }
      MPI_Comm_free(&talking);
    }
    wait();
  }
  return all;
}

}  // namespace rubato
