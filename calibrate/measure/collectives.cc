// Algorithm 2 of ReproMPI inside one launch: all experiments (a collective, a number of processes,
// a payload) in random order, each repeated until it is certain enough.
#include "calibrate/measure/collectives.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "calibrate/measure/collective_call.h"
#include "calibrate/measure/presence.h"
#include "calibrate/measure/sync_limit.h"
#include "calibrate/plan/collective_plan.h"

namespace rubato {
namespace {

// Seconds for all experiments of all operations together, for any number of processes. If ranks
// share cores, each call takes milliseconds, and the least number of repetitions exceeds the
// budget; at kOverrun times the budget the remaining experiments are left out: any of them, since
// their order is random.
constexpr double kBudget = 45, kQuickBudget = 5;
constexpr double kOverrun = 6;
constexpr size_t kMostMemory = 64 << 20;  // bytes of a rank's buffers
constexpr int kMostForLimits = 8;         // processes in the communicator of the sync limits
constexpr size_t kMostForLimitsBytes = 1 << 20;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kAdjustEvery = 1;  // seconds between two adjustments of the clocks

/// A communicator with a number of processes; null on other ranks.
struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  int processes = 0;
  Level level = Level::kNode;
};

struct Experiment {
  CollectiveOp op;
  const Team* team;
  size_t bytes;
};

/// A communicator of each number of processes; rank 0 is the root of each.
std::vector<Team> make_teams(MPI_Comm world) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  const std::vector<int> nodes = nodes_of_ranks(world);
  const std::vector<int> order = across_nodes(nodes);
  const int place = static_cast<int>(std::find(order.begin(), order.end(), rank) - order.begin());
  std::vector<Team> teams;
  for (const int processes : process_counts(static_cast<int>(order.size()))) {
    Team team;
    team.processes = processes;
    MPI_Comm_split(world, place < processes ? 0 : MPI_UNDEFINED, place, &team.comm);
    const bool one_node = std::all_of(order.begin(), order.begin() + processes, [&](int member) {
      return nodes[static_cast<size_t>(member)] == nodes[0];
    });
    team.level = one_node ? Level::kNode : Level::kNetwork;
    teams.push_back(team);
  }
  return teams;
}

std::vector<Experiment> make_experiments(const std::vector<Team>& teams,
                                         const CollectivesEffort& effort) {
  std::vector<Experiment> experiments;
  const std::vector<size_t> lengths = effort.lengths.empty()
                                          ? collective_lengths(effort.max_bytes, effort.pace.quick)
                                          : effort.lengths;
  for (const Team& team : teams) {
    for (const CollectiveOp op : effort.operations) {
      if (op == CollectiveOp::kBarrier) {
        experiments.push_back({op, &team, 0});
        continue;
      }
      for (const size_t bytes : lengths) {
        if (CollectiveCall::memory(op, team.processes, bytes) > kMostMemory) continue;
        experiments.push_back({op, &team, bytes});
      }
    }
  }
  std::mt19937 random(effort.seed);  // all ranks make the same order
  std::shuffle(experiments.begin(), experiments.end(), random);
  return experiments;
}

TimingOptions timing_options(const CollectivesEffort& effort, size_t experiments) {
  TimingOptions options;
  options.sync = effort.sync;
  options.window = effort.window;
  options.tukey_factor = effort.tukey_factor;
  options.budget = collectives_seconds(effort) / static_cast<double>(experiments);
  // SKaMPI's rule and MPIBlib's: both concern the mean.
  options.rule.least = 10;
  const int most = effort.pace.quick ? 200 : 1000;
  options.rule.most = effort.repetitions > 0 ? effort.repetitions : effort.pace.times(most, most);
  options.rule.least = std::min(options.rule.least, options.rule.most);
  options.rule.relative_standard_error = effort.pace.quick ? 0.02 : 0.01;
  options.rule.relative_interval = effort.pace.quick ? 0.05 : 0.025;
  return options;
}

/// By operation, processes and payload, as tables have them.
void sort_samples(std::vector<CollectiveSample>& samples) {
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.op, a.processes, a.bytes) < std::tuple(b.op, b.processes, b.bytes);
  });
}

/// One run over all experiments.
class Run {
 public:
  Run(MPI_Comm world, const CollectivesEffort& effort)
      : world_(world), effort_(effort), clock_(world, effort.clock) {
    MPI_Comm_rank(world, &rank_);
    results_.sync = effort.sync;
    results_.tukey_factor = effort.tukey_factor;
    last_adjusted_ = clock_.now();
  }

  /// The next experiment, broadcast by rank 0; -1 if it proposes none, got a signal to stop, or
  /// now() is past `end`. Sleeps until all ranks are here.
  int next(int proposal, double end) {
    sleep_until_all_are_here(world_);
    const double now = clock_.now();
    const bool stopped = (effort_.stop && effort_.stop()) || now >= end;
    int order[2] = {stopped ? -1 : proposal, now - last_adjusted_ > kAdjustEvery};
    MPI_Bcast(order, 2, MPI_INT, 0, world_);
    if (order[1] && !clock_.one_clock()) clock_.adjust();
    if (order[1]) last_adjusted_ = now;
    return order[0];
  }

  void tell(const std::string& text) const {
    if (rank_ == 0 && effort_.progress) effort_.progress("collectives: " + text);
  }

