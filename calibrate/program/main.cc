// rubato-calibrate-<MPI>: measures the costs of messages and writes the samples. Rank 0 then runs
// `rubato fit`, which makes a platform file of them.
//
// `rubato calibrate` starts it on every rank, with checked options. Rank 0 and one partner per
// level communicate (characterise.cc). All other ranks sleep: real programs have them too, and a
// library that polls more peers is slower.
#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/clock/message_memory.h"
#include "calibrate/clock/noise.h"
#include "calibrate/measure/characterise.h"
#include "calibrate/measure/collectives.h"
#include "calibrate/measure/load.h"
#include "calibrate/measure/patterns.h"
#include "calibrate/measure/presence.h"
#include "calibrate/measure/sharing.h"
#include "calibrate/plan/level_tasks.h"
#include "calibrate/plan/quick_plan.h"
#include "calibrate/plan/time_plan.h"
#include "calibrate/program/machine.h"
#include "calibrate/program/memory_left.h"
#include "calibrate/program/options.h"
#include "calibrate/program/provenance.h"
#include "calibrate/program/sample_rows.h"
#include "calibrate/program/sample_writer.h"
#include "calibrate/program/terminal.h"
#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "models/base/units.h"

namespace rubato {
namespace {

volatile std::sig_atomic_t interrupted = 0;
extern "C" void on_signal(int) {
  interrupted = 1;
}

/// False on all ranks once rank 0 got a signal to stop: the launcher may give it little time to
/// write its results. Collective.
bool goes_on() {
  int stop = interrupted;
  MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return stop == 0;
}

/// A short text of each rank, on rank 0.
std::vector<std::string> gather_texts(const std::string& own, int ranks) {
  constexpr size_t kLongest = 256;
  std::array<char, kLongest> mine{};
  own.copy(mine.data(), kLongest - 1);
  std::vector<char> all(static_cast<size_t>(ranks) * kLongest);
  MPI_Gather(mine.data(), kLongest, MPI_CHAR, all.data(), kLongest, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (int r = 0; r < ranks; ++r) texts.emplace_back(&all[static_cast<size_t>(r) * kLongest]);
  return texts;
}

std::string own_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return name.data();
}

/// Memory needs of this rank. `walked`: the result of cold_buffer_of_all().
MemoryNeeds own_needs(const Options& options, const std::vector<LevelTask>& tasks, int rank,
                      int ranks, size_t walked) {
  MemoryNeeds needs;
  needs.max_bytes = options.max_bytes;
  const bool in_a_pair =
      rank == 0 || std::any_of(tasks.begin(), tasks.end(),
                               [&](const auto& task) { return task.partner == rank; });
  const bool cold = std::any_of(
      options.patterns.begin(), options.patterns.end(),
      [&](const MessagePattern& p) { return p.cold && (in_a_pair || !p.between_two()); });
  if (cold || options.cold_collectives) needs.cold_bytes = walked;
  if (rank == 0) needs.copied_bytes = std::max(walked, options.max_bytes);
  needs.collectives = collectives_memory(options.collectives, options.max_bytes, ranks);
  return needs;
}

/// Why the messages do not fit into the memory of some node, on rank 0; "" if they do. Collective.
std::string lack_of_memory(const Options& options, const Placement& places, size_t walked) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int ranks = places.ranks();
  const std::vector<LevelTask> tasks = tasks_asked_for(places, options.levels);
  const unsigned long long own[2] = {memory_of_rank(own_needs(options, tasks, rank, ranks, walked)),
                                     memory_left()};
  std::vector<std::array<unsigned long long, 2>> all(static_cast<size_t>(ranks));
  MPI_Gather(own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
  const std::vector<std::string> hosts = gather_texts(own_host(), ranks);
  if (rank != 0) return "";
  std::map<int, NodeMemory> memory;  // by node
  for (size_t r = 0; r < all.size(); ++r) {
    NodeMemory& node = memory[places.node_of(static_cast<int>(r))];
    node.left = node.ranks == 0 ? all[r][1] : std::min(node.left, all[r][1]);
    node.each = std::max(node.each, all[r][0]);
    node.all += all[r][0];
    ++node.ranks;
  }
  for (const auto& [first_rank, node] : memory) {
    if (!node.is_enough())
      return complain_of_memory(node, options.max_bytes, hosts[static_cast<size_t>(first_rank)]);
  }
  return "";
}

/// The experimental factors of this run, on rank 0; collective.
Provenance gather_factors(const Options& options, int ranks, size_t cold_bytes) {
  Provenance factors = local_factors();
  factors["hosts"] = host_list(gather_texts(own_host(), ranks));
  const std::string pinned = pinning(gather_texts(own_processors(), ranks));
  if (!pinned.empty()) factors["pinning"] = pinned;
  factors["ranks"] = std::to_string(ranks);
  factors["cache"] =
      fmt::format("warm; _cold patterns walk through {}, the largest cache has {}",
                  format_bytes(2. * static_cast<double>(cold_bytes)),
                  format_bytes(static_cast<double>(largest_cache_of_all(MPI_COMM_WORLD))));
  factors["time"] = name_of(options.of_loops);
  factors["seed"] = std::to_string(options.seed);
  factors["command"] = options.command;
  return factors;
}

/// Shows the progress on a terminal, ten times a second at most; nothing in a pipe. Called by rank
/// 0. An empty text clears the line.
void show_progress(const std::string& text) {
  static const int terminal = watched_terminal();
  static double last = 0;
  if (terminal < 0 || (!text.empty() && now() - last < 0.1)) return;
  last = now();
  dprintf(terminal, "\r\033[K%s", text.c_str());
}

/// Default time of all parts, seconds.
double planned_seconds(const Options& options, const std::vector<LevelTask>& tasks,
                       const Placement& places) {
  const Pace pace{options.quick};
  double planned = collectives_seconds(options.collectives) + memory_seconds(pace);
  int between_levels = 0;
  for (const LevelTask& task : tasks) {
    planned += planned_seconds(task.level, pace);
    if (task.level == Level::kSelf) continue;
    if (task.level == Level::kNetwork) planned += sharing_seconds(pace, places);
    ++between_levels;
    planned += load_series(task.pairs.size()) * pattern_seconds(pace);
  }
  for (const MessagePattern& pattern : options.patterns)
    planned += (pattern.between_two() ? between_levels : 1) * pattern_seconds(pace);
  return planned;
}

/// The measurements of rank 0 and their files.
struct Kept {
  std::unique_ptr<SampleWriter> csv;
  std::unique_ptr<SampleWriter> raw;  ///< single observations, if requested
  double start = now();               ///< origin of their times
  bool any = false;                   ///< some message was timed
  bool curve = false;                 ///< a level has the lengths that a curve needs
  bool full = false;                  ///< the file could not be written

