#include "replay/sources/text_definitions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "tracer/archive/schema.h"

namespace rubato {

TextDefinitions::TextDefinitions(const std::string& text, std::string origin)
    : origin_(std::move(origin)) {
  read_lines(text);
  check_threads();
  for (int rank = 0; rank < trace.ranks(); ++rank) check(rank);
}

void TextDefinitions::fail(const TextLine& line, const std::string& why) const {
  throw InputError(origin_ + ":" + std::to_string(line.number) + ": " + why);
}

double TextDefinitions::number(const TextLine& line, const std::string& word) const {
  const char* rest = nullptr;
  const double value = leading_number(word.c_str(), &rest);
  if (word.empty() || *rest != '\0' || !std::isfinite(value))
    fail(line, "'" + word + "' is not a number");
  constexpr double kMost = uint64_t{1} << 53;
  if (std::abs(value) > kMost) fail(line, "'" + word + "' is beyond the numbers of a trace, 2^53");
  return value;
}

int TextDefinitions::whole_number(const TextLine& line, const std::string& word, int least) const {
  const double value = number(line, word);
  if (value >= least && value <= std::numeric_limits<int>::max() && value == std::floor(value))
    return static_cast<int>(value);
  fail(line, "'" + word + "' is not a whole number from " + std::to_string(least) + " on");
}

void TextDefinitions::read_lines(const std::string& text) {
  std::istringstream in(text);
  std::string raw;
  std::vector<int> nodes, sockets;
  std::vector<TextLine> definitions;
  int ranks = 0;
  std::map<int, int> threads;  // by rank: the highest number
  for (int number_of_line = 1; std::getline(in, raw); ++number_of_line) {
    std::istringstream words(raw.substr(0, raw.find('#')));
    TextLine line{number_of_line, -1, 0, {}};
    for (std::string word; words >> word;) line.words.push_back(word);
    if (line.words.empty()) continue;
    if (line.words[0] == "nodes") {
      for (size_t i = 1; i < line.words.size(); ++i)
        nodes.push_back(count_from_0(line, line.words[i]));
      continue;
    }
    if (line.words[0] == "one_clock") {
      trace.one_clock = true;
      continue;
    }
    if (line.words[0] == "sockets") {
      for (size_t i = 1; i < line.words.size(); ++i)
        sockets.push_back(whole_number(line, line.words[i], kNoSocket));
      continue;
    }
    if (line.words[0] == "comm" || line.words[0] == "window" || line.words[0] == "neighbours") {
      definitions.push_back(std::move(line));
      continue;
    }
    if (line.words[0].back() != ':')
      fail(line, "a line starts with RANK: or nodes or sockets or comm or neighbours or window");
    line.words[0].pop_back();
    const size_t dot = line.words[0].find('.');
    line.rank = count_from_0(line, line.words[0].substr(0, dot));
    if (dot != std::string::npos) line.thread = count_from_0(line, line.words[0].substr(dot + 1));
    constexpr int kMostThreads = 1024;
    if (line.thread >= kMostThreads) fail(line, "a rank may have 1024 threads");
    threads[line.rank] = std::max(threads[line.rank], line.thread);
    line.words.erase(line.words.begin());
    ranks = std::max(ranks, line.rank + 1);
    lines.push_back(std::move(line));
  }
  if (ranks == 0) throw InputError(origin_ + ": there are no calls in it");
  define(ranks, nodes, sockets, definitions, threads);
}

int TextDefinitions::count_from_0(const TextLine& line, const std::string& word) const {
  constexpr double kMost = 1 << 20;
  const double value = number(line, word);
  if (!(value >= 0)) fail(line, "ranks and threads count from 0");
  if (value >= kMost) fail(line, "there may be a million ranks, threads or nodes, not " + word);
  return static_cast<int>(value);
}

void TextDefinitions::define(int ranks, std::vector<int> nodes, std::vector<int> sockets,
                             const std::vector<TextLine>& definitions,
                             const std::map<int, int>& threads) {
  nodes.resize(ranks, 0);
  // Without gaps, because models have arrays by node.
  std::map<int, int> numbers;
  for (const int node : nodes) numbers[node] = 0;
  int next = 0;
  for (auto& [node, index] : numbers) index = next++;
  for (int& node : nodes) node = numbers[node];
  if (!sockets.empty()) sockets.resize(ranks, kNoSocket);
  trace.socket_of_rank = std::move(sockets);
  trace.path = origin_;
  trace.creator = "text";
  trace.node_of_rank = nodes;
  trace.nodes = FixedTexts(std::vector<std::string>(numbers.size(), "node"));
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  std::vector<int32_t> everybody;
  std::vector<uint64_t> locations_of_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    locations_of_rank.push_back(rank);
    everybody.push_back(rank);
  }
  world.set_members(std::move(everybody));
  trace.location_of_rank = std::move(locations_of_rank);
  trace.world = 0;
  trace.wildcards = WildcardsKnown::kAll;
  trace.properties[schema::kUnwatched] = "none";  // the text is the program
  trace.comms.push_back(world);
  comms[0] = 0;
  for (const TextLine& line : definitions) {
    if (line.words[0] == "comm") define_communicator(line);
  }
  NeighbourTable::ByRank neighbours;
  for (const TextLine& line : definitions) {
    if (line.words[0] == "window") define_window(line);
    if (line.words[0] == "neighbours") define_neighbours(line, neighbours);
  }
  trace.neighbours = NeighbourTable(neighbours);
  std::vector<SideLocation> locations;
  for (const auto& [rank, most] : threads) {
    for (uint64_t thread = 1; thread <= static_cast<uint64_t>(most); ++thread)
      locations.push_back({thread << 32 | static_cast<uint64_t>(rank), rank, true});
  }
  trace.make_timelines(locations);
}

