#pragma once

// One scenario as slices of its timelines and messages between them, in the order of the replay:
// for trace viewers. Only the wait of the current call is kept.

#include <vector>

#include "replay/observe/observer.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The activity of a timeline for some time.
enum class SliceKind : uint8_t {
  kCompute,      ///< before `call`
  kCall,         ///< `call`, a call of MPI
  kWait,         ///< the part of it in which it waits; follows its kCall
  kNotRecorded,  ///< recording was switched off
  kFlush,        ///< the tracer wrote its buffer
  kStolen,       ///< the thread had no core
};

/// Times in ticks.
struct Slice {
  int timeline = 0;
  SliceKind kind = SliceKind::kCompute;
  double begin = 0;
  double end = 0;
  double recorded = 0;         ///< of a kCompute: its recorded length
  const Call* call = nullptr;  ///< of role kEnd after the last compute
  Traffic traffic;             ///< of a kCall
  Waited waited;               ///< of a kWait
};

/// Receives the slices: those of one timeline in the order of time, timelines in any order.
class SliceSink {
 public:
  virtual ~SliceSink() = default;
  /// The replay begins, or begins again: earlier slices are void.
  virtual void begin() = 0;
  virtual void slice(const Slice& slice) = 0;
  /// A message received by a call that ends at `received`, ticks; its kCall comes next.
  virtual void message(const Delivery& delivery, double received) = 0;
};

class TimelineSlices : public Observer<1> {
 public:
  /// `sink` must outlive it.
  TimelineSlices(const TraceDefinitions& trace, SliceSink& sink);

  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;
  void waited(int timeline, const Call& call, const Waited& waited) override;
  void message(const Delivery& delivery) override { received_.push_back(delivery); }
  bool wants_messages() const override { return true; }

 private:
  SliceSink* sink_;
  std::vector<char> begun_;         ///< by timeline
  std::vector<Waited> waited_;      ///< by timeline, of the call that call() will report next
  std::vector<Delivery> received_;  ///< by the call that leaves
};

}  // namespace rubato
