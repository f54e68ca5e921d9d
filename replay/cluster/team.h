#pragma once

// The processes that replay together, as seen by one of them.
//
// In a pass each process runs its timelines and exchanges batches. A batch is sent when it is full,
// when its last record is one that the receiver will wait for, or when the sender is idle. In the
// last case the batch also reports that the sender is idle, and a process with records for it sends
// them at its next poll, however few. (Without that, two processes would take turns: one works
// while the other waits for records in a batch that is not full.)
//
// When a process has been idle for some microseconds, it reports to process 0 the numbers of
// batches sent to, and received from, each other process. Process 0 compares the latest reports: if
// for any two processes the numbers are equal, no batch is in transit, and no process will ever
// have work again. (Otherwise consider the first process that became busy after its report. The
// cause was a batch that its report does not count, so its sender's report does not count it
// either, and the sender was busy after that report, and earlier: a contradiction.) Process 0 then
// sends the verdict to all.
//
// A process with an error reports it; then all stop where they are, and become idle by the same
// rule before the verdict is sent.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "replay/cluster/byte_stream.h"
#include "replay/cluster/transport.h"

namespace rubato {

class Team {
 public:
  explicit Team(Transport& transport);

  int processes() const { return transport_->processes(); }
  int self() const { return transport_->self(); }
  bool leads() const { return self() == 0; }
  int on_this_host() const { return transport_->on_this_host(); }
  /// See Transport::once_per_host().
  FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) {
    return transport_->once_per_host(make);
  }

  // --- During a pass ---

  using Take = std::function<void(int from, ByteReader&)>;
  enum class Verdict : uint8_t {
    kGoOn,      ///< batches were received
    kFinished,  ///< all timelines of all processes have finished
    kStalled,   ///< some timelines are blocked for ever
    kStopped,   ///< an error in some process
  };

  /// The batch of records for another process. The caller appends a record, then calls put().
  /// `awaited`: the other process will be idle until it has the record.
  ByteWriter& batch(int to) { return batches_[to]; }
  void put(int to, bool awaited = false) {
    if (awaited || batches_[to].size() >= kBatch) send_batch(to);
  }
  /// Passes received batches to `take`, and sends batches to idle processes. Returns kGoOn, even if
  /// nothing was received, or kStopped: then the caller must call fail().
  Verdict look(const Take& take);
  /// To be called when this process is idle. Returns when there may be work, or when all are idle.
  /// `finished`: all timelines of this process have finished. After kStopped the caller must call
  /// fail().
  Verdict rest(bool finished, const Take& take);
  /// Reports an error of this process; to be called instead of rest(). Returns when all are idle.
  void fail();

  /// Reports that this process has done the share `own` of the run. Returns at process 0 the
  /// average of all, as last reported; elsewhere `own`. (Progress of the others after process 0 has
  /// finished its part of a pass shows in the next pass.)
  double progress_of_all(double own);

  // --- Between passes; all processes call the same functions in the same order ---

  /// The bytes of all processes, by process: at process 0; elsewhere empty.
  std::vector<Bytes> gather(Bytes mine);
  /// The bytes of process 0.
  Bytes share(Bytes of_first);
  /// True if `fine` in all processes.
  bool all(bool fine);

  /// Batches with records sent, and their bytes; messages of the team itself are not counted.
  uint64_t batches_sent() const { return batches_sent_; }
  uint64_t bytes_sent() const { return bytes_sent_; }

  /// Up to this number of processes notify each other of a collective directly, more of them by a
  /// relay (matching/relay.h). A message takes 0.5 us at each end, a round also the transfer time
  /// of its message: among eight processes, seven messages take as long as three rounds.
  int most_notified_directly() const { return most_notified_directly_; }
  /// Sets that number. All processes pass the same one, before the first pass.
  void notify_directly(int most) { most_notified_directly_ = most; }

  /// Nothing will be exchanged any more. Called by all processes.
  void close() { transport_->close(); }

 private:
  static constexpr size_t kBatch = 8 * 1024;  ///< bytes at which a batch is sent
  /// Number of polls by rest() before it reports and releases the processor: messages mostly arrive
  /// within microseconds.
  static constexpr int kLooksBeforeReport = 20;
  static constexpr std::chrono::milliseconds kBetweenProgress{500};  ///< of reports

  enum class Kind : uint8_t {
    kBatch,
    kLastBatch,  ///< the sender is idle after it; may be empty
    kReport,
    kStop,
    kVerdict,
    kGather,
    kShare,
    kProgress
  };
  /// Its last byte is the kind.
  struct Message {
    int from = 0;
    Bytes bytes;
    Kind kind() const { return static_cast<Kind>(bytes.back()); }
    ByteReader reader() const { return {bytes.data(), bytes.data() + bytes.size() - 1}; }
  };
  struct Report {
    bool known = false;
    bool finished = false;
    bool failed = false;
    std::vector<uint64_t> sent, received;  ///< batches in this pass, by process
  };
  enum class Step : uint8_t { kNothing, kBatch, kVerdict, kOther };
  struct Other {
    bool idle = false;        ///< it was idle, and has not been sent anything since
    bool has_spoken = false;  ///< sent records since this process last reported that it is idle
  };

  void send(int to, Kind kind, Bytes bytes);
  /// From process 0 to all others.
  void notify_others(Kind kind, const Bytes& bytes);
  void send_batch(int to);
  /// Sends the pending batches, marked as the last ones for processes that need this information.
  void send_last_batches();
  /// The next received message; false if there is none.
  bool next(Message& message);
  /// Handles it.
  Step step(const Take& take);
  /// Waits for a message of that kind from that process; others are put back.
  Bytes await(Kind kind, int from);
  void report(bool finished, bool failed);
  /// At process 0, from the latest reports: true when all are idle; the verdict has been sent.
  bool judge();
  void begin_pass();
  Verdict end_of_pass();

  Transport* transport_;
  int most_notified_directly_ = 8;
  std::vector<ByteWriter> batches_;
  std::vector<Other> others_;  ///< by process
  std::deque<Message> put_back_;
  Report mine_;
  std::vector<Report> reports_;   ///< at process 0
  std::vector<double> progress_;  ///< likewise, by process; negative: not reported
  std::chrono::steady_clock::time_point progress_reported_{};
  bool changed_ = true;  ///< since the last report
  bool stopped_ = false;
  Verdict verdict_ = Verdict::kGoOn;
  uint64_t batches_sent_ = 0;
  uint64_t bytes_sent_ = 0;
};

}  // namespace rubato
