// mpptest's patterns of messages, a loop for each.
//
// Rank 0 runs the sweep over lengths and broadcasts the next loop; all ranks run it. Of ping-pongs
// the slowest rank's time counts, of exchanges, in which all ranks wait for each other, the mean.
// The data sent in one step was received in the step before (see Pair).
// "cold" walks through memory of twice the size of the largest cache (half of it for outgoing data,
// half for incoming), each loop starting where the one before ended, so that neither side finds a
// message in its caches.
#include "calibrate/measure/patterns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "calibrate/clock/message_memory.h"
#include "models/base/lanes.h"

namespace rubato {
namespace {

/// Rank 0's broadcast of the next loop.
struct Command {
  MessagePattern pattern;
  int steps = 0;  ///< 0: no more
  size_t bytes = 0;
  double work = 0;  ///< seconds to compute in each step
};

class Runner {
 public:
  /// All ranks pass the same numbers, so that their buffers fit the lengths that rank 0 chooses;
  /// rank 0 the partners.
  Runner(MPI_Comm comm, size_t max_bytes, size_t cold_bytes, PartnerList partners)
      : comm_(comm),
        max_bytes_(max_bytes),
        out_(message_buffer(max_bytes, kMostNeighbours, cold_bytes), 1),
        in_(out_.size(), 2),
        walk_(out_.size()) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    distribute(std::move(partners));
  }

  /// The longest messages that fit into memory: in a halo several are under way at once.
  size_t longest(PatternShape shape) const {
    const bool listed = shape == PatternShape::kPartners;
    return longest_at_once(out_.size(), max_bytes_,
                           listed ? most_partners_ : neighbours_of(shape).count);
  }

  /// On rank 0; the others are in serve(). Seconds of a step.
  double run(Command command) {
    MPI_Bcast(&command, sizeof command, MPI_BYTE, 0, comm_);
    return perform(command);
  }
  void release() { run({}); }

  void serve() {
    Command command;
    do {
      MPI_Bcast(&command, sizeof command, MPI_BYTE, 0, comm_);
      perform(command);
    } while (command.steps > 0);
  }

 private:
  double perform(const Command& command) {
    if (command.steps == 0) return 0;
    command_ = command;
    // Ranks that exchange and begin a latency apart wait in turn, in every other step
    // (Pair::exchange).
    command_.steps = (command.steps + 1) / 2 * 2;
    const bool by_turns = command.pattern.shape == PatternShape::kPingPong ||
                          command.pattern.shape == PatternShape::kBisection;
    const PatternNeighbours neighbours = neighbours_of(command.pattern.shape);
    MPI_Barrier(comm_);
    if (!by_turns) meet();
    double seconds = 0;
    if (command.pattern.mode == PatternMode::kPersistent) {
      seconds = persistent(neighbours, by_turns);
    } else if (command.pattern.mode == PatternMode::kReady) {
      seconds = ready(neighbours);
    } else if (by_turns) {
      seconds = time([&] { ping_pong(neighbours); });
    } else {
      seconds = time([&] { step(); });
    }
    // A rank may be a message ahead of the others in a ring. The next one gains that in one step,
    // the one after it in another one, without end; the mean of all ranks does not contain it.
    // Ranks without partners take no time, and do not count.
    double result = 0;
    MPI_Reduce(&seconds, &result, 1, MPI_DOUBLE, by_turns ? MPI_MAX : MPI_SUM, 0, comm_);
    const bool listed = command.pattern.shape == PatternShape::kPartners;
    return result / (by_turns ? 2 : listed ? partnered_ : ranks_);
  }

