#include "replay/run/summary.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "models/platform/uncertainty.h"
#include "tracer/archive/schema.h"

namespace rubato {
namespace {

std::string property(const TraceDefinitions& trace, const char* name) {
  const auto found = trace.properties.find(name);
  return found == trace.properties.end() ? "" : found->second;
}

/// An example of the messages with a missing side; "" if there is none.
std::string describe(const Unmatched& unmatched, const TraceDefinitions& trace) {
  if (unmatched.count == 0) return "";
  const Route& message = unmatched.example;
  std::string tag = " with tag " + std::to_string(message.tag);
  if (is_among_neighbours(message.tag)) tag = ", in a neighbourhood collective";
  if (is_partitioned(message.tag))
    tag = ", partitioned, with tag " + std::to_string(message.tag - kPartitionedTag);
  return std::to_string(unmatched.example_bytes) + " bytes from rank " +
         std::to_string(message.source) + " to rank " + std::to_string(message.destination) + tag +
         " on communicator '" + trace.comms[message.comm].name + "', at " +
         std::to_string(unmatched.example_time() / trace.ticks_per_second) + " s";
}

/// True when there was a collective with no more members than a node has ranks.
bool has_collectives_in_nodes(const PlayedScenario& played, const ScenarioResult& result) {
  if (result.collectives.empty()) return false;
  const std::vector<Communicator>& comms = played.trace.comms;
  return std::any_of(comms.begin(), comms.end(), [&](const Communicator& comm) {
    Level widest = Level::kSelf;
    for (int local = 1; local < comm.size(); ++local)
      widest = std::max(widest, played.placement.level(comm.members[0], comm.members[local]));
    return widest == Level::kNode &&
           std::any_of(result.collectives.begin(), result.collectives.end(),
                       [&](const CollectiveUse& use) { return use.members == comm.size(); });
  });
}

SocketsUnused unused_sockets(const PlayedScenario& played, const ScenarioResult& result) {
  const Scenario& scenario = played.scenario;
  if (!scenario.platform.level(Level::kSocket))
    return scenario.placement.sockets > 0 ? SocketsUnused::kNotPriced : SocketsUnused::kNo;
  if (played.placement.knows_sockets()) return SocketsUnused::kNo;
  const bool would_be_used = played.outcome.level_messages[static_cast<int>(Level::kNode)] > 0 ||
                             has_collectives_in_nodes(played, result);
  if (!would_be_used) return SocketsUnused::kNo;
  return scenario.placement.kind == PlacementRule::Kind::kRecorded ? SocketsUnused::kNotRecorded
                                                                   : SocketsUnused::kNotPlaced;
}

/// True when the scenario changes levels, and one of them is not used in the run.
bool changes_nothing(const Scenario& scenario, const ReplayOutcome& outcome) {
  uint64_t touched = 0;
  bool changed = false;
  for (int level = 0; level < kLevels; ++level) {
    changed = changed || scenario.changed_levels[level];
    const Level priced_as = scenario.platform.priced_as(static_cast<Level>(level));
    if (scenario.changed_levels[static_cast<int>(priced_as)])
      touched += outcome.level_messages[level];
  }
  return changed && touched == 0 && outcome.collectives == 0;
}

/// Levels of messages that the platform lacks, with the level whose costs are used. If the platform
/// has no sockets, level node is used within sockets, too: that is no substitute.
std::vector<std::pair<Level, Level>> substitutes(const PlayedScenario& played,
                                                 const ScenarioResult& result) {
  const Scenario& scenario = played.scenario;
  std::vector<std::pair<Level, Level>> found;
  if (scenario.basis != Basis::kModel) return found;
  for (int i = 0; i < kLevels; ++i) {
    const auto level = static_cast<Level>(i);
    const Level priced_as = scenario.platform.priced_as(level);
    const bool same = priced_as == level || (level == Level::kSocket && priced_as == Level::kNode);
    const bool is_used = result.traffic[i].messages > 0 ||
                         (level == Level::kNode && has_collectives_in_nodes(played, result));
    if (is_used && !same) found.push_back({level, priced_as});
  }
  return found;
}

/// True when some messages use a level with unlimited concurrent messages.
bool lacks_ports(const Scenario& scenario, const ScenarioResult& result) {
  if (scenario.basis != Basis::kModel) return false;
  const ContentionSetting shared = scenario.platform.contended();
  for (int i = 0; i < kLevels; ++i) {
    const auto& level = scenario.platform.priced_by(static_cast<Level>(i));
    if (result.traffic[i].messages == 0 || i == static_cast<int>(Level::kSelf) || !level) continue;
    constexpr double kLarge = 1 << 20;  // bytes
    const bool takes_time = level->transfer(kLarge) > level->transfer(0);
    const bool has_port = !level->gap || (*level->gap)(kLarge) > 0;
    if (takes_time && !has_port && !(shared.model && shared.levels[i])) return true;
  }
  return false;
}

/// ScenarioResult::measured_nodes.
int few_nodes(const PlayedScenario& played) {
  const int nodes = calibrated_nodes(played.scenario.platform.measured);
  return nodes > 1 && nodes < std::min(kNodesThatShare, played.placement.nodes()) ? nodes : 0;
}

/// True when the platform's network is not used.
bool leaves_network_unused(const PlayedScenario& played) {
  const ReplayOutcome& outcome = played.outcome;
  const bool has_network = !played.scenario.platform_file.empty() &&
                           played.scenario.platform.level(Level::kNetwork).has_value();
  const bool any = outcome.messages > 0 || outcome.collectives > 0;
  const bool by_collectives = played.placement.nodes() > 1 && outcome.collectives > 0;
  return has_network && any && !by_collectives &&
         outcome.level_messages[static_cast<int>(Level::kNetwork)] == 0;
}

}  // namespace

bool is_own_machine(const Scenario& scenario, const TraceDefinitions& trace) {
  const bool changed = scenario.basis != Basis::kModel || scenario.platform_file.empty() ||
                       scenario.cpu != 1 || !scenario.processors.empty() ||
                       !scenario.functions.empty() || !scenario.changed_collectives.empty() ||
                       scenario.placement.kind != PlacementRule::Kind::kRecorded ||
                       std::any_of(scenario.changed_levels.begin(), scenario.changed_levels.end(),
                                   [](bool level) { return level; });
  if (changed) return false;
  const Provenance& measured = scenario.platform.measured;
  const auto hosts = measured.find("hosts");
  const auto mpi = measured.find("mpi");
  if (hosts == measured.end() || mpi == measured.end() || trace.nodes.empty()) return false;
  const auto version = [](const std::string& library) {
    return library.substr(0, library.find_first_of(",\n\t"));
  };
  if (version(mpi->second) != version(property(trace, schema::kMpiLibrary))) return false;
  std::set<std::string> known;
  std::string words = hosts->second;
  std::replace(words.begin(), words.end(), ',', ' ');
  std::istringstream in(words);
  for (std::string host; in >> host;) known.insert(host);
  const std::vector<std::string> nodes = trace.nodes.copy();
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const std::string& node) { return known.count(node) > 0; });
}

