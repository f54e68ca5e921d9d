// The meaning of an archive's definitions, as the tracers in use write them (not always correctly).
// COMM 0 need not be MPI_COMM_WORLD, location ids need not be ranks, and definitions may be in any
// order. The basis is the group of type COMM_LOCATIONS and paradigm MPI, whose n-th member is the
// location of world rank n.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "models/base/error.h"
#include "replay/archive/collected_definitions.h"
#include "replay/trace/oversubscription.h"
#include "tracer/archive/schema.h"

namespace rubato {
namespace {

constexpr uint32_t kNoNode = UINT32_MAX;  ///< no parent

/// Ranks are the members of the MPI location group; without one, processes in the order of their
/// ids (a program that was traced without MPI, or an archive without MPI definitions).
void resolve_ranks(const std::string& anchor, const Collected& data, TraceDefinitions& trace) {
  std::unordered_map<uint64_t, const CollectedLocation*> by_id;
  for (const CollectedLocation& location : data.locations) {
    if (!by_id.emplace(location.id, &location).second) {
      throw InputError(anchor + ": location " + std::to_string(location.id) +
                       " is defined twice; the archive is damaged");
    }
  }

  std::vector<uint64_t> locations;
  if (!data.mpi_locations.empty()) {
    std::unordered_map<uint64_t, int> rank_of_location;
    for (const uint64_t id : data.mpi_locations.front().members) {
      if (!by_id.count(id)) {
        throw InputError(anchor + ": the MPI location group names location " + std::to_string(id) +
                         ", which is not defined");
      }
      const auto [before, is_new] =
          rank_of_location.emplace(id, static_cast<int>(locations.size()));
      if (!is_new) {
        throw InputError(anchor + ": the MPI location group names location " + std::to_string(id) +
                         " twice, for ranks " + std::to_string(before->second) + " and " +
                         std::to_string(locations.size()));
      }
      locations.push_back(id);
    }
  } else {
    std::map<uint32_t, uint64_t> first_location;
    for (const CollectedLocation& location : data.locations) {
      if (!location.thread) continue;
      const auto [entry, is_new] = first_location.emplace(location.group, location.id);
      if (!is_new) entry->second = std::min(entry->second, location.id);
    }
    for (const auto& [group, id] : first_location) locations.push_back(id);
    trace.warnings.push_back(
        "the archive defines no group of MPI locations: every process counts as one rank");
  }
  if (locations.empty()) throw InputError(anchor + ": the archive defines no locations");
  trace.location_of_rank = std::move(locations);

  std::unordered_map<uint32_t, int> rank_of_group;
  const std::unordered_set<uint64_t> is_rank(trace.location_of_rank.begin(),
                                             trace.location_of_rank.end());
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    rank_of_group[by_id[trace.location_of_rank[rank]]->group] = rank;
  }
  std::vector<SideLocation> others;
  for (const CollectedLocation& location : data.locations) {
    if (is_rank.count(location.id)) continue;
    const auto rank = rank_of_group.find(location.group);
    // Locations of a foreign group (a GPU's own location group) move with rank 0, because they have
    // no parent.
    others.push_back({location.id, rank == rank_of_group.end() ? 0 : rank->second, location.thread,
                      location.stream});
  }
  trace.side_locations = std::move(others);
  const auto streams = std::count_if(data.locations.begin(), data.locations.end(),
                                     [](const CollectedLocation& each) { return each.stream; });
  if (streams > 0) {
    trace.warnings.push_back(std::to_string(streams) + " GPU stream" + (streams > 1 ? "s" : "") +
                             ": kernels are not replayed, and waits of ranks for them outside of "
                             "MPI count as compute");
  }
}

/// The position of a location group, as references to the system tree.
struct TreePlace {
  uint32_t node = kNoNode;    ///< the nearest ancestor of class "node", else the group's parent
  uint32_t socket = kNoNode;  ///< the ancestor of class "socket" below it
};

TreePlace place_of(const std::string& anchor, const Collected& data, uint32_t location_group) {
  const auto group = data.node_of_group.find(location_group);
  if (group == data.node_of_group.end()) return {};
  size_t steps = 0;
  uint32_t socket = kNoNode;
  for (uint32_t ref = group->second; ref != kNoNode;) {
    const auto node = data.tree.find(ref);
    if (node == data.tree.end()) break;
    if (++steps > data.tree.size()) {
      throw InputError(anchor + ": system tree node " + std::to_string(ref) +
                       " is an ancestor of itself; the archive is damaged");
    }
    const std::string class_name = data.text(node->second.class_name);
    if (class_name == "node") return {ref, socket};
    if (class_name == "socket") socket = ref;
    ref = node->second.parent;
  }
  return {group->second, kNoNode};
}

void resolve_placement(const std::string& anchor, const Collected& data, TraceDefinitions& trace) {
  std::unordered_map<uint64_t, uint32_t> group_of_location;
  for (const CollectedLocation& location : data.locations)
    group_of_location[location.id] = location.group;
  std::unordered_map<uint32_t, int> index, sockets;
  std::vector<int> node_of_rank, socket_of_rank;
  std::vector<std::string> nodes;
  for (const uint64_t id : trace.location_of_rank) {
    const auto [ref, socket] = place_of(anchor, data, group_of_location[id]);
    const int number = static_cast<int>(sockets.size());
    socket_of_rank.push_back(socket == kNoNode ? kNoSocket
                                               : sockets.emplace(socket, number).first->second);
    const auto [entry, is_new] = index.emplace(ref, static_cast<int>(nodes.size()));
    if (is_new) {
      const auto node = data.tree.find(ref);
      nodes.push_back(node == data.tree.end() ? "?" : data.text(node->second.name));
    }
    node_of_rank.push_back(entry->second);
  }
  trace.nodes = FixedTexts(nodes);
  trace.node_of_rank = std::move(node_of_rank);
  trace.socket_of_rank = std::move(socket_of_rank);
}

std::optional<uint64_t> integer(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::unordered_map<uint64_t, uint32_t> groups_of_locations(const Collected& data) {
  std::unordered_map<uint64_t, uint32_t> group_of_location;
  for (const CollectedLocation& location : data.locations)
    group_of_location[location.id] = location.group;
  return group_of_location;
}

/// The rank of each location group, where it has one.
std::unordered_map<uint32_t, size_t> ranks_of_groups(const Collected& data,
                                                     const TraceDefinitions& trace) {
  const auto group_of_location = groups_of_locations(data);
  std::unordered_map<uint32_t, size_t> rank_of_group;
  for (size_t rank = 0; rank < trace.location_of_rank.size(); ++rank)
    rank_of_group[group_of_location.at(trace.location_of_rank[rank])] = rank;
  return rank_of_group;
}

/// Warns when ranks had to share cores, if our tracer recorded cores.
void warn_of_shared_cores(const Collected& data, TraceDefinitions& trace) {
  if (data.location_properties.empty() && data.group_properties.empty()) return;
  auto group_of_location = groups_of_locations(data);
  const auto rank_of_group = ranks_of_groups(data, trace);

  std::vector<RankProcessors> ranks(trace.location_of_rank.size());
  for (const CollectedText& property : data.group_properties) {
    const auto rank = rank_of_group.find(static_cast<uint32_t>(property.owner));
    if (rank == rank_of_group.end()) continue;
    const std::string name = data.text(property.name);
    if (name == schema::kAffinityCores)
      ranks[rank->second].affinity_cores = integer(data.text(property.text));
    if (name == schema::kCoresOnNode)
      ranks[rank->second].cores_on_node = integer(data.text(property.text));
    if (name == schema::kThreadsRan)
      ranks[rank->second].threads_ran = integer(data.text(property.text));
    if (name == schema::kThreadsWaited)
      ranks[rank->second].threads_waited = integer(data.text(property.text));
  }
  for (const CollectedText& property : data.location_properties) {
    const auto rank = rank_of_group.find(group_of_location[property.owner]);
    if (rank == rank_of_group.end() || data.text(property.name) != schema::kInvoluntarySwitches)
      continue;
    auto& switches = ranks[rank->second].involuntary_switches;
    switches = switches.value_or(0) + integer(data.text(property.text)).value_or(0);
  }
  const std::vector<std::string> nodes = trace.nodes.copy();
  const double seconds = static_cast<double>(data.length) / trace.ticks_per_second;
  trace.shared_cores = shares_cores(ranks, trace.node_of_rank, nodes, seconds);
  std::string sentence = oversubscription(ranks, trace.node_of_rank, nodes, seconds);
  if (!sentence.empty()) trace.warnings.push_back(std::move(sentence));
}

std::optional<int32_t> rank_that_is_twice(std::vector<int32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const auto found = std::adjacent_find(ranks.begin(), ranks.end());
  if (found == ranks.end()) return {};
  return *found;
}

/// World ranks of the members of groups. Each group is resolved once, and each list is stored once,
/// however many communicators use it.
class Members {
 public:
  Members(const Collected& data, const TraceDefinitions& trace) : data_(&data), trace_(&trace) {
    for (int rank = 0; rank < trace.ranks(); ++rank)
      rank_of_location_.emplace(trace.location_of_rank[rank], rank);
  }

  struct Group {
    MemberList members;
    bool in_range = true;          ///< all members are ranks
    std::optional<int32_t> twice;  ///< a rank that occurs twice
  };

  const Group& of(uint32_t ref) {
    const auto [entry, is_new] = groups_.try_emplace(ref);
    if (!is_new) return entry->second;
    std::vector<int32_t> ranks;
    const auto found = data_->groups.find(ref);
    if (found != data_->groups.end()) {
      for (const uint64_t member : found->second.members) {
        if (!found->second.global_members) {
          // A number that is no rank must not look like one.
          ranks.push_back(member <= INT32_MAX ? static_cast<int32_t>(member) : -1);
        } else if (const auto at = rank_of_location_.find(member); at != rank_of_location_.end()) {
          ranks.push_back(at->second);
        }
      }
    }
    entry->second.in_range = std::all_of(ranks.begin(), ranks.end(), [&](int32_t rank) {
      return rank >= 0 && rank < trace_->ranks();
    });
    entry->second.twice = rank_that_is_twice(ranks);
    entry->second.members = lists_.share(std::move(ranks));
    return entry->second;
  }

  MemberList share(std::vector<int32_t> ranks) { return lists_.share(std::move(ranks)); }

 private:
  const Collected* data_;
  const TraceDefinitions* trace_;
  std::unordered_map<uint64_t, int32_t> rank_of_location_;
  std::unordered_map<uint32_t, Group> groups_;
  MemberLists lists_;
};

void resolve_communicators(const Collected& data, Members& groups, Archive& archive) {
  TraceDefinitions& trace = archive.definitions;
  for (const CollectedComm& definition : data.comms) {
    const auto group = data.groups.find(definition.group);
    const bool self_like = group != data.groups.end() && group->second.self;
    const bool is_mpi = group == data.groups.end() || group->second.mpi;
    if (!is_mpi) continue;  // CUDA's, OpenMP's, "Process x Threads"
    Communicator comm;
    comm.name = data.text(definition.name);
    comm.self_like = self_like;
    comm.inter = definition.inter;
    MemberList remote;
    const auto take = [&](uint32_t ref) {
      const Members::Group& named = groups.of(ref);
      if (!named.in_range) {
        throw InputError(archive.anchor + ": communicator " + std::to_string(definition.ref) +
                         " '" + comm.name + "' has members beyond the " +
                         std::to_string(trace.ranks()) + " ranks of the archive");
      }
      if (named.twice) {
        throw InputError(archive.anchor + ": communicator " + std::to_string(definition.ref) +
                         " '" + comm.name + "' has rank " + std::to_string(*named.twice) +
                         " twice");
      }
      return named.members;
    };
    if (!self_like) comm.members = take(definition.group);
    if (definition.inter) remote = take(definition.remote_group);
    archive.index.comm_of_ref.set(definition.ref, static_cast<uint32_t>(trace.comms.size()));
    if (definition.inter) {
      Communicator both = comm;
      both.inter = false;
      both.first_group = comm.size();
      std::vector<int32_t> everybody = comm.members.copy();
      everybody.insert(everybody.end(), remote.begin(), remote.end());
      both.members = groups.share(std::move(everybody));
      const auto number = static_cast<uint32_t>(trace.comms.size());
      archive.index.remote_group[number] = std::move(remote);
      archive.index.both_groups[number] = number + 1;
      trace.comms.push_back(std::move(comm));
      trace.comms.push_back(std::move(both));
      continue;
    }
    if (trace.world < 0 && comm.size() == trace.ranks() && comm.name == "MPI_COMM_WORLD") {
      trace.world = static_cast<int>(trace.comms.size());
    }
    trace.comms.push_back(std::move(comm));
  }
}

/// Adds the windows whose communicator is one of MPI's after the communicators, and the groups that
/// their epochs may use. Other libraries have windows too; their records are ignored.
void resolve_windows(const Collected& data, Members& groups, Archive& archive) {
  TraceDefinitions& trace = archive.definitions;
  for (const CollectedWindow& definition : data.windows) {
    const auto comm = archive.index.comm_of_ref.get(definition.comm);
    if (!comm || trace.comms[*comm].inter) continue;
    Communicator window = trace.comms[*comm];
    window.name = data.text(definition.name);
    window.window = true;
    archive.index.window_of_ref.set(definition.ref, static_cast<uint32_t>(trace.comms.size()));
    trace.comms.push_back(std::move(window));
  }
  if (data.windows.empty()) return;
  for (const auto& [ref, group] : data.groups) {
    if (!group.mpi) continue;
    const Members::Group& named = groups.of(ref);
    if (!named.in_range) continue;
    if (named.twice) {
      throw InputError(archive.anchor + ": group " + std::to_string(ref) + " has rank " +
                       std::to_string(*named.twice) + " twice");
    }
    archive.index.group_of_ref.set(ref, static_cast<uint32_t>(trace.groups.size()));
    trace.groups.push_back(named.members);
  }
}

/// World ranks that `text`, such as "from 1 - to 2 3" of `rank`, lists after "from" or "to". None
/// for numbers that are no rank of the communicator.
Neighbours parse_neighbours(const std::string& text, const Communicator& comm, int rank) {
  Neighbours neighbours;
  std::vector<int32_t>* list = &neighbours.sources;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "to") list = &neighbours.destinations;
    const auto local = integer(word);
    if (!local || *local >= static_cast<uint64_t>(comm.size())) continue;
    list->push_back(comm.self_like ? rank : comm.members[*local]);
  }
  return neighbours;
}