  /// Adds observations to an experiment. On rank 0, experiments that are not certain enough are
  /// remembered.
  void measure(const std::vector<Experiment>& experiments, int index,
               const TimingOptions& options) {
    const Experiment& experiment = experiments[static_cast<size_t>(index)];
    const Team& team = *experiment.team;
    if (team.comm == MPI_COMM_NULL) return;
    CollectiveCall call(team.comm, experiment.op, experiment.bytes, effort_.cold_bytes);
    const CollectiveTiming timing = time_collective(
        team.comm, [&] { call(); }, options, clock_);
    if (rank_ != 0) return;
    CollectiveSample& sample = samples_[index];
    sample.op = experiment.op;
    sample.processes = team.processes;
    sample.level = team.level;
    sample.bytes = experiment.bytes;
    CollectiveTiming& all = sample.timing;
    all.local.insert(all.local.end(), timing.local.begin(), timing.local.end());
    all.global.insert(all.global.end(), timing.global.begin(), timing.global.end());
    all.ended.insert(all.ended.end(), timing.ended.begin(), timing.ended.end());
    all.late += timing.late;
    const bool windows = options.sync == ProcessSync::kWindow;
    const std::vector<double>& times = windows ? all.global : all.local;
    const size_t made = times.size() + static_cast<size_t>(all.late);
    const bool may_go_on =
        effort_.repetitions == 0 || made < static_cast<size_t>(effort_.repetitions);
    if (may_go_on && stop_measuring(without_outliers(times, options.tukey_factor), options.rule) ==
                         Stop::kNotYet)
      uncertain_.push_back(index);
  }

  /// On rank 0: the experiment that has waited longest for more observations, or -1.
  int take_uncertain() {
    if (uncertain_.empty()) return -1;
    const int index = uncertain_.front();
    uncertain_.pop_front();
    return index;
  }

  void find_limit(CollectiveOp op, const Team& team) {
    if (team.comm == MPI_COMM_NULL) return;
    const auto limit =
        find_sync_limit(team.comm, op, std::min(effort_.max_bytes, kMostForLimitsBytes), clock_);
    if (rank_ == 0) results_.limits.push_back({op, team.processes, team.level, limit});
  }

  /// The results, given the number of all experiments.
  CollectiveResults results(size_t experiments) {
    for (auto& [index, sample] : samples_) {
      if (!sample.timing.local.empty()) results_.samples.push_back(std::move(sample));
    }
    results_.skipped = static_cast<int>(experiments - results_.samples.size());
    sort_samples(results_.samples);
    return std::move(results_);
  }

 private:
  CollectiveResults results_;
  std::map<int, CollectiveSample> samples_;  ///< by experiment
  std::deque<int> uncertain_;
  MPI_Comm world_;
  const CollectivesEffort& effort_;
  GlobalClock clock_;
  int rank_ = 0;
  double last_adjusted_ = 0;
};

}  // namespace

double collectives_seconds(const CollectivesEffort& effort) {
  const double share = static_cast<double>(effort.operations.size()) /
                       static_cast<double>(measured_collectives().size());
  return effort.pace.seconds(kQuickBudget, kBudget) * share;
}

size_t collectives_memory(const CollectivesEffort& effort, size_t max_bytes, int ranks) {
  if (effort.operations.empty()) return 0;
  // Two buffers, in which each of the ranks has a payload.
  size_t longest = std::min(max_bytes, kMostForLimitsBytes);
  for (const size_t bytes : effort.lengths) longest = std::max(longest, bytes);
  return std::min(kMostMemory, 2 * static_cast<size_t>(ranks) * longest);
}

CollectiveResults measure_collectives(MPI_Comm world, const CollectivesEffort& effort) {
  if (effort.operations.empty()) return {};
  Run run(world, effort);
  std::vector<Team> teams = make_teams(world);
  const std::vector<Experiment> experiments = make_experiments(teams, effort);
  const TimingOptions options = timing_options(effort, experiments.size());

  // A quick run ends in time on a slow network, too.
  const double begin_limits = now();
  const double limits_until =
      effort.pace.in_time ? begin_limits + collectives_seconds(effort) : kNever;
  int limits = 0;
  for (const CollectiveOp op : effort.operations) {
    if (!is_rooted(op)) continue;
    const auto team = std::find_if(teams.rbegin(), teams.rend(),
                                   [](const Team& one) { return one.processes <= kMostForLimits; });
    run.tell("sync limit, " + name_of(op));
    if (run.next(0, limits_until) < 0) break;
    ++limits;
    run.find_limit(op, *team);
  }
  const double begin = now();
  const double budget = collectives_seconds(effort);
  const int count = static_cast<int>(experiments.size());
  for (int i = 0; i < count; ++i) {
    const double left = (now() - begin) / std::max(1, i) * (count - i);
    run.tell("experiment " + std::to_string(i + 1) + " of " + std::to_string(count) +
             (i > 20 ? ", about " + std::to_string(static_cast<int>(left)) + " s left" : ""));
    if (run.next(i, begin + kOverrun * budget) < 0) break;
    run.measure(experiments, i, options);
  }
  // The rest of the time goes to disturbed experiments.
  for (;;) {
    run.tell("repeating uncertain experiments");
    const int index = run.next(run.take_uncertain(), begin + budget);
    if (index < 0) break;
    run.measure(experiments, index, options);
  }
  sleep_until_all_are_here(world);
  for (Team& team : teams) {
    if (team.comm != MPI_COMM_NULL) MPI_Comm_free(&team.comm);
  }
  CollectiveResults results = run.results(experiments.size());
  results.limits_skipped = static_cast<int>(std::count_if(effort.operations.begin(),
                                                          effort.operations.end(), is_rooted)) -
                           limits;
  return results;
}

}  // namespace rubato
