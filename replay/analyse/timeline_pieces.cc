#include "replay/analyse/timeline_pieces.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr size_t kRecentStates = 512;
constexpr size_t kMostStates = 2000;  // further ones lose their places
/// Call paths stay while this share of the run is longer than the grain.
constexpr double kGrainOfStacks = 1.0 / 1024;
constexpr double kFirstGrain = 1.0 / (1 << 20);

/// Time of an MPI call that does not wait.
bool is_in_call(const TimelinePieces::State& state, uint16_t call) {
  return state.call == call &&
         (state.activity == Activity::kMpi || state.activity >= Activity::kMessages);
}

}  // namespace

TimelinePieces::TimelinePieces(const TraceDefinitions& trace, double begin, double elapsed,
                               size_t parts, KeptLosses kept)
    : Activities(trace, kept),
      begin_(begin),
      elapsed_(elapsed),
      most_(parts),
      lines_(trace.timelines()),
      recent_(kRecentStates) {
  // Number 0, also of unused entries of recent_.
  states_.push_back({});
  bare_.push_back(0);
  numbers_.emplace(State{}, 0);
}

void TimelinePieces::begin() {
  Activities::begin();
  std::fill(lines_.begin(), lines_.end(), Line{});
  grain_ = 0;
  size_ = 0;
}

uint32_t TimelinePieces::number_of(const State& state) {
  const size_t hash = static_cast<size_t>(state.activity) + 17 * size_t{state.call} +
                      65599 * size_t{state.function} + 92821 * size_t{state.site} +
                      31337 * size_t{state.stack};
  Recent& recent = recent_[hash % kRecentStates];
  if (recent.state == state) return recent.number;
  State known = state;
  if (states_.size() >= kMostStates) known = {known.activity, known.call};
  const auto [entry, is_new] = numbers_.emplace(known, static_cast<uint32_t>(states_.size()));
  if (is_new) {
    states_.push_back(known);
    bare_.push_back(entry->second);
    const State bare{known.activity, known.call};
    if (bare != known) bare_[entry->second] = number_of(bare);
  }
  recent_[hash % kRecentStates] = {state, entry->second};
  return entry->second;
}

int64_t TimelinePieces::cell_of(double from, double to) const {
  if (!(grain_ > 0)) return kLong;
  const double cell = std::floor(from / grain_);
  return to <= (cell + 1) * grain_ ? static_cast<int64_t>(cell) : kLong;
}

uint32_t TimelinePieces::combined(uint32_t state) const {
  // (Calls have no stack of their own when they are combined.)
  const bool has_stack = states_[state].stack != 0 && states_[state].call == ActivitySpan::kNoCall;
  return has_stack && grain_ <= kGrainOfStacks * elapsed_ ? state : bare_[state];
}

void TimelinePieces::add_piece(Line& line, std::span<const Part> piece, double end) {
  std::vector<Part>& parts = line.parts;
  const int64_t cell = cell_of(line.end, end);
  const size_t before = parts.size();
  const bool is_new = cell == kLong || cell != line.cell || parts.empty();
  if (is_new) line.last = before;
  if (is_new && piece.size() == 1) {
    parts.push_back(piece.front());
  } else {
    if (!is_new && line.last + 1 == before)
      parts[line.last].state = combined(parts[line.last].state);
    for (const Part& part : piece) {
      const uint32_t state = combined(part.state);
      const auto same = std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(line.last),
                                     parts.end(), [&](const Part& p) { return p.state == state; });
      if (same == parts.end()) {
        parts.push_back({state, 0, part.calls, part.ticks});
      } else {
        same->calls += part.calls;
        same->ticks += part.ticks;
      }
    }
  }
  parts[line.last].first = 1;
  size_ += parts.size() - before;
  line.cell = cell;
  line.end = end;
}

void TimelinePieces::combine_all() {
  grain_ = grain_ > 0 ? 2 * grain_ : kFirstGrain * elapsed_;
  size_ = 0;
  std::vector<Part> parts;
  for (Line& line : lines_) {
    parts.clear();
    parts.swap(line.parts);
    const double whole = line.end;
    line = {.parts = std::move(line.parts)};
    for (size_t first = 0, next = 0; first < parts.size(); first = next) {
      double end = line.end;
      for (next = first; next < parts.size() && (next == first || !parts[next].first); ++next)
        end += parts[next].ticks;
      if (next == parts.size()) end = whole;
      add_piece(line, std::span(parts).subspan(first, next - first), end);
    }
  }
}

bool TimelinePieces::combine() {
  if (grain_ >= elapsed_) return false;
  combine_all();
  return true;
}

void TimelinePieces::span(int timeline, const ActivitySpan& span) {
  Line& line = lines_[timeline];
  const double from = std::clamp(span.from - begin_, line.end, std::max(line.end, elapsed_));
  const double to = std::clamp(span.to - begin_, from, std::max(from, elapsed_));
  const Part before{0, 1, 0, from - line.end};
  if (from > line.end) add_piece(line, std::span(&before, 1), from);
  if (!(to > from) && span.calls == 0) return;
  const Part part{number_of({span.activity, span.call, span.function, span.site, span.stack}), 1,
                  span.calls, to - from};
  add_piece(line, std::span(&part, 1), to);
  while (size_ > most_ && combine()) {
  }
}

void TimelinePieces::window_begins(int timeline, double time) {
  Line& line = lines_[timeline];
  size_ -= line.parts.size();
  line = {};
  span(timeline, {begin_ + line.end, time});
}

void TimelinePieces::finish() {
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline)
    span(timeline, {begin_ + lines_[timeline].end, begin_ + elapsed_});
}

// The loop's pieces are taken out, and put back with the waits in them.
void TimelinePieces::polls_waited(int timeline, std::span<const PolledWait> polls, double begin,
                                  double /*end*/, Activity wait) {
  Line& line = lines_[timeline];
  size_t first = line.parts.size();
  double from = line.end;
  while (first > 0 &&
         (from > begin - begin_ || first == line.parts.size() || !line.parts[first].first)) {
    from -= line.parts[--first].ticks;
  }
  const std::vector<Part> loop(line.parts.begin() + static_cast<std::ptrdiff_t>(first),
                               line.parts.end());
  line.parts.resize(first);
  size_ -= loop.size();
  std::map<uint16_t, double> left;
  for (const PolledWait& each : polls) left[each.call] += each.ticks;
  for (size_t at = 0; at < loop.size(); ++at) {
    Part part = loop[at];
    const State state = states_[part.state];
    const auto poll = left.find(state.call);
    if (poll != left.end() && poll->second > 0 && is_in_call(state, state.call)) {
      Part waits = part;
      waits.state = number_of({wait, state.call, state.function, state.site, state.stack});
      waits.ticks = std::min(poll->second, part.ticks);
      poll->second -= waits.ticks;
      part.ticks -= waits.ticks;
      // A span of its own: first the wait, then the rest. In a piece the order has no meaning.
      const bool alone = part.first && (at + 1 == loop.size() || loop[at + 1].first);
      if (part.ticks > 0) waits.calls = 0;
      line.parts.push_back(waits);
      if (!(part.ticks > 0)) continue;
      part.first = alone;
    }
    line.parts.push_back(part);
  }
  size_ += line.parts.size() - first;
  line.last = line.parts.size();
  from = line.end;
  while (line.last > 0 && (line.last == line.parts.size() || !line.parts[line.last].first))
    from -= line.parts[--line.last].ticks;
  line.cell = line.parts.empty() ? kLong : cell_of(from, line.end);
}

}  // namespace rubato