/// The neighbours of each rank, if our tracer recorded them.
void resolve_neighbours(const Collected& data, Archive& archive) {
  const std::string start = std::string(schema::kNeighbours) + ' ';
  const auto rank_of_group = ranks_of_groups(data, archive.definitions);
  NeighbourTable::ByRank found;
  for (const CollectedText& property : data.group_properties) {
    const std::string name = data.text(property.name);
    if (name.rfind(start, 0) != 0) continue;
    const auto rank = rank_of_group.find(static_cast<uint32_t>(property.owner));
    const auto ref = integer(name.substr(start.size()));
    if (rank == rank_of_group.end() || !ref) continue;
    const auto comm = archive.index.comm_of_ref.get(static_cast<uint32_t>(*ref));
    if (!comm) continue;
    const int r = static_cast<int>(rank->second);
    const Communicator& members = archive.definitions.comms[*comm];
    Neighbours neighbours = parse_neighbours(data.text(property.text), members, r);
    if (neighbours.beyond(members.size())) {
      throw InputError(archive.anchor + ": rank " + std::to_string(r) +
                       " has more neighbours in communicator " + std::to_string(*ref) + " of " +
                       std::to_string(members.size()) + " members than can be replayed");
    }
    found[{r, *comm}] = std::move(neighbours);
  }
  archive.definitions.neighbours = NeighbourTable(found);
}

