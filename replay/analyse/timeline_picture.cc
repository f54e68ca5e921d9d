#include "replay/analyse/timeline_picture.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr int kMostRows = 512;
constexpr int kMostColumns = 2000;

}  // namespace

TimelinePicture::TimelinePicture(const TraceDefinitions& trace, double begin, double elapsed,
                                 size_t cells, KeptLosses kept)
    : Activities(trace, kept), begin_(begin) {
  ranks_per_row_ = (trace.ranks() + kMostRows - 1) / kMostRows;
  ranks_per_row_ = std::max(1, ranks_per_row_);
  rows_ = (trace.ranks() + ranks_per_row_ - 1) / ranks_per_row_;
  columns_ = static_cast<int>(
      std::clamp<size_t>(cells / std::max(1, rows_), 1, static_cast<size_t>(kMostColumns)));
  ticks_per_column_ = std::max(elapsed, 1.0) / columns_;
  ticks_.resize(static_cast<size_t>(rows_) * columns_ * kKinds);
}

void TimelinePicture::begin() {
  Activities::begin();
  std::fill(ticks_.begin(), ticks_.end(), 0.0f);
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

void TimelinePicture::span(int timeline, const ActivitySpan& span) {
  add(trace_->rank_of(timeline), span.from, span.to, span.activity);
}

// Tests count as message calls, if their message is known.
void TimelinePicture::polls_waited(int timeline, std::span<const PolledWait> polls, double begin,
                                   double end, Activity wait) {
  for (const PolledWait& each : polls) {
    const Activity was = trace_->calls[each.call].tests ? Activity::kMessages : Activity::kMpi;
    add(trace_->rank_of(timeline), begin, end, wait, each.ticks / (end - begin), was);
  }
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
