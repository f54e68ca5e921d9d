#include "replay/sources/step_source.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "models/base/error.h"
#include "replay/calls/rank_calls.h"
#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

[[noreturn]] void fail(int rank, size_t line, const std::string& why) {
  throw InputError("rank " + std::to_string(rank) + ", line " + std::to_string(line) +
                   " of its steps: " + why);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

/// The last word of a call that is kept as it was.
constexpr std::string_view kKept = "k:";

/// A line of a call.
struct CallLine {
  static constexpr size_t kWords = 5;  ///< before the items
  std::vector<std::string_view> words;
  double before, inside, lost_before, lost_inside;  ///< ns
};

uint64_t whole(int rank, size_t line, std::string_view word) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    fail(rank, line, "'" + std::string(word) + "' is not a count");
  return value;
}

CallLine call_line(int rank, size_t line, std::string_view text) {
  CallLine call{split(text, ' '), 0, 0, 0, 0};
  if (call.words.size() < CallLine::kWords) fail(rank, line, "a call has a name and four times");
  double* const times[] = {&call.before, &call.inside, &call.lost_before, &call.lost_inside};
  for (size_t i = 0; i < 4; ++i)
    *times[i] = static_cast<double>(whole(rank, line, call.words[i + 1]));
  return call;
}

/// Calls `visit(number, text)` for each line.
template <class Visit>
void for_each_line(std::string_view text, size_t number, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(number++, text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

bool defines_comm(std::string_view line) {
  return line.starts_with("comm ");
}

/// What a call did: its kind, the operation of a collective, numbers.
struct Item {
  char kind;
  std::optional<CollectiveOp> op;
  std::vector<uint64_t> of;
};

Item item_of(int rank, size_t line, std::string_view word) {
  static const std::map<char, size_t> kNumbers = {{'s', 5}, {'r', 5}, {'i', 7}, {'d', 1},
                                                  {'p', 1}, {'g', 6}, {'x', 1}, {'v', 2},
                                                  {'b', 2}, {'c', 5}, {'e', 6}, {'o', 1}};
  const auto numbers = word.size() < 2 || word[1] != ':' ? kNumbers.end() : kNumbers.find(word[0]);
  const auto refuse = [&] { fail(rank, line, "'" + std::string(word) + "' is no item of a call"); };
  if (numbers == kNumbers.end()) refuse();
  Item item{word[0], {}, {}};
  std::vector<std::string_view> parts = split(word.substr(2), ',');
  if ((item.kind == 'c' || item.kind == 'e') && !parts.empty()) {
    item.op = parts[0] == name_of(CollectiveOp::kCreateHandle)
                  ? CollectiveOp::kCreateHandle
                  : collective_named(std::string(parts[0]));
    if (!item.op) fail(rank, line, "'" + std::string(parts[0]) + "' is no collective");
    parts.erase(parts.begin());
  }
  for (const std::string_view part : parts) item.of.push_back(whole(rank, line, part));
  if (item.of.size() != numbers->second) refuse();
  return item;
}

}  // namespace

RunSteps::RunSteps(std::vector<std::string> texts, const std::vector<int>& nodes,
                   const RecordingOverhead& overhead)
    : texts_(std::move(texts)), comms_(texts_.size()), steps_(texts_.size()), left_(texts_.size()) {
  const auto ranks = static_cast<int>(texts_.size());
  std::map<int, int> numbers;
  for (const int node : nodes) numbers.emplace(node, static_cast<int>(numbers.size()));
  std::vector<int> node_of_rank;
  std::vector<uint64_t> locations;
  std::vector<int32_t> everybody;
  for (int rank = 0; rank < ranks; ++rank) {
    node_of_rank.push_back(numbers[nodes[rank]]);
    locations.push_back(rank);
    everybody.push_back(rank);
  }
  trace_.creator = "rubato sums";
  trace_.path = "the file of sums";
  trace_.ticks_per_second = 1e9;
  trace_.overhead = overhead;
  trace_.location_of_rank = locations;
  trace_.node_of_rank = node_of_rank;
  trace_.nodes = FixedTexts(std::vector<std::string>(numbers.size(), "node"));
  trace_.world = 0;
  trace_.comms.emplace_back();
  trace_.comms[0].name = "MPI_COMM_WORLD";
  trace_.comms[0].set_members(everybody);
  for (int rank = 0; rank < ranks; ++rank) read(rank);
  for (const auto& [number, step] : steps_.empty() ? RankSteps() : steps_[0]) {
    const auto has = [number = number](const RankSteps& all) { return all.contains(number); };
    if (std::all_of(steps_.begin(), steps_.end(), has)) numbers_.push_back(number);
  }
  has_all_ = !numbers_.empty() && numbers_.back() + 1 == numbers_.size();
  add_left_out();
}

void RunSteps::define_comm(int rank, const std::vector<std::string_view>& words, size_t line) {
  if (words.size() < 3) fail(rank, line, "a communicator has a number and an identity");
  const auto [found, is_new] =
      identity_.emplace(words[2], static_cast<uint32_t>(trace_.comms.size()));
  if (is_new) trace_.comms.emplace_back().name = "communicator " + std::string(words[2]);
  if (!comms_[rank].emplace(whole(rank, line, words[1]), found->second).second)
    fail(rank, line, "communicator " + std::string(words[1]) + " is defined twice");
  std::vector<int32_t> members;
  for (size_t i = 3; i < words.size(); ++i) {
    const uint64_t member = whole(rank, line, words[i]);
    if (member >= texts_.size()) fail(rank, line, "there is no rank " + std::to_string(member));
    members.push_back(static_cast<int32_t>(member));
  }
  std::vector<int32_t> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  Communicator& comm = trace_.comms[found->second];
  if (twice != sorted.end())
    fail(rank, line, comm.name + " has rank " + std::to_string(*twice) + " twice");
  if (members.size() < 2) return;  // MPI_COMM_SELF has one identity on all ranks
  if (comm.size() > 0 && comm.members.copy() != members)
    fail(rank, line, comm.name + " has other members on another rank");
  comm.set_members(std::move(members));
}

void RunSteps::note_channel(int rank, std::string_view item, size_t line) {
  const bool sends = item.starts_with("s:") || item.starts_with("i:");
  if (!sends && !item.starts_with("g:") && !item.starts_with("r:")) return;
  const std::vector<std::string_view> parts = split(item.substr(2), ',');
  if (parts.size() < 5 || parts[4] != "0") return;
  const auto comm = comms_[rank].find(whole(rank, line, parts[0]));
  if (comm == comms_[rank].end()) fail(rank, line, "an unknown communicator");
  const auto peer = static_cast<int32_t>(whole(rank, line, parts[1]));
  unnumbered_.insert(
      {comm->second, sends ? rank : peer, sends ? peer : rank, whole(rank, line, parts[2])});
}

void RunSteps::read(int rank) {
  const std::string_view text = texts_[rank];
  Step* step = nullptr;
  for_each_line(text, 1, [&](size_t number, std::string_view line) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (defines_comm(line)) {
      define_comm(rank, words, number);
    } else if (line.starts_with("left ")) {
      if (words.size() != 5 || step != nullptr)
        fail(rank, number, "expected a step, two times and calls, in front of all steps");
      const auto value = [&](size_t word) {
        return static_cast<double>(whole(rank, number, words[word]));
      };
      left_[rank][whole(rank, number, words[1])] = {
          .length = value(2) * 1e-9, .mpi = value(3) * 1e-9, .calls = value(4)};
    } else if (line.starts_with("step ")) {
      if (words.size() != 4) fail(rank, number, "a step has a number and two times");
      const auto [entry, is_new] = steps_[rank].try_emplace(whole(rank, number, words[1]));
      if (!is_new) fail(rank, number, "step " + std::string(words[1]) + " is there twice");
      step = &entry->second;
      *step = {{}, number + 1, {}, static_cast<double>(whole(rank, number, words[3]))};
      step->sums.length = static_cast<double>(whole(rank, number, words[2])) * 1e-9;
      step->lines = {line.data() + line.size(), 0};
    } else {
      if (step == nullptr) fail(rank, number, "a call outside of a step");
      const CallLine call = call_line(rank, number, line);
      if (!names_.contains(call.words[0])) {
        names_.emplace(call.words[0], static_cast<int32_t>(trace_.calls.size()));
        trace_.calls.push_back(mpi_call_info(std::string(call.words[0])));
      }
      step->sums.mpi += (call.inside - std::min(call.inside, call.lost_inside)) * 1e-9;
      step->sums.lost += (call.lost_before + call.lost_inside) * 1e-9;
      step->sums.calls += 1;
      for (size_t i = CallLine::kWords; i < call.words.size(); ++i)
        note_channel(rank, call.words[i], number);
      if (call.words.back() == kKept) {
        step->sums.kept += (call.inside - std::min(call.inside, call.lost_inside)) * 1e-9;
        kept_calls_.emplace(call.words[0]);
      }
    }
    if (step != nullptr) {
      const char* const begin = step->lines.data();
      step->lines = {begin, static_cast<size_t>(line.data() + line.size() - begin)};
    }
  });
  for (auto& [number, each] : steps_[rank]) {
    if (!each.lines.empty()) each.lines.remove_prefix(1);  // the end of the line before
  }
}

