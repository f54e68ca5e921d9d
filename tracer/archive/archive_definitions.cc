#include "tracer/archive/archive_definitions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/number_text.h"
#include "tracer/archive/event_writer.h"
#include "tracer/archive/schema.h"
#include "tracer/archive/utf8.h"
#include "tracer/counters/counter_list.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Writes the global definitions, each kind in a function of its own.
class GlobalDefinitions {
 public:
  GlobalDefinitions(OTF2_GlobalDefWriter* writer, const ArchiveInfo& info,
                    const Definitions& definitions, const Numbering& numbering,
                    const std::vector<RankSummary>& ranks)
      : writer_(writer),
        info_(info),
        definitions_(definitions),
        numbering_(numbering),
        ranks_(ranks) {}

  bool write() {
    clock();
    check(OTF2_GlobalDefWriter_WriteString(writer_, kStringEmpty, ""));
    const std::string program = as_utf8(program_name());
    check(OTF2_GlobalDefWriter_WriteString(writer_, kStringProgram, program.c_str()));
    paradigm();
    attributes();
    system_tree();
    regions();
    functions();
    call_sites();
    contexts();
    groups();
    communicators();
    contingents();
    windows();
    counters();
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) topologies(rank);
    return good_;
  }

 private:
  void check(OTF2_ErrorCode code) { good_ = good_ && code == OTF2_SUCCESS; }

  OTF2_StringRef string(const std::string& text) {
    if (text.empty()) return kStringEmpty;
    const auto [place, is_new] = strings_.try_emplace(as_utf8(text), next_string_);
    if (is_new) {
      check(OTF2_GlobalDefWriter_WriteString(writer_, next_string_++, place->first.c_str()));
    }
    return place->second;
  }

  /// True where a rank has several locations.
  bool any_threads() const {
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const RankSummary& rank) { return rank.locations.size() > 1; });
  }

  std::string program_name() const { return info_.command.substr(0, info_.command.find(' ')); }

  void clock() {
    uint64_t first = UINT64_MAX, last = 0;
    for (const RankSummary& rank : ranks_) {
      for (const LocationSummary& l : rank.locations) {
        if (l.events == 0) continue;
        first = std::min(first, l.first);
        last = std::max(last, l.last);
      }
    }
    if (first > last) first = last;
    const double since_start = static_cast<double>(static_cast<int64_t>(first - info_.start_ticks));
    const uint64_t realtime =
        info_.start_realtime +
        static_cast<uint64_t>(std::llrint(since_start * 1e9 / info_.ticks_per_second));
    check(OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, static_cast<uint64_t>(std::llrint(info_.ticks_per_second)), first,
        last - first + 1, realtime));
  }

  void paradigm() {
    check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI, string("MPI"),
                                             OTF2_PARADIGM_CLASS_PROCESS));
    OTF2_AttributeValue value;
    value.stringRef = string("Comm ${id}");
    check(OTF2_GlobalDefWriter_WriteParadigmProperty(writer_, OTF2_PARADIGM_MPI,
                                                     OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
                                                     OTF2_TYPE_STRING, value));
    value.stringRef = string("Win ${id}");
    check(OTF2_GlobalDefWriter_WriteParadigmProperty(writer_, OTF2_PARADIGM_MPI,
                                                     OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
                                                     OTF2_TYPE_STRING, value));
    if (!any_threads()) return;
    check(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_PTHREAD, string("Pthread"),
                                             OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT));
  }

  void attributes() {
    attribute(kAttributeSource, schema::kPostedSource, "source a receive asked for, -1 = any",
              OTF2_TYPE_INT32);
    attribute(kAttributeTag, schema::kPostedTag, "tag a receive asked for, -1 = any",
              OTF2_TYPE_INT32);
    attribute(kAttributeComm, schema::kPostedComm,
              "communicator a receive or collective was posted on", OTF2_TYPE_COMM);
    attribute(kAttributeMode, schema::kSendMode,
              "persistent request: 1 buffered, 2 synchronous, 3 ready, 4 partitioned",
              OTF2_TYPE_UINT8);
    attribute(kAttributeOwnComm, schema::kComm, "communicator of a collective among neighbours",
              OTF2_TYPE_COMM);
    attribute(kAttributeSent, schema::kBytesSent, "bytes to all neighbours", OTF2_TYPE_UINT64);
    attribute(kAttributeReceived, schema::kBytesReceived, "bytes from all neighbours",
              OTF2_TYPE_UINT64);
    attribute(kAttributeRequest, schema::kRequest, "request that the call made", OTF2_TYPE_UINT64);
    attribute(kAttributePartPeers, schema::kPartPeers, "peers in a row that get such a part",
              OTF2_TYPE_UINT32);
    attribute(kAttributeInitOrder, schema::kInitOrder,
              "which of the persistent collectives of its communicator", OTF2_TYPE_UINT32);
    attribute(kAttributeFoundSource, schema::kFoundSource, "source that a probe found",
              OTF2_TYPE_INT32);
    attribute(kAttributeFoundTag, schema::kFoundTag, "tag that a probe found", OTF2_TYPE_INT32);
    attribute(kAttributePostedBytes, schema::kPostedBytes, "bytes of a receive's buffer",
              OTF2_TYPE_UINT64);
    attribute(kAttributeStolen, schema::kStolen, "nanoseconds in which the thread had no core",
              OTF2_TYPE_UINT64);
    attribute(kAttributeBlock, schema::kBlockBytes, "mean bytes of the blocks of data in memory",
              OTF2_TYPE_UINT64);
    attribute(kAttributeInPlace, schema::kInPlace, "1: a collective named MPI_IN_PLACE",
              OTF2_TYPE_UINT8);
    attribute(kAttributeOwnWork, schema::kOwnWork, "ticks in callbacks of the program",
              OTF2_TYPE_UINT64);
    attribute(kAttributeCallback, schema::kCallback,
              "number of the callback that ran longest, in RUBATO::CALLBACKS", OTF2_TYPE_UINT32);
    if (!definitions_.call_sites.empty()) {
      attribute(kAttributeCallSite, schema::kCallSite, "line of the program that called MPI",
                OTF2_TYPE_SOURCE_CODE_LOCATION);
    }
    if (!definitions_.contexts.empty()) {
      attribute(kAttributeCallPath, schema::kCallPath, "path to the function that called MPI",
                OTF2_TYPE_CALLING_CONTEXT);
      attribute(kAttributePeriods, schema::kPeriods, "periods since the sample before",
                OTF2_TYPE_UINT64);
    }
    parameter(kParameterStart, schema::kRequestStart);
    parameter(kParameterEnd, schema::kRequestEnd);
    parameter(kParameterPart, schema::kPartSent);
    parameter(kParameterReady, schema::kRequestReady);
  }
  void parameter(OTF2_ParameterRef ref, const char* name) {
    const OTF2_StringRef name_ref = string(name);
    check(OTF2_GlobalDefWriter_WriteParameter(writer_, ref, name_ref, OTF2_PARAMETER_TYPE_UINT64));
  }
  void attribute(OTF2_AttributeRef ref, const char* name, const char* description, OTF2_Type type) {
    const OTF2_StringRef name_ref = string(name);
    check(OTF2_GlobalDefWriter_WriteAttribute(writer_, ref, name_ref, string(description), type));
  }

  /// machine > nodes by host name > sockets, of ranks that are bound to one > a process per rank >
  /// a location per thread.
  void system_tree() {
    const OTF2_StringRef machine = string("Linux");
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, machine, string("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, 0,
                                                         OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    std::map<std::pair<std::string, int>, uint32_t> places;  // by host and socket; -1: the node
    const auto add = [&](const std::string& host, int socket, const std::string& name,
                         const char* class_name, OTF2_SystemTreeDomain domain, uint32_t parent) {
      const auto [place, is_new] =
          places.try_emplace({host, socket}, static_cast<uint32_t>(places.size() + 1));
      if (!is_new) return place->second;
      const OTF2_StringRef text = string(name);
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, place->second, text,
                                                     string(class_name), parent));
      check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, place->second, domain));
      return place->second;
    };
    std::vector<uint32_t> place_of_rank;
    for (const RankSummary& rank : ranks_) {
      const int socket = rank.processors.socket;
      uint32_t place =
          add(rank.host, -1, rank.host, "node", OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY, 0);
      if (socket >= 0) {
        place = add(rank.host, socket, "socket " + std::to_string(socket), "socket",
                    OTF2_SYSTEM_TREE_DOMAIN_SOCKET, place);
      }
      place_of_rank.push_back(place);
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const OTF2_StringRef name = string("MPI Rank " + std::to_string(rank));
      check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, place_of_rank[rank],
          OTF2_UNDEFINED_LOCATION_GROUP));
      const Processors& p = ranks_[rank].processors;
      if (p.affinity_cores != 0) group_property(rank, schema::kAffinityCores, p.affinity_cores);
      if (!p.affinity_list.empty()) {
        group_property(rank, schema::kAffinityList, p.affinity_list);
      }
      if (p.cores_on_node != 0) group_property(rank, schema::kCoresOnNode, p.cores_on_node);
      const ThreadTimes& threads = ranks_[rank].threads_without_log;
      if (threads.waited != 0) {
        group_property(rank, schema::kThreadsRan, threads.ran);
        group_property(rank, schema::kThreadsWaited, threads.waited);
      }
    }
    // Ascending ids: first all master threads, then all second threads, and so on.
    std::map<uint64_t, std::pair<const LocationSummary*, uint32_t>> locations;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const LocationSummary& l : ranks_[rank].locations) {
        locations[l.location] = {&l, rank};
      }
    }
    for (const auto& [id, location] : locations) {
      const uint64_t thread = id >> 32;
      const std::string name =
          thread == 0 ? "Master thread" : "MPI thread " + std::to_string(thread);
      check(OTF2_GlobalDefWriter_WriteLocation(writer_, id, string(name),
                                               OTF2_LOCATION_TYPE_CPU_THREAD,
                                               location.first->events, location.second));
      const uint64_t switches = location.first->involuntary_switches;
      if (switches == kUnknownSwitches) continue;
      OTF2_AttributeValue value;
      value.stringRef = string(std::to_string(switches));
      check(OTF2_GlobalDefWriter_WriteLocationProperty(
          writer_, id, string(schema::kInvoluntarySwitches), OTF2_TYPE_STRING, value));
    }
  }

  void group_property(uint32_t rank, const char* name, uint64_t number) {
    group_property(rank, name, std::to_string(number));
  }
  void group_property(uint32_t rank, const char* name, const std::string& text) {
    OTF2_AttributeValue value;
    value.stringRef = string(text);
    check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(writer_, rank, string(name),
                                                          OTF2_TYPE_STRING, value));
  }

  void regions() {
    const OTF2_StringRef mpi = string("MPI");
    for (size_t id = 0; id < numbering_.region.size(); ++id) {
      if (numbering_.region[id] == kNone) continue;
      const OTF2_StringRef name = string(info_.call_names[id]);
      const auto role = static_cast<OTF2_RegionRole>(info_.call_roles[id]);
      const bool of_threads =
          role == OTF2_REGION_ROLE_THREAD_CREATE || role == OTF2_REGION_ROLE_THREAD_WAIT;
      check(OTF2_GlobalDefWriter_WriteRegion(
          writer_, numbering_.region[id], name, name, kStringEmpty, role,
          of_threads ? OTF2_PARADIGM_PTHREAD : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
          of_threads ? string("PTHREAD") : mpi, 0, 0));
    }
  }

  /// The program's own functions, as the compiler marked them or as they were found on the stack.
  /// Only parallel paradigms are defined.
  void functions() {
    const OTF2_Paradigm paradigm =
        definitions_.has_functions ? OTF2_PARADIGM_COMPILER : OTF2_PARADIGM_SAMPLING;
    for (const CodePlace& place : definitions_.functions) {
      const OTF2_StringRef name = string(place.name);
      const OTF2_StringRef symbol = string(place.symbol);
      const OTF2_StringRef file = string(place.file);
      check(OTF2_GlobalDefWriter_WriteRegion(writer_, numbering_.functions.at(place), name, symbol,
                                             kStringEmpty, OTF2_REGION_ROLE_FUNCTION, paradigm,
                                             OTF2_REGION_FLAG_NONE, file, place.line, 0));
    }
  }

  void call_sites() {
    for (const CodePlace& place : definitions_.call_sites) {
      const OTF2_StringRef file = string(place.file);
      check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer_, numbering_.call_sites.at(place),
                                                         file, place.line));
    }
  }

  void contexts() {
    const auto optional = [](uint32_t number) {
      return number == kNone ? OTF2_UNDEFINED_UINT32 : number;
    };
    for (uint32_t id = 0; id < definitions_.contexts.size(); ++id) {
      const CallingContext& context = definitions_.contexts[id];
      check(OTF2_GlobalDefWriter_WriteCallingContext(
          writer_, id, context.region, optional(context.call_site), optional(context.parent)));
    }
    if (info_.sample_period == 0) return;
    constexpr int64_t kNano = -9;
    const OTF2_StringRef name = string("processor time of the thread");
    check(OTF2_GlobalDefWriter_WriteInterruptGenerator(
        writer_, kSampleTimer, name, OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, kNano,
        info_.sample_period));
  }

  void groups() {
    for (uint32_t id = 0; id < definitions_.groups.size(); ++id) {
      std::vector<uint64_t> members(definitions_.groups[id].begin(), definitions_.groups[id].end());
      OTF2_GroupType type = OTF2_GROUP_TYPE_COMM_GROUP;
      if (id == kLocationsGroup) {
        type = OTF2_GROUP_TYPE_COMM_LOCATIONS;
        for (uint64_t rank = 0; rank < ranks_.size(); ++rank) members.push_back(rank);
      } else if (id == kSelfGroup) {
        type = OTF2_GROUP_TYPE_COMM_SELF;
      }
      check(OTF2_GlobalDefWriter_WriteGroup(writer_, id, kStringEmpty, type, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE,
                                            static_cast<uint32_t>(members.size()), members.data()));
    }
  }

  void communicators() {
    for (uint32_t id = 0; id < definitions_.communicators.size(); ++id) {
      const CommunicatorDefinition& c = definitions_.communicators[id];
      const OTF2_StringRef name = string(c.name);
      const OTF2_CommRef parent = c.parent == kNone ? OTF2_UNDEFINED_COMM : c.parent;
      const OTF2_CommFlag flags =
          c.has_events ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
      if (c.remote_group != kNone) {
        check(OTF2_GlobalDefWriter_WriteInterComm(writer_, id, name, c.group, c.remote_group,
                                                  parent, flags));
      } else {
        check(OTF2_GlobalDefWriter_WriteComm(writer_, id, name, c.group, parent, flags));
      }
    }
  }

  /// The threads of each rank that has several, as Score-P has them: a group of indices into the
  /// group of all of them, and a communicator.
  void contingents() {
    if (!any_threads()) return;
    std::vector<uint64_t> locations;
    std::vector<std::vector<uint64_t>> members(ranks_.size());
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].locations.size() < 2) continue;
      for (const LocationSummary& l : ranks_[rank].locations) {
        members[rank].push_back(locations.size());
        locations.push_back(l.location);
      }
    }
    auto group = static_cast<uint32_t>(definitions_.groups.size());
    const auto write_group = [&](const char* name, OTF2_GroupType type,
                                 const std::vector<uint64_t>& list) {
      check(OTF2_GlobalDefWriter_WriteGroup(writer_, group++, string(name), type,
                                            OTF2_PARADIGM_PTHREAD, OTF2_GROUP_FLAG_NONE,
                                            static_cast<uint32_t>(list.size()), list.data()));
    };
    write_group("PTHREAD", OTF2_GROUP_TYPE_COMM_LOCATIONS, locations);
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (members[rank].empty()) continue;
      const uint32_t own = group;
      write_group("threads of the process", OTF2_GROUP_TYPE_COMM_GROUP, members[rank]);
      check(OTF2_GlobalDefWriter_WriteComm(writer_, numbering_.first_contingent() + rank,
                                           kStringEmpty, own, OTF2_UNDEFINED_COMM,
                                           OTF2_COMM_FLAG_NONE));
    }
  }

  void windows() {
    for (uint32_t id = 0; id < definitions_.windows.size(); ++id) {
      const WindowDefinition& w = definitions_.windows[id];
      const OTF2_StringRef name = string(w.name);
      check(OTF2_GlobalDefWriter_WriteRmaWin(writer_, id, name, w.communicator,
                                             OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
  }

  /// As Score-P has counters that are read at each Enter and Leave: a class of all, whose values
  /// grow from the start of the run.
  void counters() {
    std::vector<OTF2_MetricMemberRef> members;
    for (const std::string& counter : counter_names(info_.counters)) {
      const CounterInfo what = counter_info(counter);
      const OTF2_StringRef name = string(what.name);
      const OTF2_StringRef description = string(what.description);
      members.push_back(static_cast<OTF2_MetricMemberRef>(members.size()));
      check(OTF2_GlobalDefWriter_WriteMetricMember(
          writer_, members.back(), name, description,
          what.by_papi ? OTF2_METRIC_TYPE_PAPI : OTF2_METRIC_TYPE_OTHER,
          OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
          string(what.unit)));
    }
    if (members.empty()) return;
    check(OTF2_GlobalDefWriter_WriteMetricClass(
        writer_, kMetricClass, static_cast<uint8_t>(members.size()), members.data(),
        OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU));
  }

  /// The neighbours of a rank as properties, its places in grids as OTF2 has them.
  void topologies(uint32_t rank) {
    for (const TopologyReport& t : ranks_[rank].topologies) {
      OTF2_AttributeValue value;
      value.stringRef = string(t.topology.text());
      const OTF2_StringRef name =
          string(std::string(schema::kNeighbours) + " " + std::to_string(t.communicator));
      check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(writer_, rank, name, OTF2_TYPE_STRING,
                                                            value));
      const bool alone = definitions_.communicators[t.communicator].group == kSelfGroup;
      if (!alone && !t.topology.dimensions.empty()) place_in_grid(t);
    }
  }

  void place_in_grid(const TopologyReport& t) {
    const auto n = static_cast<uint8_t>(std::min<size_t>(t.topology.dimensions.size(), 255));
    const auto [grid, is_new] =
        grids_.try_emplace(t.communicator, static_cast<uint32_t>(grids_.size()));
    if (is_new) {
      std::vector<OTF2_CartDimensionRef> refs;
      for (size_t i = 0; i < n; ++i) {
        refs.push_back(dimensions_);
        check(OTF2_GlobalDefWriter_WriteCartDimension(
            writer_, dimensions_++, kStringEmpty, static_cast<uint32_t>(t.topology.dimensions[i]),
            t.topology.periods[i] != 0 ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
      }
      const OTF2_StringRef name = string(definitions_.communicators[t.communicator].name);
      check(OTF2_GlobalDefWriter_WriteCartTopology(writer_, grid->second, name, t.communicator, n,
                                                   refs.data()));
    }
    const std::vector<uint32_t> at(t.topology.coordinates.begin(), t.topology.coordinates.end());
    check(OTF2_GlobalDefWriter_WriteCartCoordinate(writer_, grid->second, t.rank, n, at.data()));
  }

  OTF2_GlobalDefWriter* writer_;
  const ArchiveInfo& info_;
  const Definitions& definitions_;
  const Numbering& numbering_;
  const std::vector<RankSummary>& ranks_;
  std::map<std::string, OTF2_StringRef> strings_;
  OTF2_StringRef next_string_ = kFirstFreeString;
  std::map<uint32_t, uint32_t> grids_;  ///< by communicator
  uint32_t dimensions_ = 0;
  bool good_ = true;
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

/// A number as text that reads back to about 12 digits.
std::string text(double value) {
  return general_text(value, 12);
}

}  // namespace

std::string functions_property(FunctionHooks hooks, bool any) {
  if (any) return "true";
  if (hooks == FunctionHooks::kOthers)
    return "false: the program has a __cyg_profile_func_enter of its own";
  if (hooks == FunctionHooks::kSeen)
    return "false: no function that is compiled for it ran while functions were recorded";
  return "false: the program is not compiled with -finstrument-functions";
}

bool write_properties(OTF2_Archive* archive, const ArchiveInfo& info,
                      const Definitions& definitions, const Reach& reach,
                      const std::string& complete) {
  const double tick = 1 / info.ticks_per_second;
  std::string callbacks;
  for (const CodePlace& callback : definitions.callbacks) callbacks += callback.name + ";";
  const std::pair<const char*, std::string> ours[] = {
      {schema::kComplete, complete},
      {schema::kSizeConvention, "score-p"},
      {schema::kOverheadOutside, text(info.overhead.outside * tick)},
      {schema::kOverheadInsideBefore, text(info.overhead.inside_before * tick)},
      {schema::kOverheadInsideAfter, text(info.overhead.inside_after * tick)},
      {schema::kOverheadMessage, text(info.overhead.message * tick)},
      {schema::kOverheadRequest, text(info.overhead.request * tick)},
      {schema::kOverheadCompletion, text(info.overhead.completion * tick)},
      {schema::kOverheadCollective, text(info.overhead.collective * tick)},
      {schema::kPartRunsLimit, std::to_string(kMaxPartRuns)},
      {schema::kWildcards, "all"},
      {schema::kProbes, "found"},
      {schema::kCommand, info.command},
      {schema::kMpiLibrary, info.mpi_library},
      {schema::kMpiReached, joined(reach.ways)},
      {schema::kUnwatched, reach.ways.empty()        ? ""
                           : reach.unwatched.empty() ? "none"
                                                     : joined(reach.unwatched)},
      {schema::kCallbacks, callbacks},
  };
  bool good = true;
  for (const auto& [name, value] : ours) {
    // Not known, or of a damaged journal: OTF2 refuses it.
    if (*value.c_str() == '\0') continue;
    good = good &&
           OTF2_Archive_SetProperty(archive, name, as_utf8(value).c_str(), true) == OTF2_SUCCESS;
  }
  const std::pair<const char*, double> optional[] = {
      {schema::kOverheadFunction, info.overhead.function},
      {schema::kOverheadCallSite, info.overhead.call_site},
      {schema::kOverheadCallPath, info.path_ticks},
  };
  for (const auto& [name, ticks] : optional) {
    if (ticks < 0) continue;
    good = good && OTF2_Archive_SetProperty(archive, name, text(ticks * tick).c_str(), true) ==
                       OTF2_SUCCESS;
  }
  const std::pair<const char*, uint64_t> counts[] = {
      {schema::kEagerLimitNode, info.eager_limits.node},
      {schema::kEagerLimitNetwork, info.eager_limits.network},
      {schema::kUnrecordedFunctions, info.unrecorded_functions},
  };
  for (const auto& [name, count] : counts) {
    if (count == 0) continue;
    good = good && OTF2_Archive_SetProperty(archive, name, std::to_string(count).c_str(), true) ==
                       OTF2_SUCCESS;
  }
  if (info.function_hooks != FunctionHooks::kNotAsked) {
    const std::string value = functions_property(info.function_hooks, definitions.has_functions);
    good = good && OTF2_Archive_SetProperty(archive, schema::kFunctions, value.c_str(), true) ==
                       OTF2_SUCCESS;
  }
  // Score-P's properties hold for these archives too.
  const std::pair<const char*, bool> general[] = {
      {"OTF2::MPI_COMMUNICATION_COMPLETE", complete == "true"},
      {"OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", true},
      {"OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", true},
      {"OTF2::THREAD_LOCK_EVENT_COMPLETE", true},
      {"OTF2::PTHREAD_LOCATION_REUSED", info.locations_reused},
  };
  for (const auto& [name, value] : general) {
    good = good && OTF2_Archive_SetBoolProperty(archive, name, value, true) == OTF2_SUCCESS;
  }
  return good;
}

std::vector<TopologyReport> translated(const std::vector<TopologyReport>& own,
                                       const Translation& translation) {
  std::vector<TopologyReport> list;
  for (const TopologyReport& t : own) {
    if (t.communicator >= translation.global_id.size()) continue;
    const uint32_t number = translation.global_id[t.communicator];
    if (number != kNone) list.push_back({number, t.rank, t.topology});
  }
  return list;
}

bool write_definitions(OTF2_GlobalDefWriter* writer, const ArchiveInfo& info,
                       const Definitions& definitions, const Numbering& numbering,
                       const std::vector<RankSummary>& ranks) {
  return GlobalDefinitions(writer, info, definitions, numbering, ranks).write();
}

}  // namespace tracing
}  // namespace rubato
