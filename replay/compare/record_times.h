#pragma once

// The time of each record of an archive in one scenario. A record moves with its call, or with the
// compute around it, as computed by retimed() (identity.h). In a scenario that moves calls this may
// put the record of a receive, some time before the end of its call, before its cause; so records
// after a wait are not placed before it. If calls are shorter than recorded, the record of a send,
// some time after the begin of its call, may still be later than that of its receive; so then it is
// placed at the enter of its call.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "replay/archive/copy/archive_copy.h"
#include "replay/observe/observer.h"
#include "replay/store/call_file.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Notes the times of the records of all timelines, from a source that keeps records
/// (EventSource::keep_records()). Times go back only where the archive's do; elsewhere a record
/// that would go back stays at the previous time. 8 bytes of temporary file a record, 4 KiB of
/// memory a timeline. When a replay begins again, the notes are discarded. Errors: as CallFile's.
class RecordTimes : public Observer<1> {
 public:
  /// `as_recorded`: exactly as retimed(), for the scenario that is the recording.
  RecordTimes(const TraceDefinitions& trace, bool as_recorded);

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void message(const Delivery& delivery) override;
  bool wants_messages() const override { return !as_recorded_; }

  /// The times of a timeline, after the replay. Must not outlive this.
  std::unique_ptr<NewTimes> times_of(int timeline) const;

 private:
  static constexpr size_t kChunk = 512;  ///< records that are written at once

  static constexpr double kNone = -std::numeric_limits<double>::infinity();

  struct Flush {
    uint64_t record;  ///< its number in the timeline, from 0
    int64_t stop;
  };
  struct Timeline {
    std::vector<int64_t> open;     ///< not written yet
    std::vector<uint64_t> chunks;  ///< offset of each in the file
    std::vector<Flush> flushes;
    int64_t last = INT64_MIN;
    double cause = kNone;  ///< the latest cause of the call that call() will report next

    uint64_t records() const { return chunks.size() * kChunk + open.size(); }
  };
  class Reader;

  void add(Timeline& timeline, double time);

  bool as_recorded_;
  std::vector<Timeline> timelines_;
  CallFile file_;
};

}  // namespace rubato
