#pragma once

// When each record of an archive happens in one scenario. A record moves with its call, or with the
// compute around it, as retimed() says (identity.h). In a scenario that moves calls this may put
// the record of a receive, some time before the end of its call, before its cause; so records
// behind a wait are not before it. Where calls are shorter than recorded, the record of a send,
// some time behind the beginning of its call, may still be later than that of its receive; so there
// it is at the enter of its call.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "replay/archive/archive_copy.h"
#include "replay/observe/observer.h"
#include "replay/store/call_file.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Notes the times of the records of all timelines, from a source that keeps records
/// (EventSource::keep_records()). Times never go back, other than in the archive: who goes back
/// there stays at the time before. 8 bytes of temporary file a record, 4 KiB of memory a timeline.
/// A replay that begins anew begins its notes anew. Errors: as CallFile's.
class RecordTimes : public Observer<1> {
 public:
  /// `as_recorded`: as retimed() says and no more, for the scenario that is the recording.
  RecordTimes(const TraceDefinitions& trace, bool as_recorded);

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void message(const Delivery& delivery) override;
  bool wants_messages() const override { return !as_recorded_; }

  /// Of a timeline, once the replay is over. Must not outlive this.
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
    std::vector<uint64_t> chunks;  ///< where each is in the file
    std::vector<Flush> flushes;
    int64_t last = INT64_MIN;
    double cause = kNone;  ///< the latest of the call that call() hears of next

    uint64_t records() const { return chunks.size() * kChunk + open.size(); }
  };
  class Reader;

  void add(Timeline& timeline, double time);

  bool as_recorded_;
  std::vector<Timeline> timelines_;
  CallFile file_;
};

}  // namespace rubato