void resolve_regions(const Collected& data, Archive& archive) {
  std::unordered_map<std::string, int32_t> known;
  for (const auto& [ref, name_ref, file, line] : data.regions) {
    const std::string name = mpi_call_name(data.text(name_ref));
    if (name.empty()) {
      const auto number = static_cast<uint32_t>(archive.index.functions.size());
      archive.index.functions.emplace_back(
          ref, FunctionName{data.text(name_ref), data.text(file), line});
      archive.index.number_of_function.set(ref, number);
      if (std::find(data.joins.begin(), data.joins.end(), ref) != data.joins.end())
        archive.index.joins.emplace_back(ref, data.text(name_ref));
      continue;
    }
    const auto [entry, is_new] =
        known.emplace(name, static_cast<int32_t>(archive.definitions.calls.size()));
    if (is_new) archive.definitions.calls.push_back(mpi_call_info(name));
    archive.index.call_of_region.set(ref, entry->second);
  }
}

/// Our own tracer records every message and its completion, and in newer archives the message of a
/// ready partition. If the program made no other requests, a wait without records was for null
/// requests or messages of MPI_PROC_NULL, and did not wait. The same holds for a one-sided
/// operation without records, or there was nothing to complete.
void settle_empty_waits(TraceDefinitions& trace, bool says_what_is_ready) {
  if (trace.creator.rfind(schema::kCreatorPrefix, 0) != 0) return;
  const bool others = std::any_of(trace.calls.begin(), trace.calls.end(),
                                  [](const MpiCallInfo& call) { return call.other_requests; });
  for (MpiCallInfo& call : trace.calls) {
    if (call.one_sided || call.without_records == CallClass::kMessage)
      call.without_records = CallClass::kLocal;
    if (call.makes_ready && says_what_is_ready) {
      call.makes_ready = false;
      call.without_records = CallClass::kLocal;
    }
  }
  if (others) return;
  for (MpiCallInfo& call : trace.calls) {
    if (call.waits) call.without_records = CallClass::kLocal;
  }
}