/// A step that one rank left out counts as left out on all. Of a rank that does not have its sums
/// either, the mean of the others is assumed.
void RunSteps::add_left_out() {
  std::set<uint64_t> numbers;
  for (const auto& rank : left_) {
    for (const auto& [number, sums] : rank) numbers.insert(number);
  }
  for (const uint64_t number : numbers) {
    Sums all;
    double known = 0;
    for (size_t rank = 0; rank < left_.size(); ++rank) {
      const auto left = left_[rank].find(number);
      const auto kept = steps_[rank].find(number);
      if (left == left_[rank].end() && kept == steps_[rank].end()) continue;
      const Sums& sums = left != left_[rank].end() ? left->second : kept->second.sums;
      all.length += sums.length;
      all.mpi += sums.mpi;
      all.calls += sums.calls;
      known += 1;
    }
    left_out_.length += all.length / known;
    left_out_.mpi += all.mpi / known;
    left_out_.calls += all.calls / known;
  }
}

RunSteps::Sums RunSteps::sums(const std::vector<uint64_t>& numbers) const {
  Sums sum;
  const auto part = 1 / static_cast<double>(steps_.size());
  for (const RankSteps& rank : steps_) {
    for (const uint64_t number : numbers) {
      const Sums& each = rank.at(number).sums;
      sum.length += each.length * part;
      sum.mpi += each.mpi * part;
      sum.lost += each.lost * part;
      sum.calls += each.calls * part;
      sum.kept += each.kept * part;
    }
  }
  return sum;
}

