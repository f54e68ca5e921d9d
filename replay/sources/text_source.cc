#include "replay/sources/text_source.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/base/error.h"
#include "models/base/units.h"
#include "replay/calls/function_clock.h"
#include "replay/calls/rank_calls.h"
#include "replay/sources/text_definitions.h"
#include "replay/store/call_places.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

const std::map<std::string, CollectiveOp> kCollectives = {
    {"barrier", CollectiveOp::kBarrier},
    {"bcast", CollectiveOp::kBcast},
    {"gather", CollectiveOp::kGather},
    {"gatherv", CollectiveOp::kGatherv},
    {"scatter", CollectiveOp::kScatter},
    {"scatterv", CollectiveOp::kScatterv},
    {"allgather", CollectiveOp::kAllgather},
    {"allgatherv", CollectiveOp::kAllgatherv},
    {"alltoall", CollectiveOp::kAlltoall},
    {"alltoallv", CollectiveOp::kAlltoallv},
    {"alltoallw", CollectiveOp::kAlltoallw},
    {"allreduce", CollectiveOp::kAllreduce},
    {"reduce", CollectiveOp::kReduce},
    {"reduce_scatter", CollectiveOp::kReduceScatter},
    {"reduce_scatter_block", CollectiveOp::kReduceScatterBlock},
    {"scan", CollectiveOp::kScan},
    {"exscan", CollectiveOp::kExscan},
    {"comm_create", CollectiveOp::kCreateHandle}};

enum class OneSidedCall {
  kPut,
  kGet,
  kFetch,
  kCreate,
  kFence,
  kLock,
  kUnlock,
  kFlush,
  kOpen,
  kClose
};

/// The last two find nothing if no peer is named.
const std::set<std::string> kProbes = {"probe", "mprobe", "iprobe", "improbe"};

const std::map<std::string, OneSidedCall> kOneSidedCalls = {
    {"put", OneSidedCall::kPut},
    {"rput", OneSidedCall::kPut},
    {"accumulate", OneSidedCall::kPut},
    {"get", OneSidedCall::kGet},
    {"rget", OneSidedCall::kGet},
    {"fetch_and_op", OneSidedCall::kFetch},
    {"win_create", OneSidedCall::kCreate},
    {"win_fence", OneSidedCall::kFence},
    {"win_free", OneSidedCall::kFence},
    {"win_lock", OneSidedCall::kLock},
    {"win_lock_all", OneSidedCall::kLock},
    {"win_unlock", OneSidedCall::kUnlock},
    {"win_unlock_all", OneSidedCall::kUnlock},
    {"win_flush", OneSidedCall::kFlush},
    {"win_flush_local", OneSidedCall::kFlush},
    {"win_flush_all", OneSidedCall::kFlush},
    {"win_post", OneSidedCall::kOpen},
    {"win_start", OneSidedCall::kOpen},
    {"win_complete", OneSidedCall::kClose},
    {"win_wait", OneSidedCall::kClose}};

/// The collective of that name; sets `started` for a nonblocking one, such as "ibarrier".
std::optional<CollectiveOp> collective_of(const std::string& name, bool& started) {
  started = name == "comm_idup";
  if (started) return CollectiveOp::kCreateHandle;
  const auto found = kCollectives.find(name);
  if (found != kCollectives.end()) return found->second;
  const auto blocking = kCollectives.find(name.substr(1));
  started = name[0] == 'i' && blocking != kCollectives.end();
  return started ? std::optional(blocking->second) : std::nullopt;
}

class TextSource : public EventSource {
 public:
  TextSource(const std::string& text, const std::string& origin) : text_(text, origin) {
    for (TextLine& line : text_.lines) take_site(line);
    for (const TextLine& line : text_.lines) {
      if (line.words.size() <= 2 || !(line.words[1] == "function" || line.words[1] == "enter"))
        continue;
      const auto number = static_cast<uint32_t>(function_names_.size());
      if (numbers_of_functions_.emplace(line.words[2], number).second)
        function_names_.push_back({line.words[2], "", 0});
    }
    rewind();
  }

  const TraceDefinitions& definitions() const override { return text_.trace; }

  bool read(int timeline, Block& block) override {
    return calls_[text_.trace.rank_of(timeline)]->take(text_.trace.thread_of(timeline), block);
  }

