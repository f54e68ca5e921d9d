#include "models/fit/message_pattern.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "models/base/error.h"

namespace rubato {
namespace {

constexpr std::array kShapeNames = {"pingpong", "headtohead", "overlap",   "bisection",
                                    "ring",     "halo",       "butterfly", "partners"};
constexpr std::array kModeNames = {"blocking", "nonblocking", "persistent", "synchronous", "ready"};

/// Excludes combinations that are impossible: an overlap needs separate calls to start and to wait;
/// persistent requests have fixed addresses, so they cannot walk through memory, and are started
/// all at once, not step by step as in a butterfly; a ready send needs
/// a posted receive, which is certain only in a ping-pong; blocking calls among any partners might
/// wait for each other. A ping-pong of blocking calls in the
/// caches is measured anyway, for the curve of a level.
bool exists(const MessagePattern& pattern) {
  if (pattern.shape == PatternShape::kOverlap)
    return pattern.mode == PatternMode::kNonblocking && !pattern.cold;
  if (pattern.shape == PatternShape::kPartners && pattern.mode == PatternMode::kBlocking)
    return false;
  if ((pattern.cold || pattern.shape >= PatternShape::kButterfly) &&
      pattern.mode == PatternMode::kPersistent)
    return false;
  if (pattern.mode == PatternMode::kReady)
    return pattern.shape == PatternShape::kPingPong && !pattern.cold;
  return pattern != MessagePattern{};
}

const std::vector<MessagePattern>& all_patterns() {
  static const std::vector<MessagePattern> all = [] {
    std::vector<MessagePattern> patterns;
    for (size_t shape = 0; shape < kShapeNames.size(); ++shape) {
      for (size_t mode = 0; mode < kModeNames.size(); ++mode) {
        for (const bool cold : {false, true}) {
          const MessagePattern pattern = {static_cast<PatternShape>(shape),
                                          static_cast<PatternMode>(mode), cold};
          if (exists(pattern)) patterns.push_back(pattern);
        }
      }
    }
    return patterns;
  }();
  return all;
}

/// Also a ring of any distance: "ring_4_cold" is "ring_cold" with the distance 4.
std::optional<MessagePattern> find_pattern(std::string name) {
  constexpr std::string_view kRing = "ring_";
  int distance = 1;
  if (name.starts_with(kRing)) {
    const char* const digits = name.data() + kRing.size();
    const auto [end, error] = std::from_chars(digits, name.data() + name.size(), distance);
    if (error == std::errc() && distance > 0)
      name.erase(kRing.size() - 1, static_cast<size_t>(end - digits) + 1);
  }
  for (MessagePattern pattern : all_patterns()) {
    if (pattern.name() != name) continue;
    pattern.distance = distance;
    return pattern;
  }
  return std::nullopt;
}

MessagePattern pattern_named(const std::string& name) {
  if (const auto pattern = find_pattern(name)) return *pattern;
  std::vector<std::string> names;
  for (const MessagePattern& pattern : all_patterns()) names.push_back(pattern.name());
  for (const char* word : {"default", "all", "none"}) names.emplace_back(word);
  throw UsageError("there is no pattern '" + name + "'" + did_you_mean(name, names) +
                   "; names are SHAPE, SHAPE_MODE and either with _cold, and ring_N as SHAPE");
}

}  // namespace

bool MessagePattern::between_two() const {
  return shape == PatternShape::kPingPong || shape == PatternShape::kHeadToHead ||
         shape == PatternShape::kOverlap;
}

std::string MessagePattern::name() const {
  std::string text = kShapeNames[static_cast<size_t>(shape)];
  if (distance > 1) text += "_" + std::to_string(distance);
  const bool plain = mode == PatternMode::kBlocking || shape == PatternShape::kOverlap;
  if (!plain) text += std::string("_") + kModeNames[static_cast<size_t>(mode)];
  return cold ? text + "_cold" : text;
}

PatternNeighbours neighbours_of(PatternShape shape, int rank, int ranks, int distance) {
  PatternNeighbours neighbours;
  const auto add = [&](int next, int before) {
    neighbours.to[neighbours.count] = next;
    neighbours.from[neighbours.count++] = before;
  };
  const int half = ranks / 2;
  switch (shape) {
    case PatternShape::kPartners:
      break;
    case PatternShape::kPingPong:
    case PatternShape::kHeadToHead:
    case PatternShape::kOverlap:
      if (rank < 2) add(1 - rank, 1 - rank);
      break;
    case PatternShape::kBisection:
      if (rank < 2 * half) {
        const int partner = rank < half ? rank + half : rank - half;
        add(partner, partner);
      }
      break;
    case PatternShape::kRing:
      distance %= ranks;
      add((rank + distance) % ranks, (rank + ranks - distance) % ranks);
      break;
    case PatternShape::kButterfly:
      if (const int partner = rank ^ distance; partner < ranks) add(partner, partner);
      break;
    case PatternShape::kHalo: {
      // As square as possible, more rows than columns.
      int columns = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
      while (ranks % columns != 0) --columns;
      const int rows = ranks / columns, row = rank / columns, column = rank % columns;
      const auto at = [&](int r, int c) {
        return (r + rows) % rows * columns + (c + columns) % columns;
      };
      if (rows > 1) {
        add(at(row + 1, column), at(row - 1, column));
        add(at(row - 1, column), at(row + 1, column));
      }
      if (columns > 1) {
        add(at(row, column + 1), at(row, column - 1));
        add(at(row, column - 1), at(row, column + 1));
      }
      break;
    }
  }
  return neighbours;
}

std::vector<MessagePattern> checked_patterns() {
  using enum PatternShape;
  using enum PatternMode;
  return {{kHeadToHead, kBlocking, false}, {kHeadToHead, kNonblocking, false},
          {kRing, kBlocking, false},       {kRing, kNonblocking, false},
          {kHalo, kBlocking, false},       {kHalo, kNonblocking, false},
          {kBisection, kBlocking, false}};
}

bool is_of_all_ranks(const std::string& name) {
  const auto pattern = find_pattern(name);
  return pattern && !pattern->between_two();
}

std::vector<MessagePattern> parse_patterns(const std::string& list) {
  if (list == "all") {
    std::vector<MessagePattern> all = all_patterns();
    std::erase_if(all, [](const auto& one) { return one.shape == PatternShape::kPartners; });
    return all;
  }
  if (list == "none") return {};
  std::vector<MessagePattern> asked;
  std::istringstream stream(list == "default" ? kDefaultPatterns : list);
  for (std::string name; std::getline(stream, name, ',');) {
    asked.push_back(pattern_named(name));
    if (asked.back().shape == PatternShape::kOverlap)
      asked.push_back({PatternShape::kHeadToHead, PatternMode::kNonblocking, false});
  }
  if (asked.empty()) pattern_named("");
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  return asked;
}

}  // namespace rubato