void TextDefinitions::define_communicator(const TextLine& line) {
  if (line.words.size() < 3) fail(line, "write comm NUMBER RANK...");
  const auto [entry, is_new] =
      comms.emplace(whole_number(line, line.words[1]), static_cast<uint32_t>(trace.comms.size()));
  if (!is_new) fail(line, "communicator " + line.words[1] + " is defined already");
  Communicator comm;
  comm.name = "comm " + line.words[1];
  std::vector<int32_t> members;
  for (size_t i = 2; i < line.words.size(); ++i) {
    if (line.words[i] == "|") {
      comm.first_group = static_cast<int>(members.size());
      continue;
    }
    members.push_back(rank_named(line, i));
    if (std::count(members.begin(), members.end(), members.back()) > 1)
      fail(line, "rank " + line.words[i] + " occurs twice");
  }
  comm.set_members(std::move(members));
  trace.comms.push_back(std::move(comm));
}

void TextDefinitions::define_window(TextLine line) {
  const uint32_t comm = comm_of(line, whole_option(line, "comm", 0));
  if (line.words.size() != 2) fail(line, "write window NUMBER [comm NUMBER]");
  Communicator window = trace.comms[comm];
  window.name = "window " + line.words[1];
  window.window = true;
  const auto index = static_cast<uint32_t>(trace.comms.size());
  if (!windows.emplace(whole_number(line, line.words[1]), index).second)
    fail(line, "window " + line.words[1] + " is defined already");
  trace.comms.push_back(std::move(window));
}

void TextDefinitions::define_neighbours(const TextLine& line, NeighbourTable::ByRank& all) {
  if (line.words.size() < 5) fail(line, "write neighbours COMM RANK from RANK... to RANK...");
  const uint32_t comm = comm_of(line, whole_number(line, line.words[1]));
  Neighbours& neighbours = all[{rank_named(line, 2), comm}];
  std::vector<int32_t>* list = &neighbours.sources;
  for (size_t i = 3; i < line.words.size(); ++i) {
    if (line.words[i] == "to") list = &neighbours.destinations;
    if (line.words[i] == "from" || line.words[i] == "to") continue;
    list->push_back(rank_named(line, i));
  }
  if (neighbours.beyond(trace.comms[comm].size()))
    fail(line, "more neighbours than a communicator of " +
                   std::to_string(trace.comms[comm].size()) + " members can have");
}

int32_t TextDefinitions::rank_named(const TextLine& line, size_t word) const {
  const double rank = number(line, line.words[word]);
  if (rank < 0 || rank >= trace.ranks()) fail(line, "there is no rank " + line.words[word]);
  return static_cast<int32_t>(rank);
}

void TextDefinitions::check_threads() const {
  std::map<int, std::set<int>> threads;  // without the main one
  for (const TextLine& line : lines) {
    if (line.thread > 0) threads[line.rank].insert(line.thread);
  }
  for (const auto& [rank, numbers] : threads) {
    if (static_cast<int>(numbers.size()) == *numbers.rbegin()) continue;
    int missing = 1;
    while (numbers.count(missing)) ++missing;
    throw InputError(origin_ + ": rank " + std::to_string(rank) + " has a thread " +
                     std::to_string(*numbers.rbegin()) + ", but thread " + std::to_string(missing) +
                     " has no calls");
  }
}

void TextDefinitions::check(int rank) const {
  const bool found =
      std::any_of(lines.begin(), lines.end(), [&](const TextLine& l) { return l.rank == rank; });
  if (!found) throw InputError(origin_ + ": rank " + std::to_string(rank) + " has no calls");
}

uint32_t TextDefinitions::comm_of(const TextLine& line, int number) const {
  const auto found = comms.find(number);
  if (found == comms.end())
    fail(line, "communicator " + std::to_string(number) + " is not defined");
  return found->second;
}

std::optional<std::string> TextDefinitions::take_option(TextLine& line,
                                                        const std::string& keyword) const {
  const auto found = std::find(line.words.begin(), line.words.end(), keyword);
  if (found == line.words.end()) return {};
  if (found + 1 == line.words.end()) fail(line, "'" + keyword + "' has no value");
  std::string word = *(found + 1);
  line.words.erase(found, found + 2);
  return word;
}

double TextDefinitions::option(TextLine& line, const std::string& keyword, double otherwise) const {
  const auto word = take_option(line, keyword);
  return word ? number(line, *word) : otherwise;
}

int TextDefinitions::whole_option(TextLine& line, const std::string& keyword, int otherwise,
                                  int least) const {
  const auto word = take_option(line, keyword);
  return word ? whole_number(line, *word, least) : otherwise;
}

}  // namespace rubato