  void rewind() override {
    build_calls(false);
    const bool again = std::any_of(calls_.begin(), calls_.end(),
                                   [](const auto& calls) { return calls->has_cancelled_sends(); });
    if (again) build_calls(true);
  }

  void keep_records(bool keep) override {
    keep_records_ = keep;
    rewind();
  }

  std::vector<double> side_records(const SideLocation&) override { return {}; }

  std::vector<FunctionName> functions() const override { return function_names_; }
  void time_functions(const std::vector<std::string>& names) override {
    chosen_functions_ = names;
    rewind();
  }
  const FunctionTimes* function_times() const override {
    return chosen_functions_.empty() ? nullptr : &*function_times_;
  }
  void total_functions() override {
    totals_functions_ = true;
    rewind();
  }
  const FunctionTotals* function_totals() const override {
    return totals_functions_ ? &function_totals_ : nullptr;
  }

  std::vector<CallSite> call_sites() const override { return sites_; }
  void note_places() override {
    places_wanted_ = !sites_.empty() || !functions().empty();
    rewind();
  }
  const CallPlaces* call_places() const override { return places_ ? &*places_ : nullptr; }

  bool looks_at_posts() const override {
    return std::any_of(text_.trace.calls.begin(), text_.trace.calls.end(),
                       [](const MpiCallInfo& call) { return call.takes_some || call.synchronous; });
  }

  Counts counts() const override {
    Counts counts;
    for (int timeline = 0; timeline < text_.trace.timelines(); ++timeline) {
      const CallBuilder& builder =
          calls_[text_.trace.rank_of(timeline)]->builder(text_.trace.thread_of(timeline));
      counts.records += builder.records();
      counts.receives.add(builder.open_receives());
      counts.collectives.add(builder.open_collectives());
      counts.backwards.add(builder.backwards());
      counts.joined += builder.is_joined() ? 1 : 0;
    }
    return counts;
  }

 private:
  /// All calls of all ranks, from the lines.
  void build_calls(bool hold_sends) {
    calls_.clear();
    receives_.clear();
    sends_.clear();
    partitioned_sends_.clear();
    under_way_.clear();
    operations_.clear();
    groups_.clear();
    text_.trace.groups.clear();
    collectives_.clear();
    among_neighbours_.clear();
    prepared_among_neighbours_.clear();
    events_.assign(text_.trace.timelines(), 0);
    function_times_.emplace(text_.trace.timelines());
    for (int timeline = 0; timeline < text_.trace.timelines(); ++timeline)
      function_totals_[timeline] = {};
    clocks_.clear();
    CallPlaces* const places = places_wanted_ ? &places_.emplace(text_.trace.timelines()) : nullptr;
    for (int timeline = 0; timeline < text_.trace.timelines(); ++timeline)
      clocks_.emplace_back(
          FunctionWatch{&*function_times_, totals_functions_ ? &function_totals_ : nullptr, places},
          timeline);
    for (int rank = 0; rank < text_.trace.ranks(); ++rank) {
      calls_.push_back(std::make_unique<RankCalls>(text_.trace, text_.trace.timelines_of(rank)));
      calls_.back()->keep_records(keep_records_);
      if (hold_sends) calls_.back()->hold_sends();
    }
    for (const TextLine& line : text_.lines) build(line);
    for (FunctionClock& clock : clocks_) clock.finish();
    for (int timeline = 0; timeline < text_.trace.timelines(); ++timeline)
      calls_[text_.trace.rank_of(timeline)]->end(text_.trace.thread_of(timeline));
  }

  /// Index of an MPI call in the table, which grows with new names.
  int32_t call(const std::string& name) {
    for (size_t i = 0; i < text_.trace.calls.size(); ++i) {
      if (text_.trace.calls[i].name == name) return static_cast<int32_t>(i);
    }
    text_.trace.calls.push_back(mpi_call_info(name));
    return static_cast<int32_t>(text_.trace.calls.size()) - 1;
  }

  using Request = std::pair<int, uint64_t>;  ///< rank and number

  /// A request of the rank of a line.
  static Request key(const TextLine& line, int request) {
    return {line.rank, static_cast<uint64_t>(request)};
  }

  bool is_under_way(const Request& request) const {
    return sends_.count(request) + partitioned_sends_.count(request) + receives_.count(request) +
               collectives_.count(request) + among_neighbours_.count(request) +
               operations_.count(request) >
           0;
  }

