#include "tools/tables/packed_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "replay/analyse/place_summary.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using Part = TimelinePieces::Part;

constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Parts of a piece are rounded to this share of a grain.
constexpr double kUnitsPerGrain = 500;

/// Nanoseconds, or a power of ten of them that is a small part of the grain; in seconds.
double unit_of(double grain) {
  const double most = grain * 1e9 / kUnitsPerGrain;
  return most < 1 ? 1e-9 : std::pow(10, std::floor(std::log10(most)) - 9);
}

/// The states that occur, those with most parts first, and the new number of each.
struct StateOrder {
  std::vector<uint32_t> states;
  std::vector<uint32_t> numbers;
};

StateOrder order_states(const TimelinePieces& pieces, int timelines) {
  std::vector<uint64_t> parts(pieces.states().size());
  for (int timeline = 0; timeline < timelines; ++timeline) {
    for (const Part& part : pieces.parts(timeline)) ++parts[part.state];
  }
  StateOrder order;
  for (uint32_t state = 0; state < parts.size(); ++state) {
    if (parts[state] > 0) order.states.push_back(state);
  }
  std::stable_sort(order.states.begin(), order.states.end(),
                   [&](uint32_t a, uint32_t b) { return parts[a] > parts[b]; });
  order.numbers.resize(parts.size());
  for (uint32_t i = 0; i < order.states.size(); ++i) order.numbers[order.states[i]] = i;
  return order;
}

/// 1 for the part of a call that does not wait, which is not written.
uint32_t usual_calls(const TimelinePieces::State& state) {
  const bool waits = state.activity >= Activity::kLateSender && state.activity <= Activity::kOther;
  return state.call != ActivitySpan::kNoCall && !waits ? 1 : 0;
}

/// The parts of one timeline. What rounding takes from a state is given to it later.
class LinePacker {
 public:
  LinePacker(const TimelinePieces& pieces, const StateOrder& order, double unit)
      : pieces_(&pieces), order_(&order), unit_(unit), owed_(order.states.size()) {}

  std::string pack_line(const std::vector<Part>& parts) {
    for (size_t first = 0, next = 0; first < parts.size(); first = next) {
      for (next = first + 1; next < parts.size() && !parts[next].first; ++next) {
      }
      pack_piece(std::span(parts).subspan(first, next - first));
    }
    return std::move(text_);
  }

 private:
  void pack_piece(std::span<const Part> piece) {
    const int64_t begin = std::llround(end_ / unit_);
    for (const Part& part : piece) end_ += part.ticks;
    int64_t left = std::llround(end_ / unit_) - begin;
    const auto longest = std::max_element(piece.begin(), piece.end(),
                                          [](auto& a, auto& b) { return a.ticks < b.ticks; });
    lengths_.assign(piece.size(), 0);
    for (const bool last : {false, true}) {
      for (size_t i = 0; i < piece.size(); ++i) {
        if ((&piece[i] == &*longest) != last) continue;
        double& owed = owed_[order_->numbers[piece[i].state]];
        owed += piece[i].ticks / unit_;
        lengths_[i] = last ? left : std::clamp<int64_t>(std::llround(owed), 0, left);
        owed -= static_cast<double>(lengths_[i]);
        left -= lengths_[i];
      }
    }
    for (size_t i = 0; i < piece.size(); ++i) {
      const bool usual = piece[i].calls == usual_calls(pieces_->states()[piece[i].state]);
      pack(text_, 4 * uint64_t{order_->numbers[piece[i].state]} + (usual ? 0 : 2) + (i > 0));
      if (!usual) pack(text_, piece[i].calls);
      pack(text_, static_cast<uint64_t>(lengths_[i]));
    }
  }

  const TimelinePieces* pieces_;
  const StateOrder* order_;
  double unit_;
  double end_ = 0;  ///< ticks
  std::vector<double> owed_;
  std::vector<int64_t> lengths_;
  std::string text_;
};

/// The call paths of states: [number of the caller or -1, name] of each function on them.
class PackedStacks {
 public:
  PackedStacks(const CallStacks* stacks, const std::vector<FunctionName>& functions)
      : stacks_(stacks), functions_(&functions) {}