/// The number in a property of ours, from 0 to `most`.
double number(const TraceDefinitions& trace, const char* property, double otherwise, double most) {
  const auto found = trace.properties.find(property);
  if (found == trace.properties.end()) return otherwise;
  std::string text = found->second;
  // Earlier tracers wrote the decimal comma of the program's locale.
  std::replace(text.begin(), text.end(), ',', '.');
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end && value >= 0 && value <= most) return value;
  throw InputError(trace.path + ": the property " + property + " is '" + found->second +
                   "', and not a number from 0 to " + (most == 1 ? "1" : "2^60"));
}

/// No overhead is longer than a second.
double overhead(const TraceDefinitions& trace, const char* property, double otherwise) {
  return number(trace, property, otherwise, 1);
}

double eager_limit(const TraceDefinitions& trace, const char* property) {
  return number(trace, property, 0, 1152921504606846976.0);
}

/// Applies our own tracer's properties (tracer/archive/schema.h), and the conventions of the
/// creator.
void apply_properties(TraceDefinitions& trace, ArchiveIndex& index) {
  trace.overhead.outside = overhead(trace, schema::kOverheadOutside, 0) +
                           overhead(trace, schema::kOverheadCallSite, 0) +
                           overhead(trace, schema::kOverheadCallPath, 0);
  trace.overhead.inside_before = overhead(trace, schema::kOverheadInsideBefore, 0);
  trace.overhead.inside_after = overhead(trace, schema::kOverheadInsideAfter, 0);
  const double record = overhead(trace, schema::kOverheadPerRecord, 0);
  trace.overhead.message = overhead(trace, schema::kOverheadMessage, record);
  trace.overhead.request = overhead(trace, schema::kOverheadRequest, record);
  trace.overhead.completion = overhead(trace, schema::kOverheadCompletion, record);
  trace.overhead.collective = overhead(trace, schema::kOverheadCollective, record);
  trace.overhead.function = overhead(trace, schema::kOverheadFunction, 0);
  if (trace.properties.count(schema::kEagerLimitNode)) {
    trace.eager_limit_node = eager_limit(trace, schema::kEagerLimitNode);
  }
  if (trace.properties.count(schema::kEagerLimitNetwork)) {
    trace.eager_limit_network = eager_limit(trace, schema::kEagerLimitNetwork);
  }
  const auto functions = trace.properties.find(schema::kFunctions);
  index.has_enters = functions != trace.properties.end() && functions->second == "true";
  const auto convention = trace.properties.find(schema::kSizeConvention);
  if (convention != trace.properties.end()) {
    trace.sizes =
        convention->second == "per-rank" ? SizeConvention::kPerRank : SizeConvention::kLogical;
  } else if (trace.creator.empty()) {
    trace.sizes = SizeConvention::kPerRank;  // EZTrace leaves the creator empty
  }
  const auto wildcards = trace.properties.find(schema::kWildcards);
  if (wildcards != trace.properties.end() && wildcards->second == "all")
    trace.wildcards = WildcardsKnown::kAll;
  trace.knows_probes = trace.properties.contains(schema::kProbes);
  const auto complete = trace.properties.find(schema::kComplete);
  if (complete != trace.properties.end() && complete->second != "true") {
    const std::string& text = complete->second;
    const std::string why = text.starts_with("false: ") ? text.substr(7) : text;
    trace.warnings.push_back("the recording is incomplete (" + why + ")");
  }
}