  uint64_t bytes(const TextLine& line, size_t index) const {
    if (index >= line.words.size()) return 0;
    try {
      return static_cast<uint64_t>(parse_bytes(line.words[index]));
    } catch (const InputError& error) {
      text_.fail(line, error.what());
    }
  }

  /// The bytes for each member, given after "parts"; removes them from the words.
  std::vector<uint64_t> take_parts(TextLine& line) const {
    const auto found = std::find(line.words.begin(), line.words.end(), "parts");
    std::vector<uint64_t> parts;
    for (auto word = found; word != line.words.end() && ++word != line.words.end();)
      parts.push_back(bytes(line, static_cast<size_t>(word - line.words.begin())));
    line.words.erase(found, line.words.end());
    return parts;
  }

  /// Notes the line of the program that makes a call, "FILE:LINE" after "at", and removes it from
  /// the words.
  void take_site(TextLine& line) {
    const auto at = std::find(line.words.begin(), line.words.end(), "at");
    if (at == line.words.end()) return;
    if (at + 1 == line.words.end()) text_.fail(line, "'at' has no value");
    const std::string& place = *(at + 1);
    const size_t colon = place.find_last_of(':');
    if (colon == std::string::npos) text_.fail(line, "write 'at FILE:LINE'");
    const int number = text_.whole_number(line, place.substr(colon + 1));
    const CallSite site{place.substr(0, colon), static_cast<uint32_t>(number)};
    const auto known = std::find_if(sites_.begin(), sites_.end(), [&](const CallSite& other) {
      return other.file == site.file && other.line == site.line;
    });
    site_of_line_[line.number] = static_cast<uint32_t>(known - sites_.begin());
    if (known == sites_.end()) sites_.push_back(site);
    line.words.erase(at, at + 2);
  }

  FunctionClock::Function function_named(const TextLine& line) const {
    const std::string& name = line.words[2];
    const auto known = numbers_of_functions_.find(name);
    if (known == numbers_of_functions_.end())
      text_.fail(line, "write 'function NAME' right after the times");
    FunctionClock::Function function;
    for (size_t i = 0; i < chosen_functions_.size(); ++i) {
      if (is_function(name, chosen_functions_[i])) function.chosen |= uint64_t{1} << i;
    }
    function.number = known->second;
    return function;
  }