  /// The number of a node; -1: none.
  int number_of(uint32_t node) {
    if (!stacks_ || node == CallTree::kRoot) return -1;
    const auto [entry, is_new] = numbers_.try_emplace(node, -1);
    if (is_new) {
      const CallTree::Node& of = stacks_->tree().nodes()[node];
      const int caller = number_of(of.parent);
      entry->second = static_cast<int>(list.size());
      list.push_back(
          {caller, of.function < functions_->size() ? (*functions_)[of.function].place() : "?"});
    }
    return entry->second;
  }

  Json list = Json::array();

 private:
  const CallStacks* stacks_;
  const std::vector<FunctionName>* functions_;
  std::map<uint32_t, int> numbers_;
};

/// A state as [activity, call or -1, place, call path or -1]: "solve (app.c:41)", "in exchange
/// (halo.c:3) at halo.c:41", "".
Json state_data(const TimelinePieces::State& state, const std::vector<FunctionName>& functions,
                const std::vector<CallSite>& sites, PackedStacks& stacks) {
  std::string place;
  const bool calls = state.call != ActivitySpan::kNoCall;
  if (state.function < functions.size())
    place = (calls ? "in " : "") + functions[state.function].place();
  if (state.site < sites.size())
    place += (place.empty() ? "at " : ", at ") + site_text(sites[state.site]);
  return {static_cast<int>(state.activity), calls ? static_cast<int>(state.call) : -1, place,
          stacks.number_of(state.stack)};
}

}  // namespace

void pack(std::string& text, uint64_t number) {
  for (; number >= 32; number >>= 5) text += kDigits[32 + (number & 31)];
  text += kDigits[number];
}

Json packed_pieces(TimelinePieces& pieces, const EventSource& source, size_t bytes) {
  const TraceDefinitions& trace = source.definitions();
  const std::vector<FunctionName> functions = source.functions();
  const std::vector<CallSite> sites = source.call_sites();
  for (;;) {
    const StateOrder order = order_states(pieces, trace.timelines());
    const double grain = pieces.grain() / trace.ticks_per_second, unit = unit_of(grain);
    PackedStacks stacks(pieces.stacks(), functions);
    Json states = Json::array(), names = Json::array(), threads = Json::array();
    for (const uint32_t state : order.states)
      states.push_back(state_data(pieces.states()[state], functions, sites, stacks));
    size_t size = 0;
    std::vector<std::string> lines;
    for (int timeline = 0; timeline < trace.timelines() && size <= bytes; ++timeline) {
      LinePacker packer(pieces, order, unit * trace.ticks_per_second);
      lines.push_back(packer.pack_line(pieces.parts(timeline)));
      size += lines.back().size() + 3;
    }
    if (size > bytes) {
      if (pieces.combine()) continue;
      return Json::object();
    }
    for (const MpiCallInfo& call : trace.calls) names.push_back(call.name);
    for (int timeline = trace.ranks(); timeline < trace.timelines(); ++timeline)
      threads.push_back({trace.rank_of(timeline), trace.thread_of(timeline)});
    return {{"unit", unit},
            {"grain", grain},
            {"states", std::move(states)},
            {"stacks", std::move(stacks.list)},
            {"calls", std::move(names)},
            {"threads", std::move(threads)},
            {"lines", std::move(lines)}};
  }
}

std::string packed_messages(const std::vector<DrawnMessage>& messages, double unit) {
  std::string text;
  int64_t before = 0;
  for (const DrawnMessage& each : messages) {
    const int64_t sent = std::max<int64_t>(before, std::llround(each.sent / unit));
    pack(text, static_cast<uint64_t>(each.sender));
    pack(text, static_cast<uint64_t>(each.receiver));
    pack(text, static_cast<uint64_t>(sent - before));
    pack(text,
         static_cast<uint64_t>(std::max<int64_t>(0, std::llround(each.received / unit) - sent)));
    before = sent;
  }
  return text;
}

std::string packed_path(const CriticalPath& path, double begin, double elapsed, double unit,
                        size_t bytes) {
  std::string text;
  int64_t at = std::llround(elapsed / unit);
  path.find([&](const PathPiece& piece) {
    if (text.size() > bytes) return;
    const int64_t end = std::clamp<int64_t>(std::llround((piece.end - begin) / unit), 0, at);
    const int64_t from = std::clamp<int64_t>(std::llround((piece.begin - begin) / unit), 0, end);
    pack(text, static_cast<uint64_t>(piece.timeline));
    pack(text, static_cast<uint64_t>(at - end));
    pack(text, static_cast<uint64_t>(end - from));
    at = from;
  });
  return text.size() > bytes ? "" : text;
}

}  // namespace rubato
