#include "tools/profile/run_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "models/base/error.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

constexpr const char* kSumsBegin = R"({"kind":"rubatosums")";  ///< without white space
constexpr size_t kBegin = 256;                                 ///< bytes that contain it
constexpr uint64_t kSumsFormat = 1;

/// A value of the file, of the type asked for. Errors: InputError.
const nlohmann::json& value_at(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) throw InputError(fmt::format("{} is missing", key));
  return *found;
}
const nlohmann::json& value_at(const nlohmann::json& json, const char* key,
                               bool (nlohmann::json::*is)() const noexcept, const char* what) {
  const nlohmann::json& value = value_at(json, key);
  if (!(value.*is)()) throw InputError(fmt::format("{} is not {}", key, what));
  return value;
}
uint64_t count_at(const nlohmann::json& json, const char* key) {
  return value_at(json, key, &nlohmann::json::is_number_unsigned, "a count").get<uint64_t>();
}
double seconds_at(const nlohmann::json& json, const char* key) {
  if (value_at(json, key).is_null()) return 0;  // it was not finite
  return value_at(json, key, &nlohmann::json::is_number, "a number").get<double>();
}
std::string text_at(const nlohmann::json& json, const char* key) {
  return value_at(json, key, &nlohmann::json::is_string, "text").get<std::string>();
}
bool flag_at(const nlohmann::json& json, const char* key) {
  return value_at(json, key, &nlohmann::json::is_boolean, "true or false").get<bool>();
}
const nlohmann::json& list_at(const nlohmann::json& json, const char* key) {
  return value_at(json, key, &nlohmann::json::is_array, "a list");
}
/// Errors of `read` get their place in the file.
template <typename Read>
void read_within(const char* what, size_t number, Read read) {
  try {
    read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} {}: {}", what, number, error.what()));
  }
}

/// Reads rank by rank: a file may have a million pairs.
class SumsReader {
 public:
  explicit SumsReader(RunSums& run) : run_(&run) { run.results.scenarios.emplace_back(); }

  void format(const nlohmann::json& number) const;
  void rank(const nlohmann::json& json);
  /// `head`: the file without its ranks.
  void end(const nlohmann::json& head);

 private:
  using RankCalls = std::map<size_t, CallRow>;  ///< by number of the name

  size_t number_of(const std::string& call) {
    const auto [entry, is_new] = numbers_.emplace(call, names_.size());
    if (is_new) names_.push_back(call);
    return entry->second;
  }
  void call(const nlohmann::json& json, RankCalls& calls);
  void peers(const nlohmann::json& list, RankProfile& rank);
  void add_site(const nlohmann::json& json, const CallRow& row);
  void sort_calls();
  void sort_sites();
  void add_notes(const nlohmann::json& head);

  RunSums* run_;
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<RankCalls> calls_;  ///< by rank
  std::map<std::pair<std::string, std::string>, SiteRow> sites_;
  std::vector<std::string> steps_;  ///< by rank; empty: not recorded
  std::vector<int> nodes_;
  uint64_t pairs_ = 0, messages_ = 0, requests_ = 0, sizes_ = 0;  ///< left out, of all ranks
  bool stopped_ = false;
  double overhead_ = 0;     ///< of all ranks
  bool corrected_ = false;  ///< compute of a rank is without the cost of recording
};

