#include "replay/text_source.h"

#include <algorithm>
#include <sstream>

#include "models/error.h"
#include "models/units.h"
#include "replay/rank_calls.h"

namespace rubato {
namespace {

const std::map<std::string, CollectiveOp> kCollectives = {
    {"barrier", CollectiveOp::kBarrier},
    {"bcast", CollectiveOp::kBcast},
    {"gather", CollectiveOp::kGather},
    {"scatter", CollectiveOp::kScatter},
    {"allgather", CollectiveOp::kAllgather},
    {"alltoall", CollectiveOp::kAlltoall},
    {"allreduce", CollectiveOp::kAllreduce},
    {"reduce", CollectiveOp::kReduce},
    {"scan", CollectiveOp::kScan},
    {"exscan", CollectiveOp::kExscan},
    {"comm_create", CollectiveOp::kCreateHandle}};

struct Line {
  int number;
  int rank;
  int thread;
  std::vector<std::string> words;
};

class TextSource : public EventSource {
 public:
  TextSource(const std::string& text, std::string origin) : origin_(std::move(origin)) {
    read_lines(text);
    for (int rank = 0; rank < trace_.ranks(); ++rank) check(rank);
    rewind();
  }

  const TraceDefinitions& definitions() const override { return trace_; }

  bool read(int timeline, Block& block) override {
    return calls_[trace_.rank_of(timeline)]->take(trace_.thread_of(timeline), block);
  }

  void rewind() override {
    calls_.clear();
    receives_.clear();
    events_.assign(trace_.timelines(), 0);
    for (int rank = 0; rank < trace_.ranks(); ++rank) {
      calls_.push_back(std::make_unique<RankCalls>(trace_, trace_.timelines_of(rank)));
      calls_.back()->keep_records(keep_records_);
    }
    for (const Line& line : lines_) build(line);
    for (int timeline = 0; timeline < trace_.timelines(); ++timeline)
      calls_[trace_.rank_of(timeline)]->end(trace_.thread_of(timeline));
  }

  void keep_records(bool keep) override {
    keep_records_ = keep;
    rewind();
  }

  std::vector<double> side_records(const SideLocation&) override { return {}; }

  Counts counts() const override {
    Counts counts;
    for (int timeline = 0; timeline < trace_.timelines(); ++timeline) {
      const CallBuilder& builder =
          calls_[trace_.rank_of(timeline)]->builder(trace_.thread_of(timeline));
      counts.records += builder.records();
      counts.receives_never_completed += builder.never_completed();
    }
    return counts;
  }

 private:
  [[noreturn]] void fail(const Line& line, const std::string& why) const {
    throw InputError(origin_ + ":" + std::to_string(line.number) + ": " + why);
  }

  double number(const Line& line, const std::string& word) const {
    try {
      size_t used = 0;
      const double value = std::stod(word, &used);
      if (used == word.size()) return value;
    } catch (const std::exception&) {
    }
    fail(line, "'" + word + "' is not a number");
  }

  void read_lines(const std::string& text) {
    std::istringstream in(text);
    std::string raw;
    std::vector<int> nodes;
    std::map<int, std::vector<int32_t>> comms;
    int ranks = 0;
    std::map<int, int> threads;  // by rank: the highest number
    for (int number_of_line = 1; std::getline(in, raw); ++number_of_line) {
      std::istringstream words(raw.substr(0, raw.find('#')));
      Line line{number_of_line, -1, 0, {}};
      for (std::string word; words >> word;) line.words.push_back(word);
      if (line.words.empty()) continue;
      if (line.words[0] == "nodes") {
        for (size_t i = 1; i < line.words.size(); ++i)
          nodes.push_back(static_cast<int>(number(line, line.words[i])));
        continue;
      }
      if (line.words[0] == "comm") {
        if (line.words.size() < 3) fail(line, "write comm NUMBER RANK...");
        auto& members = comms[static_cast<int>(number(line, line.words[1]))];
        for (size_t i = 2; i < line.words.size(); ++i)
          members.push_back(static_cast<int>(number(line, line.words[i])));
        continue;
      }
      if (line.words[0].back() != ':') fail(line, "a line starts with RANK: or nodes or comm");
      line.words[0].pop_back();
      const size_t dot = line.words[0].find('.');
      line.rank = static_cast<int>(number(line, line.words[0].substr(0, dot)));
      if (dot != std::string::npos)
        line.thread = static_cast<int>(number(line, line.words[0].substr(dot + 1)));
      threads[line.rank] = std::max(threads[line.rank], line.thread);
      line.words.erase(line.words.begin());
      ranks = std::max(ranks, line.rank + 1);
      lines_.push_back(std::move(line));
    }
    define(ranks, nodes, comms, threads);
  }