class StepSource : public EventSource {
 public:
  StepSource(const RunSteps& run, const std::vector<uint64_t>& numbers)
      : run_(&run), numbers_(numbers) {
    for (int rank = 0; rank < definitions().ranks(); ++rank) count_sends(rank);
    rewind();
  }

  const TraceDefinitions& definitions() const override { return run_->trace_; }
  bool read(int rank, Block& block) override { return calls_[rank]->take(0, block); }
  void rewind() override {
    calls_.clear();
    sends_left_ = sends_;
    for (int rank = 0; rank < definitions().ranks(); ++rank) build(rank);
  }
  void keep_records(bool keep) override {
    keep_records_ = keep;
    rewind();
  }
  std::vector<double> side_records(const SideLocation&) override { return {}; }
  Counts counts() const override { return {}; }

 private:
  /// Communicator, sender, receiver, tag in the replay. On some channels several are equal.
  using Message = std::tuple<uint32_t, int32_t, int32_t, uint32_t>;

  void count_sends(int rank);
  void build(int rank);
  void call(int rank, size_t number, const CallLine& line);
  void item(int rank, size_t number, const Item& item);
  Message message(int rank, size_t number, const Item& item, bool sent);
  uint32_t comm_of(int rank, size_t number, const Item& item) const {
    const auto found = run_->comms_[rank].find(item.of[0]);
    if (found == run_->comms_[rank].end()) fail(rank, number, "an unknown communicator");
    return found->second;
  }

  /// Calls `visit(line, call)` for each call of the rank in these steps, `end(step)` behind each.
  template <typename Visit, typename End = void (*)(const RunSteps::Step&)>
  void for_each_call(
      int rank, Visit visit, End end = [](const RunSteps::Step&) {}) {
    for (const uint64_t number : numbers_) {
      const RunSteps::Step& step = run_->steps_[rank].at(number);
      step_ = number;
      for_each_line(step.lines, step.first_line, [&](size_t at, std::string_view line) {
        if (!defines_comm(line)) visit(at, call_line(rank, at, line));
      });
      end(step);
    }
  }
  template <typename Method, typename... Arguments>
  void record(Method method, Arguments... arguments) {
    calls_.back()->record(0, ++event_, now_, method, arguments...);
  }

  const RunSteps* run_;
  std::vector<uint64_t> numbers_;
  bool keep_records_ = false;
  std::vector<std::unique_ptr<RankCalls>> calls_;  ///< by rank
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, bool>, uint32_t> tags_;
  std::map<Message, int64_t> sends_;       ///< of each message, in these steps
  std::map<Message, int64_t> sends_left_;  ///< that no receive has taken
  // Of the rank that is built:
  uint64_t event_ = 0, step_ = 0;
  double now_ = 0;
};

void StepSource::count_sends(int rank) {
  for_each_call(rank, [&](size_t number, const CallLine& line) {
    for (size_t i = CallLine::kWords; i < line.words.size(); ++i) {
      const std::string_view word = line.words[i];
      if (!word.starts_with("s:") && !word.starts_with("i:")) continue;
      ++sends_[message(rank, number, item_of(rank, number, word), true)];
    }
  });
}

void StepSource::build(int rank) {
  calls_.push_back(std::make_unique<RankCalls>(definitions(), std::vector<int>{rank}));
  calls_.back()->keep_records(keep_records_);
  event_ = 0;
  now_ = 0;
  record(&CallBuilder::other);  // the run begins
  for_each_call(
      rank, [&](size_t number, const CallLine& line) { call(rank, number, line); },
      [&](const RunSteps::Step& step) { now_ += step.rest; });
  record(&CallBuilder::other);  // and ends
  calls_.back()->end(0);
}

