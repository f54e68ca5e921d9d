#include "models/fit/message_pattern.h"

#include <algorithm>
#include <sstream>

#include "models/base/error.h"

namespace rubato {
namespace {

constexpr std::array kShapeNames = {"pingpong",  "headtohead", "overlap",
                                    "bisection", "ring",       "halo"};
constexpr std::array kModeNames = {"blocking", "nonblocking", "persistent", "synchronous", "ready"};

/// Excludes combinations that are impossible: an overlap needs separate calls to start and to wait;
/// persistent requests have fixed addresses, so they cannot walk through memory; a ready send needs
/// a posted receive, which is certain only in a ping-pong. A ping-pong of blocking calls in the
/// caches is measured anyway, for the curve of a level.
bool exists(const MessagePattern& pattern) {
  if (pattern.shape == PatternShape::kOverlap)
    return pattern.mode == PatternMode::kNonblocking && !pattern.cold;
  if (pattern.cold && pattern.mode == PatternMode::kPersistent) return false;
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

MessagePattern pattern_named(const std::string& name) {
  std::vector<std::string> names;
  for (const MessagePattern& pattern : all_patterns()) {
    if (pattern.name() == name) return pattern;
    names.push_back(pattern.name());
  }
  for (const char* word : {"default", "all", "none"}) names.emplace_back(word);
  throw UsageError("there is no pattern '" + name + "'" + did_you_mean(name, names) +
                   "; names are SHAPE, SHAPE_MODE and either with _cold");
}

}  // namespace

bool MessagePattern::between_two() const {
  return shape == PatternShape::kPingPong || shape == PatternShape::kHeadToHead ||
         shape == PatternShape::kOverlap;
}

std::string MessagePattern::name() const {
  std::string text = kShapeNames[static_cast<size_t>(shape)];
  const bool plain = mode == PatternMode::kBlocking || shape == PatternShape::kOverlap;
  if (!plain) text += std::string("_") + kModeNames[static_cast<size_t>(mode)];
  return cold ? text + "_cold" : text;
}

bool is_of_all_ranks(const std::string& name) {
  const auto& all = all_patterns();
  return std::any_of(all.begin(), all.end(), [&name](const MessagePattern& pattern) {
    return !pattern.between_two() && pattern.name() == name;
  });
}

std::vector<MessagePattern> parse_patterns(const std::string& list) {
  if (list == "all") return all_patterns();
  if (list == "none") return {};
  std::vector<MessagePattern> asked;
  std::istringstream stream(list == "default" ? kDefaultPatterns : list);
  for (std::string name; std::getline(stream, name, ',');) {
    asked.push_back(pattern_named(name));
    if (asked.back().shape == PatternShape::kOverlap)
      asked.push_back({PatternShape::kHeadToHead, PatternMode::kNonblocking, false});
  }
  if (asked.empty()) pattern_named("");
  std::vector<MessagePattern> patterns;
  for (const MessagePattern& pattern : all_patterns()) {
    if (std::find(asked.begin(), asked.end(), pattern) != asked.end()) patterns.push_back(pattern);
  }
  return patterns;
}

}  // namespace rubato
