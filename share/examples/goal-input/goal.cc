// An input format outside of the library: GOAL schedules in LogGOPSim's text format, and a program
// that replays them. Build it with the CMakeLists.txt in this directory; usage: goal FILE SCENARIO.
//
// A schedule has no times, only lengths of computation: calls take no time here, so it is meant for
// models, not for `measured`. What an importer gives: share/doc/input-formats.md.
//
// A rank does one thing after another here: of the operations that may start, the first one in the
// file. Messages are nonblocking, and whatever `requires` one waits for it. Not understood: several
// processors of a rank (`cpu` and `nic` are ignored), receives from any source or with any tag.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "replay/calls/rank_calls.h"
#include "replay/rubato.h"

namespace {

struct Operation {
  enum Kind { kCalc, kSend, kReceive } kind = kCalc;
  uint64_t amount = 0;  ///< ns, bytes
  int peer = 0;
  uint32_t tag = 0;
  std::vector<size_t> ended, started;  ///< operations that it requires and irequires
};

/// The operations of each rank.
class Schedule {
 public:
  explicit Schedule(const std::string& path) : path_(path) {
    std::ifstream file(path);
    if (!file) throw rubato::InputError(path + ": cannot be read");
    for (std::string text; std::getline(file, text);) {
      ++line_;
      std::istringstream words(text.substr(0, text.find("//")));
      std::string word;
      if (words >> word) read(word, words);
    }
    if (ranks.empty()) throw rubato::InputError(path + ": no 'num_ranks' in it");
  }

  std::vector<std::vector<Operation>> ranks;

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw rubato::InputError(path_ + ":" + std::to_string(line_) + ": " + why);
  }
  template <typename Number>
  Number number(std::istream& words, const char* what) const {
    Number value{};
    if (!(words >> value) || value < 0) fail(std::string("expected ") + what);
    return value;
  }
  int rank(std::istream& words) const {
    const int rank = number<int>(words, "a rank (from any source is not supported)");
    if (static_cast<size_t>(rank) >= ranks.size()) fail("there is no rank " + std::to_string(rank));
    return rank;
  }
  std::vector<Operation>& current() {
    if (rank_ < 0) fail("outside of 'rank N {'");
    return ranks[rank_];
  }
  size_t labelled(const std::string& label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail("there is no operation '" + label + "' before");
    return found->second;
  }

  void read(const std::string& word, std::istream& words) {
    if (word == "num_ranks") {
      ranks.resize(number<uint32_t>(words, "the number of ranks"));
    } else if (word == "rank") {
      rank_ = rank(words);
      labels_.clear();
    } else if (word == "}") {
      rank_ = -1;
    } else if (word.back() == ':') {
      labels_[word.substr(0, word.size() - 1)] = current().size();
      std::string kind;
      words >> kind;
      add(kind, words);
    } else if (word == "calc" || word == "send" || word == "recv") {
      add(word, words);
    } else {
      std::string how, other;
      words >> how >> other;
      if (how != "requires" && how != "irequires") fail("expected an operation or a dependency");
      Operation& operation = current()[labelled(word)];
      (how == "requires" ? operation.ended : operation.started).push_back(labelled(other));
    }
  }
  void add(const std::string& kind, std::istream& words) {
    Operation operation;
    if (kind == "calc") {
      operation.amount = number<uint64_t>(words, "ns");
    } else if (kind == "send" || kind == "recv") {
      operation.kind = kind == "send" ? Operation::kSend : Operation::kReceive;
      operation.amount = number<uint64_t>(words, "bytes");
      std::string unit, direction, word;
      words >> unit >> direction;
      if (unit != "b" || direction != (kind == "send" ? "to" : "from"))
        fail("expected 'send BYTESb to RANK' or 'recv BYTESb from RANK'");
      operation.peer = rank(words);
      if (words >> word && word == "tag")
        operation.tag = number<uint32_t>(words, "a tag (any tag is not supported)");
    } else {
      fail("there is no operation '" + kind + "'");
    }
    current().push_back(operation);
  }

  std::string path_;
  int line_ = 0;
  int rank_ = -1;
  std::map<std::string, size_t> labels_;
};

