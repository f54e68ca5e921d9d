#include "tools/report/scenario_pictures.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "replay/analyse/place_summary.h"
#include "replay/analyse/timeline_picture.h"
#include "replay/analyse/timeline_pieces.h"
#include "replay/cluster/processors.h"
#include "replay/judge/efficiency.h"
#include "replay/study/run_replay.h"
#include "tools/options/scenario_options.h"
#include "tools/tables/cause_tables.h"
#include "tools/tables/packed_timeline.h"

namespace rubato {
namespace {

constexpr size_t kBytesPerPart = 4;  // at least
constexpr size_t kBytesPerMessage = 11;

/// Bytes for the details of each of `pictures` timelines: what a page of 5 MB has left beside its
/// program, the cells, and the numbers of each rank.
size_t detail_bytes(const Results& results, size_t pictures) {
  constexpr double kPage = 4200000, kLeast = 400000, kBytesPerNumber = 9;
  const double numbers = static_cast<double>(results.trace.ranks) *
                         (static_cast<double>(results.calls.size()) + 10) * kBytesPerNumber;
  const auto count = static_cast<double>(pictures);
  const double left = kPage - count * static_cast<double>(kPictureCells) -
                      static_cast<double>(results.scenarios.size()) * numbers;
  return static_cast<size_t>(std::max(left, kLeast) / count);
}

bool can_be_drawn(const ScenarioResult& result) {
  return result.deadlock.empty() && result.elapsed > 0;
}

/// The functions with the most compute in total: "solve (app.c:41)".
std::vector<std::string> coloured_functions(const Results& results) {
  std::vector<std::pair<double, std::string>> functions;
  for (const FunctionResult& function : results.functions) {
    const double all = std::accumulate(function.compute.begin(), function.compute.end(), 0.0);
    if (all > 0) functions.emplace_back(-all, function.place);
  }
  std::sort(functions.begin(), functions.end());
  std::vector<std::string> names;
  for (const auto& [compute, place] : functions) {
    if (static_cast<int>(names.size()) == kColouredFunctions) break;
    if (std::find(names.begin(), names.end(), place) == names.end()) names.push_back(place);
  }
  return names;
}

}  // namespace

std::vector<size_t> choose_pictures(const Roles& roles) {
  const std::vector<ScenarioResult>& scenarios = roles.results->scenarios;
  std::vector<size_t> chosen;
  for (const bool needed : {true, false}) {
    for (size_t i = 0; i < scenarios.size(); ++i) {
      const ScenarioResult* const scenario = &scenarios[i];
      const bool is_needed = scenario == roles.reference || scenario == roles.perfect;
      if (can_be_drawn(*scenario) && is_needed == needed && chosen.size() < kMostPictures)
        chosen.push_back(i);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

namespace {

/// Draws scenario `number`, with compute in `functions` in their own colours, in about `bytes`.
ScenarioPicture draw(EventSource& source, const std::vector<Scenario>& scenarios,
                     const Results& results, ReplayOptions options, size_t number,
                     const std::vector<std::string>& functions, size_t bytes) {
  const TraceDefinitions& trace = source.definitions();
  options.wait_states = true;
  options.verify = false;
  options.total_functions = false;
  std::vector<int> number_of_function;
  for (const FunctionName& function : source.functions()) {
    const auto found = std::find(functions.begin(), functions.end(), function.place());
    number_of_function.push_back(
        found == functions.end() ? -1 : static_cast<int>(found - functions.begin()));
  }
  const Scenario& scenario = scenarios[number];
  const ScenarioResult& result = results.scenarios[number];
  const KeptLosses kept = kept_losses(scenario, options.keep_stolen);
  const double begin = result.start * trace.ticks_per_second;
  const double elapsed = result.elapsed * trace.ticks_per_second;
  TimelinePicture picture(trace, begin, elapsed, kPictureCells, kept);
  picture.know_places(source, number_of_function);
  TimelinePieces pieces(trace, begin, elapsed, bytes / kBytesPerPart, kept);
  pieces.know_places(source, std::move(number_of_function));
  WaitCauses causes(trace);
  CriticalPath path(trace);
  WaitPlaces places(source, kept);
  CallProfile seen(trace, kept_in(scenario, options, trace));
  LongestMessages messages(trace, bytes / kBytesPerMessage);
  WindowMarks marks = window_marks(trace, result);
  options.observers = {&picture, &pieces, &causes, &path, &places, &seen, &messages, &marks};
  const Results again = run_replay(source, {scenario}, options);
  pieces.finish();
  ScenarioPicture drawn;
  drawn.scenario = number;
  drawn.rows = picture.rows();
  drawn.columns = picture.columns();
  drawn.ranks_per_row = picture.ranks_per_row();
  drawn.functions = functions;
  drawn.sampling = sampling_of(source);
  drawn.pieces = packed_pieces(pieces, source, bytes / 10 * 7);
  size_t used = 0;
  for (const auto& line : drawn.pieces.value("lines", std::vector<std::string>{}))
    used += line.size();
  if (drawn.pieces.empty() || pieces.grain() > elapsed / picture.columns()) {
    for (const Activity activity : picture.cells())
      drawn.cells += static_cast<char>(kFirstActivity + static_cast<int>(activity));
  }
  drawn.message_unit = drawn.pieces.value("unit", result.elapsed * 1e-7);
  drawn.all_messages = messages.all();
  drawn.messages = packed_messages(messages.take(result.start, (bytes - used) / kBytesPerMessage),
                                   drawn.message_unit);
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  drawn.traffic = traffic_picture(
      profile_of(again, seen, trace, scenario.placement.place(recorded), false), kTrafficRows);
  if (again.scenarios[0].has_waits) {
    drawn.path_pieces =
        packed_path(path, begin, elapsed, drawn.message_unit * trace.ticks_per_second, bytes / 20);
    if (drawn.path_pieces.empty()) drawn.path_rows = picture.path_rows(path);
    drawn.path = path_line(cause_summary(causes, path, trace));
    drawn.places = place_summary(places, source);
  }
  if (result.from_recording && has_efficiencies_over_time(again)) {
    options.progress = nullptr;
    drawn.over_time = efficiencies_over_time(source, marks, again.scenarios[0], options);
  }
  return drawn;
}

}  // namespace

int drawing_threads(const EventSource& source, int asked) {
  constexpr uint64_t kRecords = 2000000;  // 0.1 s to read, at least 0.5 s to draw
  constexpr int kMost = 4;                // each thread holds the calls and its sums
  if (asked > 0) return asked;
  const std::vector<uint64_t> sizes = source.sizes_of_ranks();
  const bool pays = std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}) >= kRecords;
  return pays ? std::min(available_processors(), kMost) : 1;
}

std::vector<ScenarioPicture> draw_scenarios(EventSource& source,
                                            const std::vector<Scenario>& scenarios,
                                            const Results& results, const ReplayOptions& options,
                                            int threads, const OpenAgain& open_again) {
  const std::vector<size_t> chosen = choose_pictures(results);
  const std::vector<std::string> functions = coloured_functions(results);
  std::vector<ScenarioPicture> pictures(chosen.size());
  std::vector<std::atomic<double>> done(chosen.size());  // progress of each picture, 0 to 1
  std::atomic<size_t> next = 0;
  const auto draw_some = [&](EventSource& own, const std::function<void(double)>& progress) {
    for (size_t i = next++; i < chosen.size(); i = next++) {
      ReplayOptions of_picture = options;
      of_picture.progress = [&, i](double share) {
        done[i] = share;
        if (progress) progress(std::accumulate(done.begin(), done.end(), 0.0) / done.size());
      };
      pictures[i] = draw(own, scenarios, results, of_picture, chosen[i], functions,
                         detail_bytes(results, chosen.size()));
    }
  };
  // (Other jobs have one source each, which only one thread can use.)
  const size_t most = open_again && options.jobs.empty() ? static_cast<size_t>(threads) : 1;
  const size_t helpers = std::min(most, std::max<size_t>(1, chosen.size())) - 1;
  std::vector<std::exception_ptr> errors(helpers);
  const auto help = [&](size_t self) {
    try {
      if (const std::unique_ptr<EventSource> own = open_again()) draw_some(*own, {});
    } catch (...) {
      errors[self] = std::current_exception();
      next = chosen.size();  // stop the others: there will be no page
    }
  };
  {
    std::vector<std::jthread> team;
    try {
      for (size_t self = 0; self < helpers; ++self) team.emplace_back(help, self);
    } catch (const std::system_error&) {  // thread limit of this user
    }
    try {
      draw_some(source, options.progress);
    } catch (...) {
      next = chosen.size();
      throw;
    }
  }
  if (options.progress) options.progress(1);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return pictures;
}

}  // namespace rubato