  /// The place of the samples of a failed run, for its error message; empty if there are none.
  std::string place() const {
    if (!csv || csv->kept().empty()) return "";
    return "; what messages took before that is in " + csv->kept();
  }
};

/// A disk that is full now may have space at the end, so the run continues.
void add_rows(SampleWriter& file, const std::string& rows, Kept& kept) {
  try {
    file.add(rows);
  } catch (const InputError& error) {
    if (!kept.full) std::fprintf(stderr, "rubato: warning: %s; tried again later\n", error.what());
    kept.full = true;
  }
}

void keep(const LevelSeries& measured, int launch, Kept& kept) {
  constexpr size_t kLeastLengths = 3;
  for (const Series& series : measured.series) {
    const bool transfer = series.pattern == "pingpong" || series.pattern == "sendrecv";
    kept.any |= !series.timings.empty();
    kept.curve |= transfer && series.timings.size() >= kLeastLengths;
  }
  const std::string rows = rows_of(measured, launch);
  if (!rows.empty()) add_rows(*kept.csv, rows, kept);
  if (!kept.raw) return;
  const std::string observations = raw_rows_of(measured, launch, kept.start);
  if (!observations.empty()) add_rows(*kept.raw, observations, kept);
}

/// True if the messages fit and rank 0 could open its files; otherwise rank 0 prints an error.
bool open_files(int rank, const Options& options, const Placement& places, Kept& kept,
                Effort& effort) {
  int fine = 1;
  effort.cold_bytes =
      options.cold_bytes > 0 ? options.cold_bytes : cold_buffer_of_all(MPI_COMM_WORLD, places);
  const std::string lack = lack_of_memory(options, places, effort.cold_bytes);
  if (rank == 0) {
    try {
      if (!lack.empty()) throw InputError(lack);
      if (!options.lengths.empty()) effort.lengths = read_length_list(options.lengths);
      if (!options.partners.empty())
        effort.partners = read_partner_list(options.partners, places.ranks());
      if (!options.then.empty()) refuse_unwritable(options.toml, options.force);
      if (!options.html.empty()) refuse_unwritable(options.html, true);
      kept.csv = std::make_unique<SampleWriter>(options.csv, options.force);
      if (!options.raw.empty())
        kept.raw = std::make_unique<SampleWriter>(options.raw, options.force, Rows::kObservations);
    } catch (const InputError& error) {
      std::fprintf(stderr, "rubato: error: %s\n", error.what());
      fine = 0;
    }
  }
  MPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return fine;
}

/// Rank 0 measures with one partner, the others sleep.
void run_task(int rank, const LevelTask& task, const Effort& effort) {
  if (rank == 0 || rank == task.partner) {
    Pair pair(MPI_COMM_WORLD, rank == 0 ? task.partner : 0, effort.max_bytes);
    if (rank == 0) {
      if (!effort.stop())
        characterise(pair, task.level, task.partner, effort);
      else
        effort.leave_out(kLevelNames[static_cast<int>(task.level)]);
      if (task.partner != 0) pair.release();
    } else {
      pair.serve();
    }
  }
  sleep_until_all_are_here(MPI_COMM_WORLD);
}

/// The patterns between two ranks, for each level, and then those of all ranks, on the level
/// `widest` of the most distant ones, if that is measured.
void run_patterns(int rank, const std::vector<LevelTask>& tasks, Level widest,
                  const std::vector<MessagePattern>& patterns, const Effort& effort) {
  std::vector<MessagePattern> pairs, all;
  for (const MessagePattern& pattern : patterns)
    (pattern.between_two() ? pairs : all).push_back(pattern);
  for (const LevelTask& task : tasks) {
    if (task.level == Level::kSelf) continue;
    const bool talks = rank == 0 || rank == task.partner;
    MPI_Comm two;
    MPI_Comm_split(MPI_COMM_WORLD, talks ? 0 : MPI_UNDEFINED, rank, &two);
    if (talks) {
      effort.keep({task.level, measure_patterns(two, pairs, task.level, effort)});
      MPI_Comm_free(&two);
    }
    sleep_until_all_are_here(MPI_COMM_WORLD);
  }
  if (std::any_of(tasks.begin(), tasks.end(),
                  [&](const LevelTask& task) { return task.level == widest; }))
    effort.keep({widest, measure_patterns(MPI_COMM_WORLD, all, widest, effort)});
}

/// Measures disturbances of the ranks by each other, and by the system; returns the latter on rank
/// 0.
std::string run_machine(int rank, const Placement& places, const std::vector<LevelTask>& tasks,
                        const Effort& effort) {
  const auto wait = [] { sleep_until_all_are_here(MPI_COMM_WORLD); };
  for (const LevelTask& task : tasks) {
    std::vector<Series> series;
    if (task.level == Level::kSelf) {
      if (rank == 0) series = measure_memory(effort);
      sleep_until_all_are_here(MPI_COMM_WORLD);
    } else {
      series = measure_load(task.pairs, effort, wait);
    }
    if (task.level == Level::kNetwork) {
      for (Series& shift : measure_sharing(places, effort, wait))
        series.push_back(std::move(shift));
    }
    effort.keep({task.level, std::move(series)});
  }
  // All at once, as in a program.
  NoiseSummary own = summarise_noise(fixed_work(effort));
  std::vector<NoiseSummary> noise(static_cast<size_t>(places.ranks()));
  MPI_Gather(&own, sizeof own, MPI_BYTE, noise.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
  return noise_text(noise);
}

/// Results at the end of the run, on rank 0.
struct Ending {
  std::string noise;
  std::string left_out;  ///< of a quick run, for lack of time
  CollectiveResults collectives;
};

/// Whether collectives can begin within `seconds`, decided by rank 0: on a slow network the
/// synchronisation of clocks takes long. Collective.
bool has_time_for_clocks(const Placement& places, ClockMethod method, double seconds) {
  constexpr int kBarriers = 3;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // One rank of each node: all rounds of their barrier cross the network.
  bool is_first = true;
  for (int r = 0; r < rank; ++r) is_first = is_first && places.node_of(r) != places.node_of(rank);
  MPI_Comm firsts;
  MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : MPI_UNDEFINED, rank, &firsts);
  double least = HUGE_VAL;
  for (int i = 0; is_first && i < kBarriers; ++i) {
    const double begin = now();
    MPI_Barrier(firsts);
    least = std::min(least, now() - begin);
  }
  if (is_first) MPI_Comm_free(&firsts);
  const double round_trip = places.nodes() > 1 ? round_trip_of_barrier(least, places.nodes()) : 0;
  int has = clock_seconds(places.nodes(), round_trip, method) < seconds;
  MPI_Bcast(&has, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return has;
}

/// Ranks wait for windows actively, so each needs one of the cores that the ranks of its node may
/// use. Collective.
ProcessSync sync_that_cores_allow(const Placement& places) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool known = sched_getaffinity(0, sizeof own, &own) == 0;
  std::vector<cpu_set_t> of_ranks(static_cast<size_t>(places.ranks()));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, of_ranks.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  int here = 0;
  for (int other = 0; other < places.ranks(); ++other) {
    if (places.node_of(other) != places.node_of(rank)) continue;
    ++here;
    CPU_OR(&own, &own, &of_ranks[static_cast<size_t>(other)]);
  }
  const int mine = known && here <= CPU_COUNT(&own);
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all ? ProcessSync::kWindow : ProcessSync::kBarrier;
}

/// Seconds of an agreement of all ranks. Each part begins with some, even if it is left out.
double seconds_to_agree() {
  const double begin = now();
  MPI_Comm all;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &all);
  MPI_Comm_free(&all);
  return now() - begin;
}

/// Measures everything that was requested. Collective. Errors: InputError on the rank that detects
/// it.
void measure(const Options& options, const Placement& places, Effort& effort, Ending& ending) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<LevelTask> tasks = tasks_asked_for(places, options.levels);
  shuffle_in_order_of(effort.seed, tasks);
  double planned = planned_seconds(options, tasks, places);
  double limit = time_limit(planned, options.quick);
  if (options.seconds > 0) limit = options.seconds;
  if (options.seconds > 0 || options.quick) {
    effort.pace.scale = options.seconds > 0 ? scale_for(limit, planned) : quick_scale(planned);
    planned *= effort.pace.scale;
  }
  TimePlan plan(planned, limit);
  CollectivesEffort collectives = options.collectives;
  collectives.pace = effort.pace;
  const double start = now();
  if (effort.pace.in_time) {
    // What is left out at the end takes time, too.
    constexpr double kParts = 4;  // of a level: messages, patterns, load, sharing
    const auto levels = static_cast<double>(tasks.size());
    limit -= std::min(limit / 4, kParts * levels * seconds_to_agree());
    effort.stop = [=] { return interrupted != 0 || now() - start > limit; };
  }
  effort.leave_out = [&ending](const std::string& what) {
    if (!interrupted && !what.empty())
      ending.left_out += (ending.left_out.empty() ? "" : "; ") + what;
  };
  effort.begin = [&](double budget) { return plan.begin(budget, now() - start); };
  effort.progress = [&](const std::string& what) {
    show_progress(progress_text(what, plan.left(now() - start)));
  };
  for (const LevelTask& task : tasks) run_task(rank, task, effort);
  if (!options.patterns.empty() && goes_on())
    run_patterns(rank, tasks, widest_level(places), options.patterns, effort);
  if (goes_on()) ending.noise = run_machine(rank, places, tasks, effort);
  collectives.sync = options.sync ? *options.sync : sync_that_cores_allow(places);
  collectives.max_bytes = options.max_bytes;
  collectives.seed = effort.seed;
  if (options.cold_collectives) collectives.cold_bytes = effort.cold_bytes;
  collectives.stop = effort.stop;
  collectives.progress = show_progress;
  if (effort.pace.in_time && !collectives.operations.empty() &&
      !has_time_for_clocks(places, collectives.clock, limit - (now() - start))) {
    collectives.operations.clear();
    effort.leave_out("collectives");
  }
  if (goes_on()) ending.collectives = measure_collectives(MPI_COMM_WORLD, collectives);
  if (ending.collectives.limits_skipped > 0) {
    effort.leave_out(
        fmt::format("sync_limit of {} collectives", ending.collectives.limits_skipped));
  }
}

