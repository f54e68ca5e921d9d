#include "replay/analyse/timeline_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {
namespace {

constexpr int kMostRows = 512;
constexpr int kMostColumns = 2000;

Activity activity_of(WaitPattern pattern) {
  static_assert(static_cast<int>(Activity::kOneSided) - static_cast<int>(Activity::kLateSender) ==
                static_cast<int>(WaitKind::kOneSided) - static_cast<int>(WaitKind::kLateSender));
  return static_cast<Activity>(static_cast<int>(Activity::kLateSender) +
                               static_cast<int>(kind_of(pattern)));
}

/// The activity of an MPI call while it does not wait, from its first action.
Activity class_of(const Call& call, const Block& block) {
  for (const Action& action : block.actions_of(call)) {
    if (action.kind == ActionKind::kNone) continue;
    if (action.kind <= ActionKind::kWaitReceive || action.kind == ActionKind::kTested)
      return Activity::kMessages;
    if (action.kind <= ActionKind::kParts) return Activity::kCollectives;
    if (action.kind <= ActionKind::kUnlock) return Activity::kOneSidedCalls;
    break;
  }
  return Activity::kMpi;
}

}  // namespace

TimelinePicture::TimelinePicture(const TraceDefinitions& trace, double begin, double elapsed,
                                 size_t cells, KeptLosses kept)
    : trace_(&trace),
      begin_(begin),
      kept_(kept),
      over_(trace.timelines()),
      wait_(trace.timelines()),
      what_(trace.timelines()) {
  ranks_per_row_ = (trace.ranks() + kMostRows - 1) / kMostRows;
  ranks_per_row_ = std::max(1, ranks_per_row_);
  rows_ = (trace.ranks() + ranks_per_row_ - 1) / ranks_per_row_;
  columns_ = static_cast<int>(
      std::clamp<size_t>(cells / std::max(1, rows_), 1, static_cast<size_t>(kMostColumns)));
  ticks_per_column_ = std::max(elapsed, 1.0) / columns_;
  ticks_.resize(static_cast<size_t>(rows_) * columns_ * kKinds);
}

void TimelinePicture::colour_functions(const EventSource& source,
                                       std::vector<int> number_of_function) {
  source_ = &source;
  number_of_function_ = std::move(number_of_function);
}

void TimelinePicture::begin() {
  std::fill(ticks_.begin(), ticks_.end(), 0.0f);
  std::fill(over_.begin(), over_.end(), 0);
  std::fill(wait_.begin(), wait_.end(), 0.0);
  readers_.clear();
  const CallPlaces* places = source_ ? source_->call_places() : nullptr;
  if (!places) return;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline)
    readers_.emplace_back(std::in_place, *places, timeline);
}

void TimelinePicture::add(int rank, double from, double to, Activity activity, double share,
                          std::optional<Activity> instead) {
  const double first = std::max((from - begin_) / ticks_per_column_, 0.0);
  const double last = std::min((to - begin_) / ticks_per_column_, static_cast<double>(columns_));
  const size_t row = static_cast<size_t>(rank / ranks_per_row_) * columns_;
  for (auto column = static_cast<int>(first); column < last; ++column) {
    const double part = std::min(last, column + 1.0) - std::max(first, static_cast<double>(column));
    float* const cell = &ticks_[(row + column) * kKinds];
    auto amount = static_cast<float>(share * part);
    if (instead) {
      float& there = cell[static_cast<size_t>(*instead)];
      amount = std::min(amount, there);
      there -= amount;
    }
    cell[static_cast<size_t>(activity)] += amount;
  }
}

// Functions have the same shares of the gap as in the recording, in the order in which they were
// entered first; the rest belongs to no function.
void TimelinePicture::add_compute(int timeline, const Call& call, double recorded_before,
                                  double from, double to) {
  const int rank = trace_->rank_of(timeline);
  if (!readers_.empty()) {
    const CallPlace& place = readers_[timeline]->at(call.event);
    double all = 0;
    for (const FunctionPart& part : place.before) all += part.ticks;
    all = std::max(all, call.enter - recorded_before);
    const double gap = to - from;
    for (const FunctionPart& part : place.before) {
      if (!(gap > 0 && all > 0)) break;
      const double until = std::min(to, from + gap * part.ticks / all);
      const int number =
          part.function < number_of_function_.size() ? number_of_function_[part.function] : -1;
      add(rank, from, until,
          number < 0 ? Activity::kCompute : static_cast<Activity>(kActivities + number));
      from = until;
    }
  }
  add(rank, from, to, Activity::kCompute);
}