void SumsReader::call(const nlohmann::json& json, RankCalls& calls) {
  CallRow row;
  row.calls = count_at(json, "calls");
  run_->whole.calls += static_cast<double>(count_at(json, "calls_timed"));
  row.time = seconds_at(json, "time");
  row.lengths = {seconds_at(json, "time_min"), seconds_at(json, "time_max")};
  row.outside = seconds_at(json, "outside");
  row.traffic.outside = row.outside;
  row.traffic.bytes_completed = count_at(json, "bytes_completed");
  if (const nlohmann::json& waits = value_at(json, "waits"); !waits.is_null()) {
    const auto wait = [&](WaitKind kind, const char* key) {
      row.traffic.waits[static_cast<size_t>(kind)] = seconds_at(waits, key);
    };
    wait(WaitKind::kLateSender, "late_sender");
    wait(WaitKind::kLateReceiver, "late_receiver");
    wait(WaitKind::kCollective, "collective_wait");
  }
  for (const nlohmann::json& size : list_at(json, "sizes")) {
    const auto at = static_cast<size_t>(std::bit_width(count_at(size, "size")));
    row.traffic.sent.add_class(at, {count_at(size, "sends"), count_at(size, "bytes_sent")});
    row.traffic.received.add_class(at,
                                   {count_at(size, "receives"), count_at(size, "bytes_received")});
  }
  add_site(json, row);
  CallRow& sum = calls[number_of(text_at(json, "call"))];
  sum.calls += row.calls;
  sum.time += row.time;
  sum.lengths += row.lengths;
  sum.outside += row.outside;
  sum.traffic += row.traffic;
}

void SumsReader::add_site(const nlohmann::json& json, const CallRow& row) {
  if (!json.contains("call_site")) return;
  const std::string call = text_at(json, "call");
  const std::string line = text_at(json, "call_site");
  SiteRow& site = sites_[{call, line}];
  site.call = call;
  if (!line.empty()) site.path = {line};
  CallLengths lengths{site.least, site.most};
  lengths += row.lengths;
  site.least = lengths.least;
  site.most = lengths.most;
  site.count += row.calls;
  ++site.ranks;
  site.time += row.time;
  site.waits += std::accumulate(row.traffic.waits.begin(), row.traffic.waits.end(), 0.0);
  for (const SizeHistogram* sizes : {&row.traffic.sent, &row.traffic.received}) {
    for (size_t at = 0; at < sizes->size(); ++at) {
      const Requests each = (*sizes)[at];
      if (each.count == 0) continue;
      // The file has classes of sizes: these are the bounds of the smallest and the largest one.
      const uint64_t least = SizeHistogram::least(at);
      site.smallest = site.messages == 0 ? least : std::min(site.smallest, least);
      site.largest = std::max(site.largest, least == 0 ? 0 : least + (least - 1));
      site.messages += each.count;
      site.bytes += each.bytes;
    }
  }
  site.sent += row.traffic.sent.total().count;
  site.bytes_sent += row.traffic.sent.total().bytes;
}

void SumsReader::peers(const nlohmann::json& list, RankProfile& rank) {
  for (const nlohmann::json& json : list) {
    PeerTraffic peer;
    peer.peer = static_cast<int32_t>(std::min<uint64_t>(count_at(json, "peer"), INT32_MAX));
    peer.sent = {count_at(json, "requests"), count_at(json, "size")};
    peer.time = seconds_at(json, "time");
    if (!rank.peers.empty() && rank.peers.back().peer >= peer.peer)
      throw InputError("peers are not in order");
    rank.peers.push_back(peer);
  }
}

void SumsReader::format(const nlohmann::json& number) const {
  if (number != kSumsFormat)
    throw InputError(
        fmt::format("its format is {}, and this version reads {}", number.dump(), kSumsFormat));
}