void StepSource::call(int rank, size_t number, const CallLine& line) {
  const int32_t name = run_->names_.find(line.words[0])->second;
  now_ += line.before;
  if (line.lost_before > 0) record(&CallBuilder::stolen_before, line.lost_before);
  record(&CallBuilder::enter, name);
  const double leave = now_ + line.inside;
  for (size_t i = CallLine::kWords; i < line.words.size(); ++i) {
    if (line.words[i] == kKept) continue;
    // What completes is recorded at the end of the call.
    if (std::string_view("drgxceo").find(line.words[i].substr(0, 1)) != std::string_view::npos)
      now_ = leave;
    item(rank, number, item_of(rank, number, line.words[i]));
  }
  now_ = leave;
  if (line.lost_inside > 0) record(&CallBuilder::stolen_inside, line.lost_inside);
  record(&CallBuilder::leave, name);
}

StepSource::Message StepSource::message(int rank, size_t number, const Item& item, bool sent) {
  const uint32_t comm = comm_of(rank, number, item);
  if (item.of[1] >= run_->texts_.size()) fail(rank, number, "an unknown rank");
  const auto peer = static_cast<int32_t>(item.of[1]);
  const int32_t from = sent ? rank : peer, to = sent ? peer : rank;
  // Both sides know a message by its key. On channels where one does not, those of a step match in
  // order; of all steps, if there are all.
  const bool by_key = !run_->unnumbered_.contains({comm, from, to, item.of[2]});
  const uint64_t which = by_key ? item.of[4] : run_->has_all_ ? 0 : step_;
  const auto tag = tags_.emplace(std::tuple(comm, item.of[2], which, by_key),
                                 static_cast<uint32_t>(tags_.size()));
  return {comm, from, to, tag.first->second};
}

void StepSource::item(int rank, size_t number, const Item& item) {
  const std::vector<uint64_t>& of = item.of;
  // Calls `method` with the collective, unless its members are not known: then the call keeps its
  // time.
  const auto collective = [&](auto method, auto... more) {
    const uint32_t on = comm_of(rank, number, item);
    const Communicator& members = run_->trace_.comms[on];
    const int me = members.local_rank(rank);
    if (me < 0 && members.size() > 0)
      fail(rank, number, "this rank is no member of " + members.name);
    if (me < 0) return;
    if (of[1] >= static_cast<uint64_t>(members.size())) fail(rank, number, "an unknown root");
    const int32_t root = is_rooted(*item.op) ? static_cast<int32_t>(of[1]) : kNoRoot;
    const CollectiveBytes bytes =
        whole_bytes(run_->trace_, *item.op, on, root, me, {of[2], of[3]}, of[4] != 0);
    record(method, *item.op, on, root, bytes.sent, bytes.received, more...);
  };
  switch (item.kind) {
    case 's':
    case 'i': {
      const auto [comm, from, to, tag] = message(rank, number, item, true);
      if (item.kind == 's') return record(&CallBuilder::send, uint32_t{0}, to, tag, of[3]);
      return record(&CallBuilder::isend, uint32_t{0}, to, tag, of[3], of[5],
                    static_cast<uint8_t>(of[6] == 1   ? kBuffered
                                         : of[6] == 2 ? kSynchronous
                                                      : 0));
    }
    case 'r':
    case 'g': {
      const Message received = message(rank, number, item, false);
      const auto [comm, from, to, tag] = received;
      // The send is in a step that is not on record: the call keeps its time.
      if (sends_left_[received]-- <= 0) return;
      if (item.kind == 'r')
        return record(&CallBuilder::recv, uint32_t{0}, from, tag, of[3], uint8_t{0});
      return record(&CallBuilder::irecv, uint32_t{0}, from, tag, of[3], of[5]);
    }
    case 'd':
      return record(&CallBuilder::isend_complete, of[0]);
    case 'p':
      return record(&CallBuilder::irecv_request, of[0], uint8_t{0});
    case 'x':
      return record(&CallBuilder::cancelled, of[0]);
    case 'v':
      return record(&CallBuilder::part, of[0], static_cast<uint32_t>(of[1]));
    case 'b':
      return record(&CallBuilder::icollective_request, of[0], static_cast<uint32_t>(of[1]));
    case 'c':
      return collective(&CallBuilder::collective_end);
    case 'e':
      return collective(&CallBuilder::icollective_complete, of[5]);
    default:
      return record(&CallBuilder::own_work, static_cast<double>(of[0]), int32_t{-1});
  }
}

std::unique_ptr<EventSource> RunSteps::source(const std::vector<uint64_t>& numbers) const {
  return std::make_unique<StepSource>(*this, numbers);
}

}  // namespace rubato