/// Completes the file of samples. Errors: InputError if it is not usable; the samples are then in
/// Kept::place().
void finish(const Options& options, const Ending& ending, bool one_node, Kept& kept) {
  Provenance measured;
  if (interrupted) measured["interrupted"] = "yes: fewer samples than asked for";
  if (!ending.noise.empty()) measured["noise"] = ending.noise;
  const CollectiveResults& collectives = ending.collectives;
  if (!collectives.samples.empty()) {
    measured["collectives_sync"] = kProcessSyncNames[static_cast<int>(collectives.sync)];
    measured["collectives_clock"] =
        one_node ? "one for all ranks"
                 : kClockMethodNames[static_cast<int>(options.collectives.clock)];
    if (options.cold_collectives) measured["collectives_cache"] = "cold";
  }
  if (collectives.skipped > 0) {
    measured["collectives_left_out"] =
        std::to_string(collectives.skipped) + " experiments, for lack of time" +
        (options.collectives.window > 0 ? " or because the window is too short" : "");
  }
  if (!ending.left_out.empty()) measured["left_out"] = ending.left_out;
  if (!kept.curve && interrupted && !kept.any) {
    kept.csv->discard();
    if (kept.raw) kept.raw->discard();
    throw InputError("interrupted before a level was measured; nothing was written");
  }
  if (!kept.curve) {
    throw InputError(interrupted ? "interrupted before a level had the three lengths that a curve "
                                   "needs; no platform file was written"
                                 : "no level has the three lengths that a curve needs; no platform "
                                   "file was written");
  }
  kept.csv->add(rows_of(collectives, options.launch) + comments_of(measured));
  kept.csv->finish();
  if (!kept.raw) return;
  try {
    kept.raw->add(raw_rows_of(collectives, options.launch, kept.start));
    kept.raw->finish();
  } catch (const InputError& error) {
    // The platform file is made without them.
    std::fprintf(stderr, "rubato: warning: %s\n", error.what());
  }
}