  /// Tells every rank the partners that rank 0 passes.
  void distribute(PartnerList partners) {
    int pairs = static_cast<int>(partners.size());
    MPI_Bcast(&pairs, 1, MPI_INT, 0, comm_);
    partners.resize(static_cast<size_t>(pairs));
    MPI_Bcast(partners.data(), pairs, MPI_2INT, 0, comm_);
    std::vector<std::array<int, 2>> at_once(static_cast<size_t>(ranks_));  // sent and received
    for (const auto& [from, to] : partners) {
      if (from == rank_) to_.push_back(to);
      if (to == rank_) from_.push_back(from);
      most_partners_ = std::max({most_partners_, ++at_once[static_cast<size_t>(from)][0],
                                 ++at_once[static_cast<size_t>(to)][1]});
    }
    partnered_ = static_cast<int>(std::count_if(
        at_once.begin(), at_once.end(), [](const auto& one) { return one[0] + one[1] > 0; }));
  }

  /// Ranks leave a barrier one after the other, and a late one delays its neighbours in each step,
  /// and they theirs. After as many steps as there are ranks, all are equally late (of many ranks
  /// this would take too long).
  void meet() {
    const Command command = command_;
    const MessagePattern& pattern = command.pattern;
    command_ = {{pattern.shape, PatternMode::kNonblocking, false, pattern.distance}, 1, 0, 0};
    constexpr int kMostSteps = 64;
    for (int i = 0; i < std::min(ranks_, kMostSteps); ++i) step();
    command_ = command;
  }

  /// All exchanges of a step.
  void step() {
    if (command_.pattern.shape == PatternShape::kPartners) return exchange_with_partners();
    if (command_.pattern.shape != PatternShape::kButterfly)
      return exchange(neighbours_of(command_.pattern.shape));
    for (int bit = 1; bit < ranks_; bit *= 2)
      exchange(rubato::neighbours_of(PatternShape::kButterfly, rank_, ranks_, bit));
  }

  template <typename Step>
  double time(Step step) {
    step();  // then the buffers are in their usual state
    const double begin = now();
    for (int i = 0; i < command_.steps; ++i) step();
    return (now() - begin) / command_.steps;
  }

  PatternNeighbours neighbours_of(PatternShape shape) const {
    return rubato::neighbours_of(shape, rank_, ranks_, command_.pattern.distance);
  }

  bool goes_first() const {
    return command_.pattern.shape == PatternShape::kPingPong ? rank_ == 0 : rank_ < ranks_ / 2;
  }
  int count() const { return static_cast<int>(command_.bytes); }
  /// Messages begin at cache lines.
  size_t stride() const { return whole_lines(command_.bytes); }
  unsigned char* out(int k) const {
    return out_.data() + offset_ + static_cast<size_t>(k) * stride();
  }
  unsigned char* in(int k) const {
    return in_.data() + offset_ + static_cast<size_t>(k) * stride();
  }

  /// Sets the place of the messages of this step.
  void move_on(int messages) {
    offset_ = command_.pattern.cold ? walk_.next(static_cast<size_t>(messages) * stride()) : 0;
  }

  /// The received data is sent next.
  void turn_round() {
    if (!command_.pattern.cold) std::swap(in_, out_);
  }

  void ping_pong(const PatternNeighbours& neighbours) {
    if (neighbours.count == 0) return;
    const int peer = neighbours.to[0];
    const bool first = goes_first();
    const bool warm = !command_.pattern.cold;
    move_on(1);
    unsigned char* const from = out(0);
    unsigned char* const to = warm ? from : in(0);
    if (command_.pattern.mode == PatternMode::kNonblocking) {
      // The receive is posted before the answer can arrive.
      MPI_Request receive, send;
      MPI_Irecv(in(0), count(), MPI_BYTE, peer, 0, comm_, &receive);
      if (!first) MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Isend(first ? from : warm ? in(0) : from, count(), MPI_BYTE, peer, 0, comm_, &send);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      if (first) {
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        turn_round();
      }
      return;
    }
    const auto send = [&] {
      if (command_.pattern.mode == PatternMode::kSynchronous) {
        MPI_Ssend(from, count(), MPI_BYTE, peer, 0, comm_);
      } else {
        MPI_Send(from, count(), MPI_BYTE, peer, 0, comm_);
      }
    };
    if (first) send();
    MPI_Recv(to, count(), MPI_BYTE, peer, 0, comm_, MPI_STATUS_IGNORE);
    if (!first) send();
  }

