// Observations come in blocks, since members have to agree on whether to continue. A window holds
// the call and the preparation of the next one: as given, or three times the longest run-time of
// the previous block, and at least kLeastWindow. If a member misses the begin of its window, the
// observation is dropped for all; if that happens often, windows are too short and are doubled.
#include "calibrate/measure/collective_timing.h"

#include <algorithm>
#include <cmath>

#include "calibrate/clock/clock.h"

namespace rubato {
namespace {

constexpr int kRoot = 0;
constexpr int kFirstBlock = 4, kLargestBlock = 64;
constexpr double kLeastWindow = 20e-6, kMostWindow = 0.1;  // seconds
constexpr double kWindowFactor = 3;
constexpr double kNotice = 50e-6;  // seconds from announcing a block of windows to its first one

/// Start and end of each observation on one member.
struct Block {
  std::vector<double> start, end, late;
};

/// The root's broadcast before a block.
struct Order {
  double first_window = 0;  ///< global time
  double window = 0;
  int observations = 0;  ///< 0: finished
};

void observe(MPI_Comm comm, const std::function<void()>& call, ProcessSync sync,
             const GlobalClock& clock, const Order& order, Block& block) {
  for (int i = 0; i < order.observations; ++i) {
    bool late = false;
    if (sync == ProcessSync::kBarrier) {
      MPI_Barrier(comm);
    } else {
      const double begin = clock.own(order.first_window + i * order.window);
      late = clock.now() > begin;
      wait_until(begin);
    }
    const double start = clock.now();
    call();
    block.start.push_back(start);
    block.end.push_back(clock.now());
    block.late.push_back(late ? 1 : 0);
  }
}

/// Reduces one number per observation to the root.
std::vector<double> reduce(const std::vector<double>& own, MPI_Op op, MPI_Comm comm) {
  std::vector<double> all(own.size());
  MPI_Reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, op, kRoot, comm);
  return all;
}

/// Adds a block to the timing. Collective.
void collect(const Block& block, const GlobalClock& clock, MPI_Comm comm, bool is_root,
             CollectiveTiming& timing) {
  std::vector<double> local, start, end;
  for (size_t i = 0; i < block.start.size(); ++i) {
    local.push_back(block.end[i] - block.start[i]);
    start.push_back(clock.global(block.start[i]));
    end.push_back(clock.global(block.end[i]));
  }
  local = reduce(local, MPI_MAX, comm);
  start = reduce(start, MPI_MIN, comm);
  end = reduce(end, MPI_MAX, comm);
  const std::vector<double> late = reduce(block.late, MPI_MAX, comm);
  for (size_t i = 0; is_root && i < local.size(); ++i) {
    if (late[i] > 0) {
      ++timing.late;
      continue;
    }
    timing.local.push_back(local[i]);
    timing.global.push_back(end[i] - start[i]);
    timing.ended.push_back(end[i]);
  }
}

}  // namespace

CollectiveTiming time_collective(MPI_Comm comm, const std::function<void()>& call,
                                 const TimingOptions& options, const GlobalClock& clock) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const bool windows = options.sync == ProcessSync::kWindow;
  const double begin = clock.now();
  CollectiveTiming warm_up;
  Block warm;
  observe(comm, call, ProcessSync::kBarrier, clock, {0, 0, std::max(1, options.warm_up)}, warm);
  collect(warm, clock, comm, rank == kRoot, warm_up);

  CollectiveTiming timing;
  Order order;
  order.observations = kFirstBlock;
  if (rank == kRoot) {
    const double longest = *std::max_element(warm_up.local.begin(), warm_up.local.end());
    order.window = options.window > 0
                       ? options.window
                       : std::clamp(kWindowFactor * longest, kLeastWindow, kMostWindow);
  }
  int made = 0;
  for (;;) {
    order.first_window = clock.global(clock.now()) + kNotice;  // only the root's counts
    MPI_Bcast(&order, sizeof order, MPI_BYTE, kRoot, comm);
    if (order.observations == 0) return timing;
    const int late_before = timing.late;
    Block block;
    observe(comm, call, options.sync, clock, order, block);
    collect(block, clock, comm, rank == kRoot, timing);
    made += order.observations;
    if (rank != kRoot) continue;
    if (options.window == 0 && 2 * (timing.late - late_before) > order.observations) {
      order.window = std::min(2 * order.window, kMostWindow);
    }
    const std::vector<double>& times = windows ? timing.global : timing.local;
    const bool settled = stop_measuring(without_outliers(times, options.tukey_factor),
                                        options.rule) == Stop::kSettled;
    const bool at_limit = made >= options.rule.most;
    const double passed = clock.now() - begin;
    const bool out_of_time = passed >= options.budget;
    const int fitting = static_cast<int>(std::min(1e6, (options.budget - passed) / passed * made));
    order.observations = settled || at_limit || out_of_time
                             ? 0
                             : std::clamp(std::min(fitting, options.rule.most - made), 1,
                                          std::min(2 * order.observations, kLargestBlock));
  }
}

}  // namespace rubato