void TimelinePicture::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  wait_[timeline] = waited.wait;
  what_[timeline] = activity_of(waited.pattern);
}

// Their time has been drawn as calls that do not wait: tests count as message calls, if their
// message is known.
void TimelinePicture::polled(int timeline, std::span<const PolledWait> polls, double begin,
                             const Waited& waited) {
  const double end = std::min(waited.cause, waited.enter);
  if (over_[timeline] || !(end > begin)) return;
  const int rank = trace_->rank_of(timeline);
  for (const PolledWait& each : polls) {
    const Activity was = trace_->calls[each.call].tests ? Activity::kMessages : Activity::kMpi;
    add(rank, begin, end, activity_of(waited.pattern), each.ticks / (end - begin), was);
  }
}

void TimelinePicture::call(int timeline, const Call& call, const Block& block,
                           const Lanes<1>& clock_before, double recorded_before,
                           const Lanes<1>& enter, const Lanes<1>& leave) {
  const int rank = trace_->rank_of(timeline);
  if (call.role == CallRole::kBegin || over_[timeline]) return;
  if (call.role == CallRole::kInit) {
    wait_[timeline] = 0;
    return;
  }
  add_compute(timeline, call, recorded_before, clock_before[0], enter[0]);
  if (call.role == CallRole::kFinalize) {
    over_[timeline] = 1;
  } else if (call.role == CallRole::kMpi) {
    // The position of a loss in the call is unknown: drawn at its end.
    const double lost = std::min(kept_.in(call, block), leave[0] - enter[0]);
    const double own = leave[0] - lost, until = std::min(enter[0] + wait_[timeline], own);
    add(rank, enter[0], until, what_[timeline]);
    add(rank, until, own, class_of(call, block));
    add(rank, own, leave[0], Activity::kOther);
  } else if (call.role == CallRole::kThread) {
    add(rank, enter[0], leave[0], Activity::kCompute);
  } else {
    add(rank, enter[0], leave[0], Activity::kOther);
  }
  wait_[timeline] = 0;
}

std::vector<Activity> TimelinePicture::cells() const {
  std::vector<Activity> cells;
  cells.reserve(static_cast<size_t>(rows_) * columns_);
  for (size_t cell = 0; cell < static_cast<size_t>(rows_) * columns_; ++cell) {
    const auto first = ticks_.begin() + static_cast<ptrdiff_t>(cell * kKinds);
    const auto most = std::max_element(first, first + kKinds);
    cells.push_back(*most > 0 ? static_cast<Activity>(most - first) : Activity::kNone);
  }
  return cells;
}

std::vector<int> TimelinePicture::path_rows(const CriticalPath& path) const {
  std::vector<int> rows(columns_, -1);
  std::vector<double> most(columns_, 0.0);
  // Pieces are passed from the end on, those of a column one after the other.
  std::vector<double> in_row(rows_);
  std::vector<int> touched;
  int current = columns_;
  const auto close = [&] {
    for (const int row : touched) {
      if (in_row[row] > most[current]) {
        most[current] = in_row[row];
        rows[current] = row;
      }
      in_row[row] = 0;
    }
    touched.clear();
  };
  path.find([&](const PathPiece& piece) {
    const int row = trace_->rank_of(piece.timeline) / ranks_per_row_;
    const double first = std::max((piece.begin - begin_) / ticks_per_column_, 0.0);
    const double last =
        std::min((piece.end - begin_) / ticks_per_column_, static_cast<double>(columns_));
    for (int column = static_cast<int>(std::ceil(last)) - 1; column >= 0 && column + 1 > first;
         --column) {
      const double part =
          std::min(last, column + 1.0) - std::max(first, static_cast<double>(column));
      if (part <= 0) continue;
      if (column != current) {
        if (current < columns_) close();
        current = column;
      }
      if (in_row[row] == 0) touched.push_back(row);
      in_row[row] += part;
    }
  });
  if (current < columns_) close();
  return rows;
}

}  // namespace rubato