/// The lines that make calls, if our tracer recorded them, and calling contexts.
void resolve_call_sites(const Collected& data, const TraceDefinitions& trace, ArchiveIndex& index) {
  const bool has_contexts = !data.contexts.empty();
  if (index.call_site == UINT32_MAX && !has_contexts) return;
  for (const auto& [ref, file, line] : data.source_locations) {
    index.number_of_site.set(ref, static_cast<uint32_t>(index.call_sites.size()));
    index.call_sites.push_back({data.text(file), line});
  }
  if (data.sample_seconds > 0) index.sample_ticks = data.sample_seconds * trace.ticks_per_second;
  // Parents come first, in the archives of our tracer; a path of another order begins late.
  for (const auto& [ref, region, location, parent] : data.contexts) {
    CallSite site;
    if (const auto known = index.number_of_site.get(location)) site = index.call_sites[*known];
    site.function = index.number_of_function.get(region).value_or(kNoPlace);
    site.caller = index.number_of_context.get(parent).value_or(kNoPlace);
    index.number_of_context.set(ref, static_cast<uint32_t>(index.call_sites.size()));
    index.call_sites.push_back(std::move(site));
  }
}

/// Stores the reference of an attribute of ours (tracer/archive/schema.h).
void note_attribute(uint32_t ref, const std::string& name, Archive& archive) {
  static constexpr std::pair<const char*, uint32_t ArchiveIndex::*> kAttributes[] = {
      {schema::kPostedSource, &ArchiveIndex::posted_source},
      {schema::kPostedTag, &ArchiveIndex::posted_tag},
      {schema::kSendMode, &ArchiveIndex::send_mode},
      {schema::kComm, &ArchiveIndex::comm},
      {schema::kBytesSent, &ArchiveIndex::bytes_sent},
      {schema::kBytesReceived, &ArchiveIndex::bytes_received},
      {schema::kRequest, &ArchiveIndex::request},
      {schema::kPartPeers, &ArchiveIndex::part_peers},
      {schema::kFoundSource, &ArchiveIndex::found_source},
      {schema::kFoundTag, &ArchiveIndex::found_tag},
      {schema::kInitOrder, &ArchiveIndex::init_order},
      {schema::kStolen, &ArchiveIndex::stolen},
      {schema::kOwnWork, &ArchiveIndex::own_work},
      {schema::kCallback, &ArchiveIndex::callback},
      {schema::kInPlace, &ArchiveIndex::in_place},
      {schema::kBlockBytes, &ArchiveIndex::block},
  };
  for (const auto& [ours, place] : kAttributes) {
    if (name != ours) continue;
    archive.index.*place = ref;
    archive.index.has_attributes = true;
  }
  static constexpr std::pair<const char*, uint32_t ArchiveIndex::*> kOfPlaces[] = {
      {schema::kCallSite, &ArchiveIndex::call_site},
      {schema::kCallPath, &ArchiveIndex::call_path},
      {schema::kPeriods, &ArchiveIndex::periods},
  };
  for (const auto& [ours, place] : kOfPlaces) {
    if (name != ours) continue;
    archive.index.*place = ref;
    archive.index.has_attributes = true;
  }
  if (name == schema::kPostedSource) archive.definitions.wildcards = WildcardsKnown::kNonblocking;
}

}  // namespace