void summarize_trace(const TraceDefinitions& trace, const Placement& placement,
                     const EventSource::Counts& counted, const ReplayOutcome& outcome,
                     TraceSummary& summary) {
  summary.path = trace.path;
  summary.creator = trace.creator.empty() ? "unknown tracer" : trace.creator;
  summary.command = property(trace, schema::kCommand);
  summary.mpi_library = property(trace, schema::kMpiLibrary);
  std::istringstream callbacks(property(trace, schema::kCallbacks));
  for (std::string name; std::getline(callbacks, name, ';');) summary.callbacks.push_back(name);
  summary.record_functions = trace.how_to_record_functions();
  summary.ranks = trace.ranks();
  summary.shared_cores = trace.shared_cores;
  summary.locations = trace.timelines() + static_cast<int>(trace.side_locations.size());
  summary.nodes = placement.nodes();
  summary.communicators = static_cast<int>(std::count_if(
      trace.comms.begin(), trace.comms.end(),
      [](const Communicator& comm) { return comm.first_group == 0 && !comm.window; }));
  summary.records = counted.records;
  summary.messages = outcome.messages;
  summary.collectives = outcome.collectives;
  summary.unmatched_sends = outcome.unmatched_sends.count;
  summary.unmatched_receives = outcome.unmatched_receives.count;
  summary.unmatched_send = describe(outcome.unmatched_sends, trace);
  summary.unmatched_receive = describe(outcome.unmatched_receives, trace);
  summary.one_clock = trace.one_clock;
  summary.notes = trace.warnings;
  summary.calling_threads = static_cast<int>(trace.threads.size());
  summary.joined_threads = counted.joined;
  summary.silent_threads =
      static_cast<int>(std::count_if(trace.side_locations.begin(), trace.side_locations.end(),
                                     [](const SideLocation& side) { return side.thread; }));
  const auto unwatched = trace.properties.find(schema::kUnwatched);
  if (unwatched != trace.properties.end()) summary.unwatched = unwatched->second;
  summary.wildcards = trace.wildcards;
  summary.backwards = counted.backwards;
  summary.miscounted = counted.miscounted;
  summary.misfits = outcome.misfits;
  summary.open_receives = counted.receives;
  summary.open_collectives = counted.collectives;
  summary.abandoned_collectives = outcome.abandoned_collectives;
  summary.abandoned_epochs = outcome.abandoned_epochs;
}

