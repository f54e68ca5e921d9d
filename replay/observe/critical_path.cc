#include "replay/observe/critical_path.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace rubato {
namespace {

constexpr size_t kNotesRoom = 1 << 20;  ///< bytes of notes that stay in memory

}  // namespace

CriticalPath::CriticalPath(const TraceDefinitions& trace)
    : trace_(&trace), timelines_(trace.timelines()), file_(kNotesRoom) {
  begin();
}

void CriticalPath::begin() {
  file_.clear();
  for (Timeline& timeline : timelines_) {
    timeline = {};
    timeline.open.reserve(kChunk);
  }
}

void CriticalPath::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  timelines_[timeline].bound_to = waited.bound_to;
  timelines_[timeline].bound_at = waited.bound_at;
}

void CriticalPath::call(int number, const Call& call, const Block& /*block*/,
                        const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                        const Lanes<1>& enter, const Lanes<1>& leave) {
  Timeline& timeline = timelines_[number];
  const int bound_to = std::exchange(timeline.bound_to, -1);
  const double bound_at = timeline.bound_at;
  if (timeline.over) return;
  switch (call.role) {
    case CallRole::kBegin:
      timeline.begin = timeline.end = enter[0];
      timeline.has_begun = true;
      if (bound_to >= 0) note(timeline, {enter[0], enter[0], bound_at, bound_to, kNoCall});
      return;
    case CallRole::kEnd:
      if (number < trace_->ranks()) timeline.end = leave[0];
      return;
    case CallRole::kFinalize:
      timeline.end = enter[0];
      timeline.over = true;
      return;
    case CallRole::kInit:
      timeline.begin = timeline.end = leave[0];
      timeline.open.clear();
      timeline.chunks.clear();
      return;
    case CallRole::kMpi:
      timeline.end = leave[0];
      if (bound_to < 0 && enter[0] == leave[0]) return;
      return note(timeline, {enter[0], leave[0], bound_at, bound_to, call.name});
    default:  // compute, as far as the path is concerned, except for a wait for a thread
      if (bound_to < 0) return;
      return note(timeline, {enter[0], leave[0], bound_at, bound_to, kNoCall});
  }
}

void CriticalPath::note(Timeline& timeline, const Noted& noted) {
  timeline.open.push_back(noted);
  if (timeline.open.size() < kChunk) return;
  timeline.chunks.push_back(file_.append(std::as_bytes(std::span(timeline.open))));
  timeline.open.clear();
}

/// Reads the notes of a timeline backwards.
class CriticalPath::Backwards {
 public:
  Backwards(const CriticalPath& path, int timeline)
      : path_(&path),
        log_(&path.timelines_[timeline]),
        left_(log_->chunks.size() * kChunk + log_->open.size()) {}

  /// The last note that has not been passed; nullptr: none.
  const Noted* last() {
    if (left_ == 0) return nullptr;
    const uint64_t at = left_ - 1, number = at / kChunk;
    if (number >= log_->chunks.size()) return &log_->open[at % kChunk];
    if (number != chunk_number_) {
      chunk_.resize(kChunk);
      const std::span<std::byte> to = std::as_writable_bytes(std::span(chunk_));
      const std::byte* kept = path_->file_.kept_at(log_->chunks[number]);
      if (kept) {
        std::copy_n(kept, to.size(), to.begin());
      } else {
        path_->file_.read(log_->chunks[number], to);
      }
      chunk_number_ = number;
    }
    return &chunk_[at % kChunk];
  }
  void pass() { --left_; }

 private:
  const CriticalPath* path_;
  const Timeline* log_;
  uint64_t left_;
  std::vector<Noted> chunk_;
  uint64_t chunk_number_ = UINT64_MAX;
};

PathSums CriticalPath::find(const std::function<void(const PathPiece&)>& each) const {
  PathSums sums;
  sums.compute.resize(trace_->ranks());
  int number = -1;  // the timeline that ends last
  double begin = std::numeric_limits<double>::infinity();
  for (int i = 0; i < trace_->timelines(); ++i) {
    const Timeline& timeline = timelines_[i];
    if (!timeline.has_begun) continue;
    if (number < 0 || timeline.end > timelines_[number].end) number = i;
    // As in Profile: the run starts with a main thread.
    if (i < trace_->ranks()) begin = std::min(begin, timeline.begin);
  }
  if (number < 0) return sums;

  std::vector<std::optional<Backwards>> readers(timelines_.size());
  double now = timelines_[number].end;
  begin = std::min(begin, now);
  sums.elapsed = now - begin;
  while (true) {
    const Timeline& timeline = timelines_[number];
    auto& reader = readers[number];
    if (!reader) reader.emplace(*this, number);
    // (Threads may begin before all main threads do.)
    const double since = std::max(timeline.begin, begin);
    const double piece_end = now;
    double in_calls = 0;
    const Noted* noted = reader->last();
    for (; noted; noted = reader->last()) {
      const bool is_behind = noted->leave > now;  // the cause, or the call that contains it
      if (!is_behind && noted->timeline >= 0) break;
      const double inside = std::min(noted->leave, now) - std::max(noted->enter, since);
      if (inside > 0 && noted->call != kNoCall) {
        sums.calls[noted->call] += inside;
        in_calls += inside;
      }
      reader->pass();
    }
    const bool crosses = noted && noted->leave > begin;
    // Time between two threads of a rank belongs to the rank.
    const bool is_call = crosses && noted->call != kNoCall;
    double piece_begin = std::min(since, now);
    if (crosses) piece_begin = is_call ? noted->leave : std::max(noted->cause, begin);
    sums.compute[trace_->rank_of(number)] += piece_end - piece_begin - in_calls;
    if (each) each({number, piece_begin, piece_end});
    if (!crosses) {
      if (number < trace_->ranks() || piece_begin <= begin) {
        sums.late_start = piece_begin - begin;
        return sums;
      }
      number = trace_->rank_of(number);  // the main thread of the rank began it
      now = piece_begin;
      continue;
    }
    const Noted crossing = *noted;
    reader->pass();
    number = crossing.timeline;
    now = std::max(crossing.cause, begin);
    if (!is_call) continue;
    sums.crossings[crossing.call] += crossing.leave - now;
    ++sums.hops;
  }
}

}  // namespace rubato