  void exchange(const PatternNeighbours& neighbours) {
    move_on(neighbours.count);
    if (command_.pattern.mode == PatternMode::kBlocking) {
      for (int k = 0; k < neighbours.count; ++k) {
        MPI_Sendrecv(out(k), count(), MPI_BYTE, neighbours.to[k], k, in(k), count(), MPI_BYTE,
                     neighbours.from[k], k, comm_, MPI_STATUS_IGNORE);
      }
    } else {
      std::array<MPI_Request, 2 * kMostNeighbours> requests;
      const bool synchronous = command_.pattern.mode == PatternMode::kSynchronous;
      for (int k = 0; k < neighbours.count; ++k)
        MPI_Irecv(in(k), count(), MPI_BYTE, neighbours.from[k], k, comm_, &requests[k]);
      for (int k = 0; k < neighbours.count; ++k) {
        (synchronous ? MPI_Issend : MPI_Isend)(out(k), count(), MPI_BYTE, neighbours.to[k], k,
                                               comm_, &requests[neighbours.count + k]);
      }
      if (command_.work > 0) compute(command_.work);
      MPI_Waitall(2 * neighbours.count, requests.data(), MPI_STATUSES_IGNORE);
    }
    turn_round();
  }

  /// A rank has one message from each partner at most, so that all have one tag.
  void exchange_with_partners() {
    const int receives = static_cast<int>(from_.size()), sends = static_cast<int>(to_.size());
    move_on(std::max(receives, sends));
    requests_.resize(from_.size() + to_.size());
    const bool synchronous = command_.pattern.mode == PatternMode::kSynchronous;
    for (int k = 0; k < receives; ++k)
      MPI_Irecv(in(k), count(), MPI_BYTE, from_[k], 0, comm_, &requests_[k]);
    for (int k = 0; k < sends; ++k) {
      (synchronous ? MPI_Issend : MPI_Isend)(out(k), count(), MPI_BYTE, to_[k], 0, comm_,
                                             &requests_[receives + k]);
    }
    MPI_Waitall(receives + sends, requests_.data(), MPI_STATUSES_IGNORE);
    turn_round();
  }

  /// A ping-pong of ready sends: a rank posts its next receive before it answers, so that the
  /// receive is posted when the next message arrives.
  double ready(const PatternNeighbours& neighbours) {
    MPI_Request receive = MPI_REQUEST_NULL;
    const auto post = [&] {
      MPI_Irecv(in(0), count(), MPI_BYTE, neighbours.to[0], 0, comm_, &receive);
    };
    const auto send = [&] { MPI_Rsend(out(0), count(), MPI_BYTE, neighbours.to[0], 0, comm_); };
    offset_ = 0;
    const bool talks = neighbours.count > 0;
    const bool first = goes_first();
    int left = command_.steps + 1;  // and the one before the clock runs
    if (talks && !first) post();
    return time([&] {
      --left;
      if (!talks) return;
      if (first) {
        post();
        send();
      }
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      std::swap(in_, out_);
      if (first) return;
      if (left > 0) post();
      send();
    });
  }

