#include "replay/compare/record_times.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "replay/compare/identity.h"

namespace rubato {
namespace {

constexpr size_t kTimesRoom = 1 << 20;  ///< bytes of times that stay in memory

}  // namespace

RecordTimes::RecordTimes(const TraceDefinitions& trace, bool as_recorded)
    : as_recorded_(as_recorded), timelines_(trace.timelines()), file_(kTimesRoom) {}

void RecordTimes::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  if (waited.wait > 0)
    timelines_[timeline].cause = std::max(timelines_[timeline].cause, waited.cause);
}

void RecordTimes::message(const Delivery& delivery) {
  double& cause = timelines_[delivery.receiver].cause;
  cause = std::max(cause, delivery.sent);
}

void RecordTimes::add(Timeline& timeline, double time) {
  timeline.last = std::max(timeline.last, static_cast<int64_t>(std::llround(time)));
  timeline.open.push_back(timeline.last);
  if (timeline.open.size() < kChunk) return;
  timeline.chunks.push_back(file_.append(std::as_bytes(std::span(timeline.open))));
  timeline.open.clear();
}

void RecordTimes::call(int number, const Call& call, const Block& block,
                       const Lanes<1>& clock_before, double recorded_before, const Lanes<1>& enter,
                       const Lanes<1>& leave) {
  Timeline& timeline = timelines_[number];
  if (call.role == CallRole::kBegin) {
    timeline = {};
    timeline.open.reserve(kChunk);
  }
  const std::span<const Record> records = block.records_of(call);
  const double cause = std::min(std::exchange(timeline.cause, kNone), leave[0]);
  const bool sends =
      !as_recorded_ && std::ranges::any_of(block.actions_of(call), [](const Action& action) {
        return action.kind == ActionKind::kSend;
      });
  for (const Record& record : records) {
    double time = retimed(record, call, recorded_before, clock_before[0], enter[0], leave[0]);
    if (!std::isfinite(time)) time = clock_before[0];
    if (record.phase == RecordPhase::kHead && sends) time = enter[0];
    if (record.phase == RecordPhase::kTail && !as_recorded_) time = std::max(time, cause);
    add(timeline, time);
  }
  if (call.role == CallRole::kFlush && !records.empty())
    timeline.flushes.push_back({timeline.records() - 1, std::llround(leave[0])});
}

/// Reads the times of a timeline.
class RecordTimes::Reader : public NewTimes {
 public:
  Reader(const RecordTimes& all, const Timeline& timeline) : all_(&all), timeline_(&timeline) {}

  std::optional<NewTime> next() override {
    if (next_ == timeline_->records()) return {};
    NewTime moved{time_at(next_), {}};
    if (flush_ < timeline_->flushes.size() && timeline_->flushes[flush_].record == next_)
      moved.stop = std::max(moved.time, timeline_->flushes[flush_++].stop);
    ++next_;
    return moved;
  }

 private:
  int64_t time_at(uint64_t number) {
    const uint64_t chunk = number / kChunk;
    if (chunk >= timeline_->chunks.size()) return timeline_->open[number % kChunk];
    if (chunk != in_memory_) {
      times_.resize(kChunk);
      const std::span<std::byte> to = std::as_writable_bytes(std::span(times_));
      if (const std::byte* kept = all_->file_.kept_at(timeline_->chunks[chunk])) {
        std::copy_n(kept, to.size(), to.begin());
      } else {
        all_->file_.read(timeline_->chunks[chunk], to);
      }
      in_memory_ = chunk;
    }
    return times_[number % kChunk];
  }

  const RecordTimes* all_;
  const Timeline* timeline_;
  uint64_t next_ = 0;
  size_t flush_ = 0;
  std::vector<int64_t> times_;
  uint64_t in_memory_ = UINT64_MAX;
};

std::unique_ptr<NewTimes> RecordTimes::times_of(int timeline) const {
  return std::make_unique<Reader>(*this, timelines_[timeline]);
}

}  // namespace rubato