/// Prints the ranks that were measured, which are not in the samples.
void print_ranks(const Options& options, const Placement& places) {
  for (const LevelTask& task : tasks_asked_for(places, options.levels)) {
    if (task.level == Level::kSelf) continue;
    fmt::print("{} level, rank 0 and rank {}\n", kLevelNames[static_cast<int>(task.level)],
               task.partner);
  }
  if (widest_level(places) != Level::kNetwork && options.levels.empty()) {
    fmt::print(
        "All ranks are on one node, so there is no network level; start ranks on two nodes for "
        "one.\n");
  }
}

/// Runs the command that makes a platform file of the samples, if there is one; returns its exit
/// code. In a process group of its own: launchers that get a signal kill their ranks a second
/// later. Errors: InputError if it cannot be started, or is killed.
int make_platform(const Options& options) {
  if (options.then.empty()) {
    fmt::print("{}: samples\n", options.csv);
    return 0;
  }
  const auto complain = [&](const std::string& reason) {
    std::string command = "rubato";
    for (size_t i = 1; i < options.then.size(); ++i) command += " " + shell_quoted(options.then[i]);
    return InputError(options.toml + " was not made of " + options.csv + ": " + reason + "; '" +
                      command + "' makes it");
  };
  std::vector<char*> words;
  for (const std::string& word : options.then) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  posix_spawnattr_t own_group;
  posix_spawnattr_init(&own_group);
  posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  std::signal(SIGCHLD, SIG_DFL);  // with SIG_IGN, waitpid() would fail
  // No fork(): networks may have registered the memory of this process.
  const int error = posix_spawn(&child, words[0], nullptr, &own_group, words.data(), environ);
  posix_spawnattr_destroy(&own_group);
  if (error) throw complain(std::string(words[0]) + " cannot be started: " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw complain(std::strerror(errno));
  }
  if (WIFSIGNALED(status)) throw complain(fmt::format("ended by signal {}", WTERMSIG(status)));
  return WEXITSTATUS(status);
}