  /// Persistent requests: two sets, so that the received data is sent next.
  double persistent(const PatternNeighbours& neighbours, bool by_turns) {
    offset_ = 0;
    std::array<std::vector<MPI_Request>, 2> sets;
    const int messages = neighbours.count;
    for (std::vector<MPI_Request>& set : sets) {
      set.resize(2 * static_cast<size_t>(messages));
      for (int k = 0; k < messages; ++k) {
        MPI_Recv_init(in(k), count(), MPI_BYTE, neighbours.from[k], k, comm_, &set[k]);
        MPI_Send_init(by_turns && !goes_first() ? in(k) : out(k), count(), MPI_BYTE,
                      neighbours.to[k], k, comm_, &set[messages + k]);
      }
      std::swap(in_, out_);
    }
    size_t step = 0;
    const bool first = goes_first();
    const double seconds = time([&] {
      std::vector<MPI_Request>& set = sets[step++ % 2];
      if (!by_turns) {
        MPI_Startall(2 * messages, set.data());
        MPI_Waitall(2 * messages, set.data(), MPI_STATUSES_IGNORE);
      } else if (messages > 0) {
        MPI_Start(&set[0]);
        if (!first) MPI_Wait(&set[0], MPI_STATUS_IGNORE);
        MPI_Start(&set[1]);
        MPI_Wait(&set[1], MPI_STATUS_IGNORE);
        if (first) MPI_Wait(&set[0], MPI_STATUS_IGNORE);
      }
    });
    for (std::vector<MPI_Request>& set : sets) {
      for (MPI_Request& request : set) MPI_Request_free(&request);
    }
    return seconds;
  }

  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 0;
  size_t max_bytes_;
  Buffer out_, in_;
  MemoryWalk walk_;
  size_t offset_ = 0;  ///< of the messages of this step, in both buffers
  Command command_;
  std::vector<int> to_, from_;  ///< partners of this rank
  int most_partners_ = 1;       ///< that a rank sends to, or receives from
  int partnered_ = 0;           ///< ranks that have partners
  std::vector<MPI_Request> requests_;
};

/// 0, 8 B, 64 B, 512 B, ... and the largest.
std::set<size_t> lengths_of(size_t max_bytes) {
  std::set<size_t> lengths = {0, max_bytes};
  for (size_t n = 8; n < max_bytes; n *= 8) lengths.insert(n);
  return lengths;
}

}  // namespace

double pattern_seconds(const Pace& pace) {
  return pace.seconds(0.3, 3);
}

std::vector<Series> measure_patterns(MPI_Comm comm, const std::vector<MessagePattern>& patterns,
                                     std::optional<Level> level, const Effort& effort) {
  if (patterns.empty()) return {};
  const bool cold = std::any_of(patterns.begin(), patterns.end(),
                                [](const MessagePattern& pattern) { return pattern.cold; });
  Runner runner(comm, effort.max_bytes, cold ? effort.cold_bytes : 0,
                patterns.back().shape == PatternShape::kPartners ? effort.partners : PartnerList{});
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) {
    runner.serve();
    return {};
  }
  std::vector<Series> all;
  SweepOptions options = sweep_options(effort, pattern_seconds(effort.pace));
  Timings alone;
  // The pattern with which the overlap is compared is measured before it, all others in random
  // order.
  std::vector<MessagePattern> order = patterns;
  shuffle_in_order_of(effort.seed, order);
  std::stable_sort(
      order.begin(), order.end(), [](const MessagePattern& a, const MessagePattern& b) {
        return (a.shape == PatternShape::kOverlap) < (b.shape == PatternShape::kOverlap);
      });
  for (const MessagePattern& pattern : order) {
    if (effort.stop && effort.stop()) {
      effort.leave_out(pattern.name());
      continue;
    }
    effort.begin(options.budget);
    if (effort.progress) effort.progress(pattern.name());
    const bool overlap = pattern.shape == PatternShape::kOverlap;
    options.max_bytes = runner.longest(pattern.shape);
    options.lengths.clear();
    if (level && !overlap) options.lengths = lengths_of(effort.lengths, *level, pattern.name());
    options.refine = effort.adaptive_patterns && pattern.shape == PatternShape::kPingPong;
    options.only = options.refine ? std::set<size_t>{} : lengths_of(options.max_bytes);
    take_listed(options, effort);
    if (overlap && !alone.empty()) {
      options.only.clear();
      for (const auto& [bytes, timing] : alone) options.only.insert(bytes);
    }
    tell_left_out(options, effort, pattern.name());
    const Timings timings = sweep(
        [&](size_t bytes, int steps) {
          return runner.run({pattern, steps, bytes, overlap ? alone[bytes].min : 0});
        },
        options);
    if (pattern == MessagePattern{PatternShape::kHeadToHead, PatternMode::kNonblocking, false})
      alone = timings;
    all.push_back({pattern.name(), timings});
  }
  runner.release();
  return all;
}

}  // namespace rubato