  void define(int ranks, std::vector<int> nodes, const std::map<int, std::vector<int32_t>>& comms,
              const std::map<int, int>& threads) {
    nodes.resize(ranks, 0);
    trace_.path = origin_;
    trace_.creator = "text";
    trace_.node_of_rank = nodes;
    trace_.nodes.resize(1 + (ranks ? *std::max_element(nodes.begin(), nodes.end()) : 0), "node");
    Communicator world;
    world.name = "MPI_COMM_WORLD";
    std::vector<int32_t> everybody;
    for (int rank = 0; rank < ranks; ++rank) {
      trace_.location_of_rank.push_back(rank);
      everybody.push_back(rank);
    }
    world.set_members(std::move(everybody));
    trace_.world = 0;
    trace_.comms.push_back(world);
    for (const auto& [index, members] : comms) {
      Communicator comm;
      comm.name = "comm " + std::to_string(index);
      comm.set_members(members);
      trace_.comms.push_back(comm);
    }
    std::vector<SideLocation> locations;
    for (const auto& [rank, most] : threads) {
      for (uint64_t thread = 1; thread <= static_cast<uint64_t>(most); ++thread)
        locations.push_back({thread << 32 | static_cast<uint64_t>(rank), rank, true});
    }
    trace_.make_timelines(locations);
  }

  /// Index of an MPI call in the table, which grows as names turn up.
  int32_t call(const std::string& name) {
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (trace_.calls[i].name == name) return static_cast<int32_t>(i);
    }
    trace_.calls.push_back(mpi_call_info(name));
    return static_cast<int32_t>(trace_.calls.size()) - 1;
  }

  void check(int rank) const {
    const bool found =
        std::any_of(lines_.begin(), lines_.end(), [&](const Line& l) { return l.rank == rank; });
    if (!found) throw InputError(origin_ + ": rank " + std::to_string(rank) + " has no calls");
  }

  /// The value behind a keyword, taken out of the words; `otherwise` when it is not there.
  double option(Line& line, const std::string& keyword, double otherwise) const {
    const auto found = std::find(line.words.begin(), line.words.end(), keyword);
    if (found == line.words.end()) return otherwise;
    if (found + 1 == line.words.end()) fail(line, "nothing stands behind '" + keyword + "'");
    const double value = number(line, *(found + 1));
    line.words.erase(found, found + 2);
    return value;
  }

  uint64_t bytes(const Line& line, size_t index) const {
    if (index >= line.words.size()) return 0;
    try {
      return static_cast<uint64_t>(parse_bytes(line.words[index]));
    } catch (const InputError& error) {
      fail(line, error.what());
    }
  }