void summarize_scenario(const PlayedScenario& played, ScenarioResult& result) {
  const Scenario& scenario = played.scenario;
  result.base = scenario.base;
  result.changes = scenario.changes;
  result.from_recording = scenario.basis != Basis::kModel;
  for (int i = 0; i < kLevels; ++i) {
    // Messages within a socket count as node messages if no scenario distinguishes the two.
    const auto level = static_cast<Level>(i);
    const bool as_node = level == Level::kSocket && !played.tells_sockets;
    LevelTraffic& traffic = result.traffic[static_cast<int>(as_node ? Level::kNode : level)];
    traffic.messages += played.outcome.level_messages[i];
    traffic.bytes += played.outcome.level_bytes[i];
  }
  result.network_unused = leaves_network_unused(played);
  if (!result.network_unused) result.measured_nodes = few_nodes(played);
  result.no_ports = lacks_ports(scenario, result);
  result.own_machine = is_own_machine(scenario, played.trace);
  if (scenario.basis == Basis::kModel) result.grade = scenario.platform.grade;
  result.overhead_unknown = scenario.basis == Basis::kUndisturbed && !played.overhead_known;
  if (scenario.basis != Basis::kMeasured) {
    result.clipped_overheads = played.clipped.count();
    result.clipped_time = played.clipped.ticks() / played.trace.ticks_per_second;
  }
  result.sockets_unused = unused_sockets(played, result);
  result.changes_compute =
      scenario.cpu != 1 || !scenario.processors.empty() || !scenario.functions.empty();
  result.changes_nothing = changes_nothing(scenario, played.outcome);
  result.priced_as = substitutes(played, result);
  for (const CollectiveOp op : scenario.changed_collectives) {
    const auto is_this = [&](const CollectiveUse& use) { return use.operation == name_of(op); };
    if (std::none_of(result.collectives.begin(), result.collectives.end(), is_this))
      result.absent_collectives.push_back(name_of(op));
  }
}

void keep_waits_in_mpi(RankResult& rank) {
  if (rank.lost_core + rank.flushing == 0) return;
  const double waited = std::accumulate(rank.waits.begin(), rank.waits.end(), 0.0);
  if (waited <= rank.mpi) return;
  for (double& wait : rank.waits) wait *= rank.mpi / waited;
}

void end_with_the_run(RankResult& rank) {
  if (rank.after >= 0) return;
  rank.compute += rank.after;
  rank.after = 0;
}

LinkLoads from_the_start(LinkLoads links, const ScenarioResult& result) {
  double start = std::numeric_limits<double>::infinity();
  for (const RankResult& rank : result.ranks) start = std::min(start, rank.start);
  links.begin -= start;
  double first = result.start, last = result.start + result.elapsed;
  for (const OtherJobResult& job : result.jobs) {
    first = std::min(first, job.begin);
    last = std::max(last, job.begin + job.elapsed);
  }
  links.span = result.jobs.empty() ? result.elapsed : last - first;
  return links;
}

}  // namespace rubato