void SumsReader::rank(const nlohmann::json& json) {
  if (count_at(json, "rank") != calls_.size())
    throw InputError(fmt::format("its number is {}", count_at(json, "rank")));
  RankProfile profile;
  RankResult result;
  result.threads = static_cast<int>(std::min<uint64_t>(count_at(json, "threads"), INT_MAX));
  profile.compute = seconds_at(json, "compute");
  if (json.contains("overhead")) profile.overhead = seconds_at(json, "overhead");
  corrected_ = corrected_ || profile.overhead > 0;
  overhead_ += profile.overhead;
  result.compute = profile.compute + profile.overhead;
  result.flushing = seconds_at(json, "flushing");
  result.not_recorded = seconds_at(json, "not_recorded");
  result.lost_core = seconds_at(json, "lost_core");
  result.before = seconds_at(json, "before");
  result.after = seconds_at(json, "after");
  stopped_ = flag_at(json, "stopped") || stopped_;
  const nlohmann::json& left_out = value_at(json, "left_out");
  pairs_ += count_at(left_out, "pairs");
  messages_ += count_at(left_out, "messages");
  requests_ += count_at(left_out, "requests");
  sizes_ += count_at(left_out, "sizes");
  RankCalls& calls = calls_.emplace_back();
  size_t at = 0;
  for (const nlohmann::json& each : list_at(json, "calls"))
    read_within("call", at++, [&] { call(each, calls); });
  for (const auto& [number, row] : calls) {
    result.mpi += row.time;
    for (int kind = 0; kind < kWaitKinds; ++kind) result.waits[kind] += row.traffic.waits[kind];
    run_->results.trace.mpi_calls += row.calls;
  }
  peers(list_at(json, "peers"), profile);
  if (json.contains("steps")) {
    steps_.push_back(text_at(json, "steps"));
    nodes_.push_back(static_cast<int>(std::min<uint64_t>(count_at(json, "node"), INT_MAX)));
  }
  run_->whole.mpi += result.mpi;
  run_->whole.lost += result.lost_core + result.flushing;
  int& locations = run_->results.trace.locations;
  locations += std::min(result.threads, INT_MAX - locations);
  run_->results.trace.mpi_time += result.mpi;
  run_->results.scenarios[0].ranks.push_back(result);
  run_->profile.ranks.push_back(std::move(profile));
}

/// Names in the order of an archive's: the most time first.
void SumsReader::sort_calls() {
  std::vector<double> times(names_.size());
  for (const RankCalls& calls : calls_) {
    for (const auto& [number, row] : calls) times[number] += row.time + row.outside;
  }
  std::vector<size_t> order(names_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times[a] > times[b]; });
  for (const size_t number : order) run_->results.calls.push_back(names_[number]);
  for (size_t rank = 0; rank < calls_.size(); ++rank) {
    RankProfile& profile = run_->profile.ranks[rank];
    profile.calls.resize(order.size());
    for (size_t place = 0; place < order.size(); ++place) {
      const auto row = calls_[rank].find(order[place]);
      if (row != calls_[rank].end()) profile.calls[place] = std::move(row->second);
    }
  }
}

void SumsReader::sort_sites() {
  std::vector<SiteRow>& list = run_->profile.sites;
  for (auto& [key, site] : sites_) list.push_back(std::move(site));
  std::stable_sort(list.begin(), list.end(),
                   [](const SiteRow& a, const SiteRow& b) { return a.time > b.time; });
}

void SumsReader::add_notes(const nlohmann::json& head) {
  std::vector<std::string>& notes = run_->notes;
  const uint64_t one_of = count_at(head, "sampled_one_of");
  if (stopped_) notes.push_back("Recording stopped before the end of the run.");
  if (!run_->results.scenarios[0].has_waits) {
    notes.push_back(
        "Waits are not known: several threads communicate, or recording was switched off for a "
        "while. A trace has them (rubato trace, rubato profile).");
  } else {
    notes.push_back(
        (one_of <= 1 ? std::string("Waits are from the time stamps of all messages and blocking "
                                   "collectives")
                     : fmt::format("Waits are estimated from one of {} messages and blocking "
                                   "collectives; of calls that complete several messages they are "
                                   "a lower bound",
                                   show_count(one_of))) +
        ". Not known without a trace: waits for nonblocking collectives, one-sided and partitioned "
        "communication, neighbourhood collectives, nonblocking receives of MPI_ANY_SOURCE or "
        "MPI_ANY_TAG.");
  }
  notes.push_back(std::string("Causes and the critical path need a trace. ") +
                  (corrected_ ? "Times of calls contain the cost of recording them."
                              : "Compute contains the cost of recording."));
  if (pairs_ + messages_ > 0)
    notes.push_back(fmt::format("The matrix lacks {} pairs of ranks and {} messages.",
                                show_count(pairs_), show_count(messages_)));
  if (requests_ > 0)
    notes.push_back(fmt::format("{} requests are not attributed to the call that started them.",
                                show_count(requests_)));
  if (sizes_ > 0)
    notes.push_back(fmt::format("{} sends and receives are in no table.", show_count(sizes_)));
}

