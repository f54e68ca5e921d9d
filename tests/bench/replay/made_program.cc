#include "made_program.h"

#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "replay/archive/host_definitions.h"
#include "replay/trace/mpi_calls.h"

using namespace rubato;

namespace {

enum Name : uint16_t { kInit, kIrecv, kIsend, kWaitall, kAllreduce, kFinalize, kOutside };
constexpr const char* kNames[] = {"MPI_Init",           "MPI_Irecv",     "MPI_Isend",
                                  "MPI_Waitall",        "MPI_Allreduce", "MPI_Finalize",
                                  "(outside MPI calls)"};
constexpr uint32_t kNeighbours = 6;
constexpr int kSteps = 7;
constexpr double kStep = 1000000;  ///< ticks (ns) from one step to the next
constexpr uint64_t kBytes = 8192;  ///< of a message

/// The ranks beside a rank on a periodic grid: -x, +x, -y, +y, -z, +z.
class Grid {
 public:
  explicit Grid(int ranks) {
    for (int i = 0; (1 << i) < ranks; ++i) size_[i % 3] *= 2;
  }
  std::array<int32_t, kNeighbours> neighbours(int rank) const {
    const std::array<int, 3> at = {rank % size_[0], rank / size_[0] % size_[1],
                                   rank / (size_[0] * size_[1])};
    std::array<int32_t, kNeighbours> found{};
    for (uint32_t i = 0; i < kNeighbours; ++i) {
      std::array<int, 3> to = at;
      const uint32_t d = i / 2;
      to[d] = (at[d] + (i % 2 == 1 ? 1 : size_[d] - 1)) % size_[d];
      found[i] = to[0] + size_[0] * (to[1] + size_[1] * to[2]);
    }
    return found;
  }

 private:
  std::array<int, 3> size_ = {1, 1, 1};
};

/// The part of a step after the messages, for all ranks.
std::shared_ptr<const CommonActions> wait_and_reduce() {
  CommonActions common;
  for (uint32_t i = 0; i < 2 * kNeighbours; ++i) {
    Action& action = common.actions.emplace_back();
    action.kind = i < kNeighbours ? ActionKind::kWaitReceive : ActionKind::kWaitSend;
    action.request.slot = i;
    action.request.bytes = i < kNeighbours ? kBytes : 0;
  }
  Action& reduce = common.actions.emplace_back();
  reduce.kind = ActionKind::kCollective;
  reduce.op = CollectiveOp::kAllreduce;
  CollectiveAction sums;
  sums.root = kNoRoot;
  sums.sent = sums.received = 8;
  reduce.collective = sums;
  common.traffic.resize(common.actions.size());
  common.traffic[0] = {0, kNeighbours * kBytes};
  return std::make_shared<const CommonActions>(std::move(common));
}

class MadeProgram : public EventSource {
 public:
  MadeProgram(int ranks, Team* team) : grid_(ranks), common_(wait_and_reduce()), next_(ranks) {
    if (team) {
      const auto made = [ranks] { return Archive{"", define(ranks), {}}; };
      trace_ = read_once_per_host(*team, made).definitions;
    } else {
      trace_ = define(ranks);
    }
  }

  static TraceDefinitions define(int ranks) {
    TraceDefinitions trace;
    trace.path = "generated program";
    std::vector<uint64_t> locations(ranks);
    std::iota(locations.begin(), locations.end(), uint64_t{0});
    trace.location_of_rank = std::move(locations);
    std::vector<int> numbers(ranks);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<std::string> names;
    for (const int node : numbers) names.push_back(std::to_string(node));
    trace.nodes = FixedTexts(names);
    trace.node_of_rank = numbers;
    trace.comms.emplace_back().name = "MPI_COMM_WORLD";
    trace.comms[0].set_members(std::move(numbers));
    trace.world = 0;
    trace.one_clock = true;
    for (const char* name : kNames) trace.calls.push_back(mpi_call_info(name));
    return trace;
  }

  const TraceDefinitions& definitions() const override { return trace_; }
  bool looks_at_posts() const override { return false; }
  std::vector<double> side_records(const SideLocation&) override { return {}; }
  void keep_records(bool) override {}
  void rewind() override { std::fill(next_.begin(), next_.end(), uint8_t{0}); }
  Counts counts() const override { return {}; }

  bool read(int rank, Block& block) override {
    const int step = next_[rank];
    if (step == kSteps + 2) return false;
    ++next_[rank];
    block.calls.clear();
    if (step == 0) {
      add(block, CallRole::kBegin, kOutside, 0, 0);
      add(block, CallRole::kInit, kInit, 0, 1000);
    } else if (step <= kSteps) {
      make_step(rank, step, block);
    } else {
      add(block, CallRole::kFinalize, kFinalize, step * kStep, step * kStep + 1000);
      add(block, CallRole::kEnd, kOutside, step * kStep + 1000, step * kStep + 1000);
    }
    return true;
  }

 private:
  static Call& add(Block& block, CallRole role, Name name, double enter, double leave) {
    Call& call = block.calls.emplace_back();
    call.role = role;
    call.name = name;
    call.enter = enter;
    call.leave = leave;
    call.event = block.calls.size();
    call.first_request = kNoRequests;
    return call;
  }

  void make_step(int rank, int step, Block& block) const {
    block.shared = static_cast<uint64_t>(rank) + 1;
    if (block.actions.empty()) make_messages(rank, block);
    double time = step * kStep + compute(rank, step);
    for (uint32_t i = 0; i < 2 * kNeighbours; ++i) {
      Call& call = add(block, CallRole::kMpi, i < kNeighbours ? kIrecv : kIsend, time, time + 200);
      call.actions = 1;
      call.first_action = i | kStartsMessage;
      time += 300;
    }
    Call& wait = add(block, CallRole::kMpi, kWaitall, time, step * kStep + 200000);
    wait.actions = 2 * kNeighbours;
    wait.first_action = kCommonActions | kOnlyWaits;
    Call& reduce = add(block, CallRole::kMpi, kAllreduce, wait.leave + 100 + compute(step, rank),
                       step * kStep + 800000);
    reduce.actions = 1;
    reduce.first_action = 2 * kNeighbours | kCommonActions;
  }

  void make_messages(int rank, Block& block) const {
    const auto neighbours = grid_.neighbours(rank);
    block.common = common_;
    for (uint32_t i = 0; i < 2 * kNeighbours; ++i) {
      Action& action = block.actions.emplace_back();
      const bool posts = i < kNeighbours;
      const uint32_t to = i % kNeighbours;
      action.kind = posts ? ActionKind::kPost : ActionKind::kSend;
      // Messages from -x were sent to +x.
      action.message = {neighbours[to], i, kBytes, posts ? to ^ 1U : to, 0};
    }
  }

  /// Ticks, below 100,000.
  static double compute(int a, int b) {
    uint64_t x = (static_cast<uint64_t>(a) << 32 | static_cast<uint64_t>(b)) + 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return static_cast<double>((x ^ x >> 31) % 100000);
  }

  TraceDefinitions trace_;
  Grid grid_;
  std::shared_ptr<const CommonActions> common_;
  std::vector<uint8_t> next_;  ///< by rank, the block to be read
};

}  // namespace

std::unique_ptr<EventSource> made_program(int ranks, Team* team) {
  return std::make_unique<MadeProgram>(ranks, team);
}