  void build(TextLine line) {
    const auto tag = static_cast<uint32_t>(text_.whole_option(line, "tag", 0));
    const int comm_number = text_.whole_option(line, "comm", 0);
    const uint32_t comm = text_.comm_of(line, comm_number);
    const int root = text_.whole_option(line, "root", kNoRoot, std::numeric_limits<int32_t>::min());
    const int request = text_.whole_option(line, "req", -1);
    const int init_order = text_.whole_option(line, "persistent", 0);
    const int window = text_.whole_option(line, "win", 1);
    const double flushed = text_.option(line, "flushed", 0);
    const double lost = text_.option(line, "lost", 0);
    const double own = text_.option(line, "own", 0);
    const auto block = static_cast<uint64_t>(text_.option(line, "block", 0));
    const double stolen = text_.option(line, "stolen", 0);
    const auto asked_any = [&line](const char* what) { return std::erase(line.words, what) > 0; };
    const uint8_t wildcards =
        (asked_any("any_source") ? kAnySource : 0) | (asked_any("any_tag") ? kAnyTag : 0);
    const bool partitioned = std::erase(line.words, "partitioned") > 0;
    const bool in_place = std::erase(line.words, "in_place") > 0;
    const std::vector<uint64_t> parts = take_parts(line);
    if (line.words.size() < 2) text_.fail(line, "write RANK: ENTER..LEAVE CALL ...");
    const size_t dots = line.words[0].find("..");
    const double enter = text_.number(line, line.words[0].substr(0, dots));
    const double leave =
        dots == std::string::npos ? enter : text_.number(line, line.words[0].substr(dots + 2));
    const std::string& what = line.words[1];
    if (partitioned && what != "isend" && what != "irecv")
      text_.fail(line, "only isend and irecv can be partitioned");
    const auto record = [&](double time, auto method, auto... arguments) {
      const int timeline = text_.trace.timelines_of(line.rank)[line.thread];
      calls_[line.rank]->record(line.thread, ++events_[timeline], time, method, arguments...);
    };
    FunctionClock& clock = clocks_[text_.trace.timelines_of(line.rank)[line.thread]];
    if (what == "function") {
      if (line.words.size() > 2) {
        const FunctionClock::Function function = function_named(line);
        clock.enter_function(function, enter);
        clock.leave_function(function, leave);
      }
      record(enter, &CallBuilder::enter, int32_t{-1});
      return record(leave, &CallBuilder::leave, int32_t{-1});
    }
    if (what == "enter" || what == "leave") {
      if (line.words.size() < 3) text_.fail(line, "the function is missing");
      if (what == "enter") {
        clock.enter_function(function_named(line), enter);
        return record(enter, &CallBuilder::enter, int32_t{-1});
      }
      const auto is_this = [&](const FunctionName& known) { return known.name == line.words[2]; };
      if (std::none_of(function_names_.begin(), function_names_.end(), is_this))
        text_.fail(line, "function " + line.words[2] + " was not entered");
      clock.leave_function(function_named(line), enter);
      return record(enter, &CallBuilder::leave, int32_t{-1});
    }
    if (stolen > 0) clock.lose(stolen, enter);
    const auto site = site_of_line_.find(line.number);
    clock.stop(events_[text_.trace.timelines_of(line.rank)[line.thread]] + 1, enter,
               site == site_of_line_.end() ? kNoPlace : site->second);
    if (what == "finalize") clock.end_window();
    clock.go(leave);
    if (what == "init") clock.begin_window();
    const auto record_silently = [&](auto method, auto... arguments) {
      const int timeline = text_.trace.timelines_of(line.rank)[line.thread];
      calls_[line.rank]->record(line.thread, events_[timeline], enter, method, arguments...);
    };
    if (what == "create" || what == "begin" || what == "join" ||
        (what == "end" && line.words.size() > 2)) {
      return thread_step(line, enter, leave, lost, record, record_silently);
    }
    if (what == "end") return record(enter, &CallBuilder::other);
    if (what == "off") {
      record(enter, &CallBuilder::measurement, false);
      return record(leave, &CallBuilder::measurement, true);
    }
    if (stolen > 0) record_silently(&CallBuilder::stolen_before, stolen);
    if (what == "flush") return record(enter, &CallBuilder::buffer_flush, leave);
    const int32_t name = call(
        what == "local" && line.words.size() > 2 ? line.words[2] : mpi_call_name("mpi_" + what));
    const auto peer = [&](size_t index) {
      if (index >= line.words.size()) text_.fail(line, "the peer is missing");
      return text_.rank_named(line, index);
    };
    record(enter, &CallBuilder::enter, name);
    if (lost > 0) record_silently(&CallBuilder::stolen_inside, lost);
    if (own > 0) record_silently(&CallBuilder::own_work, own, int32_t{0});
    if (block > 0) record_silently(&CallBuilder::in_blocks, block);
    if (flushed > 0) record(enter, &CallBuilder::buffer_flush, enter + flushed);
    if (kProbes.contains(what) && (line.words.size() > 2 || what[0] != 'i'))
      record_silently(&CallBuilder::probed, comm, peer(2), tag, wildcards);
    if (what == "alltoallv_init")
      record_silently(&CallBuilder::prepares_parts, static_cast<uint64_t>(request));
    for (const uint64_t part : parts) record(enter, &CallBuilder::part, part, uint32_t{1});
    bool is_started = false;
    if (what == "send" || what == "ssend" || what == "bsend") {
      record(enter, &CallBuilder::send, comm, peer(2), tag, bytes(line, 3));
    } else if (what == "isend" || what == "issend") {
      record(enter, &CallBuilder::isend, comm, peer(2), tag, bytes(line, 3),
             static_cast<uint64_t>(request), partitioned ? uint8_t{kPartitioned} : uint8_t{0});
      if (request >= 0) (partitioned ? partitioned_sends_ : sends_).insert(key(line, request));
    } else if (what == "pready") {
      if (line.words.size() > 2) {
        const Request id = key(line, text_.whole_number(line, line.words[2]));
        if (!partitioned_sends_.count(id))
          text_.fail(line, "request " + line.words[2] + " is no started partitioned message");
        record(enter, &CallBuilder::partition_ready, id.second);
      }
    } else if (what == "start") {
      if (line.words.size() < 3) text_.fail(line, "the request is missing");
      const Request id = key(line, text_.whole_number(line, line.words[2]));
      if (!prepared_among_neighbours_.count(id))
        text_.fail(line, "request " + line.words[2] + " was not prepared");
      record(enter, &CallBuilder::neighbours_start, id.second);
      among_neighbours_.insert(id);
    } else if (what == "recv") {
      record(leave, &CallBuilder::recv, comm, peer(2), tag, bytes(line, 3), wildcards);
    } else if (what == "irecv") {
      record(enter, &CallBuilder::irecv_request, static_cast<uint64_t>(request),
             partitioned ? uint8_t{kPartitioned} : wildcards);
      receives_[key(line, request)] = {peer(2), tag, comm, bytes(line, 3)};
    } else if (what == "sendrecv") {
      record(enter, &CallBuilder::send, comm, peer(2), tag, bytes(line, 3));
      record(leave, &CallBuilder::recv, comm, peer(4), tag, bytes(line, 5), wildcards);
    } else if (what == "wait" || what == "waitall" || what == "waitany" || what == "waitsome" ||
               what == "test" || what == "testany" || what == "request_free") {
      complete(line, leave, record);
    } else if (const auto op = collective_of(what, is_started); op.has_value()) {
      if (text_.trace.comms[comm].local_rank(line.rank) < 0)
        text_.fail(line, "the rank is not in communicator " + std::to_string(comm_number));
      if (root >= text_.trace.comms[comm].size() ||
          (root < 0 && root != kNoRoot && root != kRootInOwnGroup))
        text_.fail(line, "communicator " + std::to_string(comm_number) + " has no rank " +
                             std::to_string(root));
      if (is_rooted(*op) && root == kNoRoot) text_.fail(line, "write root RANK");
      const Communicator& members = text_.trace.comms[comm];
      const auto [sent, received] =
          whole_bytes(text_.trace, *op, comm, root, members.local_rank(line.rank),
                      {bytes(line, 2), bytes(line, 3)}, in_place);
      const CollectiveText c{*op, comm, root, sent, received};
      if (is_started) {
        record(enter, &CallBuilder::icollective_request, static_cast<uint64_t>(request),
               static_cast<uint32_t>(init_order));
        collectives_[key(line, request)] = c;
      } else {
        record(leave, &CallBuilder::collective_end, c.op, c.comm, c.root, c.sent, c.received);
      }
    } else if (text_.trace.calls[name].among_neighbours) {
      const NeighbourExchange exchange{comm, bytes(line, 2), bytes(line, 3)};
      record_silently(&CallBuilder::neighbours, exchange,
                      request < 0 ? 0 : static_cast<uint64_t>(request));
      if (request >= 0) among_neighbours_.insert(key(line, request));
    } else if (what.rfind("neighbor_", 0) == 0 && what.ends_with("_init")) {
      if (request < 0) text_.fail(line, "the request is missing");
      record_silently(&CallBuilder::neighbours_init,
                      NeighbourExchange{comm, bytes(line, 2), bytes(line, 3)},
                      static_cast<uint64_t>(request));
      prepared_among_neighbours_.insert(key(line, request));
    } else if (kOneSidedCalls.count(what)) {
      one_sided(line, window, request, enter, leave, record, peer);
    } else if (what == "init") {
      record_silently(&CallBuilder::begins_world, uint32_t{0});
    } else if (what != "local" && what != "finalize" && !kProbes.contains(what) &&
               what != "alltoallv_init") {
      text_.fail(line, "'" + what + "' is not a call this format knows");
    }
    record(leave, &CallBuilder::leave, name);
  }