  void build(Line line) {
    const auto tag = static_cast<uint32_t>(option(line, "tag", 0));
    const auto comm = static_cast<uint32_t>(option(line, "comm", 0));
    const auto root = static_cast<int32_t>(option(line, "root", kNoRoot));
    const double request = option(line, "req", -1);
    if (line.words.size() < 2) fail(line, "write RANK: ENTER..LEAVE CALL ...");
    const size_t dots = line.words[0].find("..");
    const double enter = number(line, line.words[0].substr(0, dots));
    const double leave =
        dots == std::string::npos ? enter : number(line, line.words[0].substr(dots + 2));
    const std::string& what = line.words[1];
    const auto record = [&](double time, auto method, auto... arguments) {
      const int timeline = trace_.timelines_of(line.rank)[line.thread];
      calls_[line.rank]->record(line.thread, ++events_[timeline], time, method, arguments...);
    };
    if (what == "function") {
      record(enter, &CallBuilder::enter, int32_t{-1});
      return record(leave, &CallBuilder::leave, int32_t{-1});
    }
    if (what == "end") return record(enter, &CallBuilder::other);
    if (what == "off") {
      record(enter, &CallBuilder::measurement, false);
      return record(leave, &CallBuilder::measurement, true);
    }
    if (what == "flush") return record(enter, &CallBuilder::buffer_flush, leave);
    if (comm >= trace_.comms.size())
      fail(line, "communicator " + std::to_string(comm) + " is not defined");
    const int32_t name = call(
        what == "local" && line.words.size() > 2 ? line.words[2] : mpi_call_name("mpi_" + what));
    const auto peer = [&](size_t index) {
      if (index >= line.words.size()) fail(line, "the peer is missing");
      const double rank = number(line, line.words[index]);
      if (rank < 0 || rank >= trace_.ranks()) fail(line, "there is no rank " + line.words[index]);
      return static_cast<int32_t>(rank);
    };
    record(enter, &CallBuilder::enter, name);
    if (what == "send" || what == "ssend" || what == "bsend") {
      record(enter, &CallBuilder::send, comm, peer(2), tag, bytes(line, 3));
    } else if (what == "isend" || what == "issend") {
      record(enter, &CallBuilder::isend, comm, peer(2), tag, bytes(line, 3),
             static_cast<uint64_t>(request), uint8_t{0});
    } else if (what == "recv") {
      record(leave, &CallBuilder::recv, comm, peer(2), tag, bytes(line, 3));
    } else if (what == "irecv") {
      record(enter, &CallBuilder::irecv_request, static_cast<uint64_t>(request), false);
      receives_[{line.rank, static_cast<uint64_t>(request)}] = {peer(2), tag, comm, bytes(line, 3)};
    } else if (what == "sendrecv") {
      record(enter, &CallBuilder::send, comm, peer(2), tag, bytes(line, 3));
      record(leave, &CallBuilder::recv, comm, peer(4), tag, bytes(line, 5));
    } else if (what == "wait" || what == "waitall" || what == "waitany" || what == "waitsome" ||
               what == "test") {
      for (size_t i = 2; i < line.words.size(); ++i) {
        const auto id = static_cast<uint64_t>(number(line, line.words[i]));
        const auto receive = receives_.find({line.rank, id});
        if (receive == receives_.end()) {
          record(leave, &CallBuilder::isend_complete, id);
        } else {
          const PostedText& p = receive->second;
          record(leave, &CallBuilder::irecv, p.comm, p.source, p.tag, p.bytes, id);
          receives_.erase(receive);
        }
      }
    } else if (kCollectives.count(what)) {
      if (trace_.comms[comm].local_rank(line.rank) < 0)
        fail(line, "the rank is not in communicator " + std::to_string(comm));
      if (root >= trace_.comms[comm].size())
        fail(line, "communicator " + std::to_string(comm) + " has no rank " + std::to_string(root));
      record(leave, &CallBuilder::collective_end, kCollectives.at(what), comm, root, bytes(line, 2),
             bytes(line, 3));
    } else if (what != "local" && what != "init" && what != "finalize") {
      fail(line, "'" + what + "' is not a call this format knows");
    }
    record(leave, &CallBuilder::leave, name);
  }

  struct PostedText {
    int32_t source;
    uint32_t tag;
    uint32_t comm;
    uint64_t bytes;
  };

  std::string origin_;
  TraceDefinitions trace_;
  std::vector<Line> lines_;
  std::vector<std::unique_ptr<RankCalls>> calls_;  ///< by rank
  std::vector<uint64_t> events_;                   ///< by timeline: how many there are
  std::map<std::pair<int, uint64_t>, PostedText> receives_;
  bool keep_records_ = false;
};

}  // namespace

std::unique_ptr<EventSource> parse_text_trace(const std::string& text, const std::string& origin) {
  return std::make_unique<TextSource>(text, origin);
}

}  // namespace rubato