int run(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    std::fprintf(stderr,
                 "rubato: error: calibrate needs at least 2 ranks: mpirun -n 2 rubato "
                 "calibrate ...\n");
    MPI_Finalize();
    return 1;
  }
  const Placement places = places_of_ranks(MPI_COMM_WORLD);
  if (const auto unmet = unmet_level(places, options.levels)) {
    const std::vector<std::string> hosts = gather_texts(own_host(), ranks);
    if (rank == 0)
      std::fprintf(stderr, "rubato: error: %s\n", complain_of_level(*unmet, hosts).c_str());
    MPI_Finalize();
    return rank == 0 ? 1 : 0;
  }
  Kept kept;
  Effort effort;
  if (!open_files(rank, options, places, kept, effort)) {
    MPI_Finalize();
    return rank == 0 ? 1 : 0;
  }
  // Progress goes to the launcher's terminal, which may stop background processes that write to it
  // (stty tostop).
  std::signal(SIGTTOU, SIG_IGN);
  // An interrupted run keeps what it has: rank 0 notices between two loops, the others follow.
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);

  effort.pace.quick = options.quick;
  effort.pace.in_time = options.quick && options.seconds == 0;
  effort.of_loops = options.of_loops;
  effort.max_bytes = options.max_bytes;
  effort.adaptive_patterns = options.adaptive_patterns;
  effort.loop_seconds = options.loop_seconds;
  effort.threshold = options.threshold;
  effort.separation = options.separation;
  effort.listed = options.listed;
  effort.seed = options.seed;
  effort.stop = [] { return interrupted != 0; };
  const Provenance factors = gather_factors(options, ranks, effort.cold_bytes);
  if (rank == 0) {
    kept.csv->begin(sample_header() + comments_of(factors));
    if (kept.raw) kept.raw->begin(raw_header());
    effort.keep = [&](const LevelSeries& measured) { keep(measured, options.launch, kept); };
  }
  Ending ending;
  try {
    measure(options, places, effort, ending);
  } catch (const std::bad_alloc&) {
    throw;  // main() handles it
  } catch (const std::exception& error) {
    throw InputError(error.what() + kept.place());
  }
  show_progress("");
  int exit_code = 0;
  // From here on the only collective operation is to end.
  if (rank == 0) {
    try {
      finish(options, ending, widest_level(places) != Level::kNetwork, kept);
      print_ranks(options, places);
      if (!ending.left_out.empty()) fmt::print("Left out, to end in time: {}\n", ending.left_out);
      exit_code = make_platform(options);
    } catch (const InputError& error) {
      std::fprintf(stderr, "rubato: error: %s%s\n", error.what(), kept.place().c_str());
      exit_code = 1;
    }
  }
  // MPI_Finalize polls, and with one rank coming late it may hang (MPICH 4.0 over UCX).
  sleep_until_all_are_here(MPI_COMM_WORLD);
  MPI_Finalize();
  return exit_code;
}

/// Ends a rank that cannot continue; returns the exit code. Between MPI_Init and MPI_Finalize it
/// aborts all ranks, since they would wait for this one: all exceptions that the ranks have not
/// agreed on end here.
int give_up(const char* complaint) {
  show_progress("");
  std::fprintf(stderr, "rubato: error: %s\n", complaint);
  int begun = 0;
  int over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  if (begun && !over) {
    usleep(200'000);  // MPICH's launcher may end before it has passed on the message
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 1;
}

}  // namespace
}  // namespace rubato

int main(int argc, char** argv) {
  try {
    return rubato::run(argc, argv);
  } catch (const rubato::UsageError& error) {
    std::fprintf(stderr, "rubato: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    return rubato::give_up("out of memory; choose a smaller max_size (--plan), or fewer ranks");
  } catch (const std::exception& error) {
    return rubato::give_up(error.what());
  }
}