class GoalSource : public rubato::EventSource {
 public:
  explicit GoalSource(const std::string& path) : path_(path), ranks_(Schedule(path).ranks) {
    const auto ranks = static_cast<int>(ranks_.size());
    trace_.path = path;
    trace_.creator = "GOAL";
    trace_.ticks_per_second = 1e9;
    trace_.one_clock = true;
    std::vector<uint64_t> locations;
    std::vector<int> nodes;
    std::vector<int32_t> members;
    for (int rank = 0; rank < ranks; ++rank) {
      locations.push_back(rank);
      nodes.push_back(rank);
      members.push_back(rank);
    }
    trace_.location_of_rank = locations;
    trace_.node_of_rank = nodes;
    trace_.nodes = rubato::FixedTexts(std::vector<std::string>(ranks, "node"));
    rubato::Communicator world;
    world.name = "MPI_COMM_WORLD";
    world.set_members(members);
    trace_.comms.push_back(world);
    trace_.world = 0;
    for (const char* name : {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"})
      trace_.calls.push_back(rubato::mpi_call_info(name));
    rewind();
  }

  const rubato::TraceDefinitions& definitions() const override { return trace_; }
  bool read(int rank, rubato::Block& block) override { return calls_[rank]->take(0, block); }
  void rewind() override {
    calls_.clear();
    for (int rank = 0; rank < trace_.ranks(); ++rank) build(rank);
  }
  void keep_records(bool keep) override {
    keep_records_ = keep;
    rewind();
  }
  std::vector<double> side_records(const rubato::SideLocation&) override { return {}; }
  Counts counts() const override { return {}; }

 private:
  enum Name : int32_t { kIsend, kIrecv, kWaitall };  ///< into TraceDefinitions::calls

  /// The records of a rank, as a tracer would write them.
  void build(int rank) {
    using rubato::CallBuilder;
    const std::vector<Operation>& operations = ranks_[rank];
    calls_.push_back(std::make_unique<rubato::RankCalls>(trace_, std::vector<int>{rank}));
    rubato::RankCalls& calls = *calls_.back();
    calls.keep_records(keep_records_);
    uint64_t event = 0;
    double now = 0;
    const auto record = [&](auto method, auto... arguments) {
      calls.record(0, ++event, now, method, arguments...);
    };
    std::set<size_t> open;  // messages
    const auto wait = [&](const std::vector<size_t>& all) {
      std::vector<size_t> requests;
      std::copy_if(all.begin(), all.end(), std::back_inserter(requests),
                   [&](size_t number) { return open.erase(number) > 0; });
      if (requests.empty()) return;
      record(&CallBuilder::enter, int32_t{kWaitall});
      for (const size_t number : requests) {
        const Operation& each = operations[number];
        if (each.kind == Operation::kSend) {
          record(&CallBuilder::isend_complete, uint64_t{number});
        } else {
          record(&CallBuilder::irecv, uint32_t{0}, each.peer, each.tag, each.amount,
                 uint64_t{number});
        }
      }
      record(&CallBuilder::leave, int32_t{kWaitall});
    };

    record(&CallBuilder::other);  // the run begins at 0
    for (const size_t number : in_order(operations)) {
      const Operation& each = operations[number];
      wait(each.ended);
      if (each.kind == Operation::kCalc) {
        now += static_cast<double>(each.amount);
        continue;
      }
      open.insert(number);
      const int32_t name = each.kind == Operation::kSend ? kIsend : kIrecv;
      record(&CallBuilder::enter, name);
      if (each.kind == Operation::kSend) {
        record(&CallBuilder::isend, uint32_t{0}, each.peer, each.tag, each.amount, uint64_t{number},
               uint8_t{0});
      } else {
        record(&CallBuilder::irecv_request, uint64_t{number}, uint8_t{0});
      }
      record(&CallBuilder::leave, name);
    }
    wait({open.begin(), open.end()});
    record(&CallBuilder::other);  // and ends now
    calls.end(0);
  }

  /// The operations of a rank, each after its dependencies. Errors: InputError.
  std::vector<size_t> in_order(const std::vector<Operation>& operations) const {
    std::vector<std::vector<size_t>> dependent(operations.size());
    std::vector<size_t> missing(operations.size());
    std::set<size_t> ready;
    for (size_t i = 0; i < operations.size(); ++i) {
      for (const auto* needs : {&operations[i].ended, &operations[i].started}) {
        for (const size_t other : *needs) dependent[other].push_back(i);
        missing[i] += needs->size();
      }
      if (missing[i] == 0) ready.insert(i);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      order.push_back(*ready.begin());
      ready.erase(ready.begin());
      for (const size_t other : dependent[order.back()]) {
        if (--missing[other] == 0) ready.insert(other);
      }
    }
    if (order.size() < operations.size())
      throw rubato::InputError(path_ + ": operations that require each other");
    return order;
  }

  std::string path_;
  std::vector<std::vector<Operation>> ranks_;
  rubato::TraceDefinitions trace_;
  std::vector<std::unique_ptr<rubato::RankCalls>> calls_;
  bool keep_records_ = false;
};

const rubato::InputFormat kGoal = {
    "goal", "a GOAL schedule, a file NAME.goal",
    [](const std::string& path) { return path.ends_with(".goal"); },
    [](const std::string& path, const rubato::InputOptions&)
        -> std::unique_ptr<rubato::EventSource> { return std::make_unique<GoalSource>(path); }};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: goal FILE.goal SCENARIO\n"), 2;
  rubato::add_input_format(kGoal);
  const auto run = rubato::open_trace(argv[1]);
  const auto results = rubato::run_replay(*run, {rubato::parse_scenario(argv[2])}, {});
  const rubato::ScenarioResult& machine = results.scenarios[0];
  if (!machine.deadlock.empty()) return std::fprintf(stderr, "%s\n", machine.deadlock.c_str()), 1;
  std::printf("%s %.3f us\n", machine.name.c_str(), machine.elapsed * 1e6);
} catch (const std::exception& error) {
  std::fprintf(stderr, "goal: %s\n", error.what());
  return 1;
}