void resolve(const Collected& data, Archive& archive) {
  const std::string& anchor = archive.anchor;
  TraceDefinitions& trace = archive.definitions;
  constexpr uint64_t kMostTicks = 1'000'000'000'000'000;  // femtoseconds
  if (data.has_clock && (data.resolution == 0 || data.resolution > kMostTicks)) {
    throw InputError(anchor + ": the clock of the archive has " + std::to_string(data.resolution) +
                     " ticks a second; the global definitions (.def) are damaged");
  }
  if (!data.has_clock) {
    trace.warnings.push_back(
        "the archive does not define its clock: ticks are taken as nanoseconds");
  }
  trace.ticks_per_second = !data.has_clock ? 1e9 : static_cast<double>(data.resolution);
  archive.index.global_offset = data.global_offset;
  archive.index.ticks_per_nanosecond = trace.ticks_per_second * 1e-9;
  resolve_ranks(anchor, data, trace);
  resolve_placement(anchor, data, trace);
  warn_of_shared_cores(data, trace);
  Members groups(data, trace);
  resolve_communicators(data, groups, archive);
  resolve_windows(data, groups, archive);
  resolve_neighbours(data, archive);
  resolve_regions(data, archive);
  for (const auto& [ref, name] : data.attributes) note_attribute(ref, data.text(name), archive);
  resolve_call_sites(data, trace, archive.index);
  for (const auto& [ref, name] : data.parameters) {
    const std::string text = data.text(name);
    if (text == schema::kRequestStart) archive.index.request_start = ref;
    if (text == schema::kRequestEnd) archive.index.request_end = ref;
    if (text == schema::kRequestReady) archive.index.request_ready = ref;
    if (text == schema::kPartSent) archive.index.part_sent = ref;
  }
  settle_empty_waits(trace, archive.index.request_ready != UINT32_MAX);
  apply_properties(trace, archive.index);
  std::vector<LocationEvents> events;
  for (const CollectedLocation& location : data.locations)
    events.push_back({location.id, location.events});
  std::sort(events.begin(), events.end(), [](const LocationEvents& a, const LocationEvents& b) {
    return a.location < b.location;
  });
  archive.index.events = std::move(events);
}

}  // namespace rubato