  /// A thread of a rank creates or joins another one, begins or ends.
  template <typename Record, typename Silently>
  void thread_step(const TextLine& line, double enter, double leave, double lost, Record record,
                   Silently record_silently) {
    if (line.words.size() < 3) text_.fail(line, "the number of the thread is missing");
    const ThreadName thread{0, static_cast<uint64_t>(text_.whole_number(line, line.words[2]))};
    const int32_t join = call("pthread_join");
    text_.trace.calls[join].joins = true;
    const std::string& what = line.words[1];
    if (what == "create") return record(enter, &CallBuilder::thread_create, thread);
    if (what == "begin") return record(enter, &CallBuilder::thread_begin, thread);
    if (what == "end") return record(enter, &CallBuilder::thread_end, thread);
    record(enter, &CallBuilder::enter, join);
    if (lost > 0) record_silently(&CallBuilder::stolen_inside, lost);
    record(leave, &CallBuilder::thread_wait, thread);
    record(leave, &CallBuilder::leave, join);
  }

  struct CollectiveText {
    CollectiveOp op;
    uint32_t comm;
    int32_t root;
    uint64_t sent;
    uint64_t received;
  };
  /// A call that completes requests, or tests them without success.
  template <typename Record>
  void complete(const TextLine& line, double leave, Record record) {
    const bool in_vain = line.words.size() > 2 && line.words[2] == "not";
    const bool cancelled = line.words.size() > 2 && line.words[2] == "cancelled";
    for (size_t i = in_vain || cancelled ? 3 : 2; i < line.words.size(); ++i) {
      const Request id = key(line, text_.whole_number(line, line.words[i]));
      if (in_vain) {
        if (!is_under_way(id))
          text_.fail(line, "request " + line.words[i] + " was not made, or is complete");
        record(leave, &CallBuilder::request_test, id.second);
        continue;
      }
      if (cancelled) {
        if (sends_.erase(id) + partitioned_sends_.erase(id) + receives_.erase(id) == 0)
          text_.fail(line, "request " + line.words[i] + " is no message in progress");
        record(leave, &CallBuilder::cancelled, id.second);
        continue;
      }
      if (const auto started = collectives_.find(id); started != collectives_.end()) {
        const CollectiveText& c = started->second;
        record(leave, &CallBuilder::icollective_complete, c.op, c.comm, c.root, c.sent, c.received,
               id.second);
        collectives_.erase(started);
        continue;
      }
      if (among_neighbours_.erase(id)) {
        record(leave, &CallBuilder::neighbours_end, id.second);
        continue;
      }
      const auto receive = receives_.find(id);
      const auto operation = operations_.find(id);
      if (operation != operations_.end()) {
        const auto [number, win, fetches] = operation->second;
        record(leave, &CallBuilder::one_sided_done, win, number, false);
        if (fetches) record(leave, &CallBuilder::one_sided_done, win, number, true);
        operations_.erase(operation);
      } else if (receive == receives_.end()) {
        if (sends_.erase(id) + partitioned_sends_.erase(id) == 0)
          text_.fail(line, "request " + line.words[i] + " was not made, or is complete");
        record(leave, &CallBuilder::isend_complete, id.second);
      } else {
        const PostedText& p = receive->second;
        record(leave, &CallBuilder::irecv, p.comm, p.source, p.tag, p.bytes, id.second);
        receives_.erase(receive);
      }
    }
  }