void SumsReader::end(const nlohmann::json& head) {
  format(value_at(head, "format"));
  if (!list_at(head, "ranks").empty() || calls_.empty())
    throw InputError("'ranks' is no list of ranks");
  ScenarioResult& scenario = run_->results.scenarios[0];
  scenario.name = scenario.base = "measured";
  scenario.from_recording = true;
  scenario.elapsed = seconds_at(head, "elapsed");
  scenario.has_waits = flag_at(head, "waits_known");
  for (const RankProfile& rank : run_->profile.ranks) {
    if (!rank.peers.empty() &&
        static_cast<size_t>(rank.peers.back().peer) >= run_->profile.ranks.size())
      throw InputError("a rank has a peer that is no rank");
  }
  TraceSummary& trace = run_->results.trace;
  trace.command = text_at(head, "command");
  trace.mpi_library = text_at(head, "mpi_library");
  trace.creator = "rubato trace " + text_at(head, "rubato") + ", sums";
  trace.ranks = static_cast<int>(scenario.ranks.size());
  trace.elapsed = scenario.elapsed;
  run_->summary = text_at(head, "summary");
  RecordingOverhead overhead;  // as subtracted from compute: for each call
  if (run_->whole.calls > 0) overhead.outside = overhead_ / run_->whole.calls;
  run_->whole.elapsed = scenario.elapsed;
  run_->whole.mpi /= trace.ranks;
  run_->whole.calls /= trace.ranks;
  run_->whole.lost /= trace.ranks;
  if (!steps_.empty() && static_cast<int>(steps_.size()) == trace.ranks) {
    run_->steps_one_of = count_at(head, "steps_one_of");
    if (!std::has_single_bit(run_->steps_one_of))
      throw InputError("steps_one_of is no power of two");
    run_->steps = std::make_unique<RunSteps>(std::move(steps_), nodes_, overhead);
  }
  sort_calls();
  sort_sites();
  add_notes(head);
  trace.notes = run_->notes;
  run_->profile.result = &scenario;
  run_->profile.calls = &run_->results.calls;
}

}  // namespace

bool is_run_sums(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kBegin, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  std::erase_if(begin, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return begin.starts_with(kSumsBegin);
}

std::unique_ptr<RunSums> read_run_sums(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  auto run = std::make_unique<RunSums>();
  run->results.trace.path = path;
  SumsReader reader(*run);
  constexpr int kDepthOfKeys = 1, kDepthOfRanks = 2;
  using Event = nlohmann::json::parse_event_t;
  std::string key;
  const auto refuse = [&](const std::string& why) {
    return InputError(fmt::format(
        "{}: the sums cannot be read: {}; record the run again with 'rubato trace --no-archive "
        "--report FILE'",
        path, why));
  };
  try {
    const nlohmann::json head =
        nlohmann::json::parse(file, [&](int depth, Event event, nlohmann::json& parsed) {
          if (event == Event::key && depth == kDepthOfKeys) key = parsed.get<std::string>();
          if (event == Event::value && depth == kDepthOfKeys && key == "format")
            reader.format(parsed);
          if (event != Event::object_end || depth != kDepthOfRanks || key != "ranks") return true;
          read_within("rank", run->profile.ranks.size(), [&] { reader.rank(parsed); });
          return false;
        });
    reader.end(head);
  } catch (const nlohmann::json::parse_error& error) {
    throw refuse(fmt::format("no JSON at byte {}", error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    throw refuse(fmt::format("a number is too large (after {} ranks)", run->profile.ranks.size()));
  } catch (const InputError& error) {
    throw refuse(error.what());
  }
  return run;
}

}  // namespace rubato