  /// A call of one-sided communication. Puts to a target share a number until they complete. Gets
  /// from it share another number, and complete at both ends at once, as in tracers; operations
  /// with a request have a number of their own.
  template <typename Record, typename Peer>
  void one_sided(const TextLine& line, int number_of_window, int request, double enter,
                 double leave, Record record, Peer peer) {
    const auto found = text_.windows.find(number_of_window);
    if (found == text_.windows.end())
      text_.fail(line, "window " + std::to_string(number_of_window) + " is not defined");
    const uint32_t window = found->second;
    const std::string& what = line.words[1];
    if (text_.trace.comms[window].local_rank(line.rank) < 0)
      text_.fail(line, "the rank is not in window " + std::to_string(number_of_window));
    std::map<int32_t, UnderWay>& open = under_way_[{line.rank, window}];
    const auto done = [&](uint64_t id, bool remotely) {
      if (id == 0) return;
      record(leave, &CallBuilder::one_sided_done, window, id, false);
      if (remotely) record(leave, &CallBuilder::one_sided_done, window, id, true);
    };
    const auto complete = [&](int32_t target, bool remotely) {
      UnderWay& to = open[target];
      done(to.puts, remotely);
      done(std::exchange(to.gets, 0), true);
      for (const uint64_t id : to.requests) done(id, remotely);
      if (remotely) open.erase(target);
    };
    const auto complete_all = [&] {
      while (!open.empty()) complete(open.begin()->first, true);
    };
    switch (kOneSidedCalls.at(what)) {
      case OneSidedCall::kPut:
      case OneSidedCall::kGet:
      case OneSidedCall::kFetch: {
        const bool puts = kOneSidedCalls.at(what) == OneSidedCall::kPut;
        const bool gets = kOneSidedCalls.at(what) == OneSidedCall::kGet;
        UnderWay& to = open[peer(2)];
        uint64_t& shared = puts ? to.puts : to.gets;
        if (request >= 0 || shared == 0) ++last_operation_;
        if (request >= 0 && puts) {
          to.requests.push_back(last_operation_);
        } else if (request < 0 && shared == 0) {
          shared = last_operation_;
        }
        const uint64_t id = request >= 0 ? last_operation_ : shared;
        record(enter, &CallBuilder::one_sided, window, peer(2), gets ? 0 : bytes(line, 3),
               puts ? 0 : bytes(line, gets ? 3 : 4), !puts, id);
        if (request >= 0) operations_[key(line, request)] = {id, window, !puts};
        break;
      }
      case OneSidedCall::kCreate:
      case OneSidedCall::kFence:
        complete_all();
        record(leave, &CallBuilder::collective_end,
               what == "win_create" ? CollectiveOp::kCreateHandle : CollectiveOp::kBarrier, window,
               kNoRoot, uint64_t{0}, uint64_t{0});
        break;
      case OneSidedCall::kLock:
        record(enter, &CallBuilder::lock, window, what == "win_lock_all" ? kNoRoot : peer(2),
               line.words.back() == "exclusive");
        break;
      case OneSidedCall::kUnlock:
        if (what == "win_unlock_all") {
          complete_all();
        } else {
          complete(peer(2), true);
        }
        record(leave, &CallBuilder::unlock, window, what == "win_unlock_all" ? kNoRoot : peer(2));
        break;
      case OneSidedCall::kFlush:
        if (what == "win_flush_all") {
          complete_all();
        } else {
          complete(peer(2), what == "win_flush");
        }
        break;
      case OneSidedCall::kOpen: {
        uint32_t& group = groups_[{line.rank, window, what == "win_post"}];
        group = static_cast<uint32_t>(text_.trace.groups.size());
        std::vector<int32_t> peers;
        for (size_t i = 2; i < line.words.size(); ++i) peers.push_back(peer(i));
        text_.trace.groups.emplace_back(std::move(peers));
        record(leave, &CallBuilder::epoch, window, group);
        break;
      }
      case OneSidedCall::kClose: {
        const auto group = groups_.find({line.rank, window, what == "win_wait"});
        if (group == groups_.end()) text_.fail(line, "there is no win_post or win_start before");
        if (what == "win_complete") complete_all();
        record(leave, &CallBuilder::epoch, window, group->second);
      }
    }
  }

  /// Numbers of operations in progress with a target; 0: none.
  struct UnderWay {
    uint64_t puts = 0;
    uint64_t gets = 0;
    std::vector<uint64_t> requests;  ///< puts with a request that are not complete at the target
  };
  struct PostedText {
    int32_t source;
    uint32_t tag;
    uint32_t comm;
    uint64_t bytes;
  };

  TextDefinitions text_;
  std::vector<std::unique_ptr<RankCalls>> calls_;  ///< by rank
  std::vector<uint64_t> events_;                   ///< by timeline: number of events
  std::vector<std::string> chosen_functions_;      ///< to be timed
  std::optional<FunctionTimes> function_times_;
  bool totals_functions_ = false;
  std::vector<FunctionName> function_names_;  ///< in the order of the lines
  std::unordered_map<std::string, uint32_t> numbers_of_functions_;
  FunctionTotals function_totals_;
  std::vector<FunctionClock> clocks_;  ///< by timeline
  std::vector<CallSite> sites_;
  std::map<int, uint32_t> site_of_line_;  ///< index into sites_
  bool places_wanted_ = false;
  std::optional<CallPlaces> places_;
  std::map<Request, PostedText> receives_;
  std::map<Request, CollectiveText> collectives_;
  // By rank and request: those in progress, and persistent collectives.
  std::set<Request> sends_;
  std::set<Request> partitioned_sends_;
  std::set<Request> among_neighbours_;
  std::set<Request> prepared_among_neighbours_;
  /// By rank and window, then by target.
  std::map<std::pair<int, uint32_t>, std::map<int32_t, UnderWay>> under_way_;
  /// Number and window of an operation with a request, and whether it fetches; by rank and request.
  std::map<Request, std::tuple<uint64_t, uint32_t, bool>> operations_;
  std::map<std::tuple<int, uint32_t, bool>, uint32_t> groups_;  ///< by rank, window, exposure
  uint64_t last_operation_ = 0;
  bool keep_records_ = false;
};

}  // namespace

std::unique_ptr<EventSource> parse_text_trace(const std::string& text, const std::string& origin) {
  return std::make_unique<TextSource>(text, origin);
}

}  // namespace rubato
