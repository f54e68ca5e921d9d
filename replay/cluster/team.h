#pragma once

// The processes that replay together, as one of them sees them.
//
// In a pass each process runs its timelines and exchanges batches. A batch is sent when it is full,
// when its last record is one that the receiver will wait for, or when the sender has nothing else
// to do. In the last case the sender says so, and whoever has records for it sends them at the next
// look, however few. (Without that two processes take turns: one works while the other waits for
// records that lie in a batch that is not full.)
//
// When a process has had nothing to do for some microseconds, it tells process 0 how many batches
// it has sent to, and received from, each other one. Process 0 compares the latest of these
// reports: if for any two processes the numbers are equal, nothing is under way, and nobody will
// ever have anything to do again. (Else look at the first process that became busy after its
// report. It did so by a batch that its report does not count, so its sender's report counts it
// neither, and the sender was busy after that report, and earlier.) Process 0 then tells all of
// them the verdict.
//
// A process in which something goes wrong says so in its report; then all stop where they are, and
// are at rest by the same rule before the verdict comes.

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
  /// As Transport says.
  FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) {
    return transport_->once_per_host(make);
  }

  // --- During a pass ---

  using Take = std::function<void(int from, ByteReader&)>;
  enum class Verdict : uint8_t {
    kGoOn,      ///< something came in
    kFinished,  ///< all timelines of all processes have
    kStalled,   ///< some are blocked for ever
    kStopped,   ///< somewhere something went wrong
  };

  /// What goes to another process with the next batch. The caller puts a record, then calls put().
  /// `awaited`: the other process will have nothing else to do until it has the record.
  ByteWriter& batch(int to) { return batches_[to]; }
  void put(int to, bool awaited = false) {
    if (awaited || batches_[to].size() >= kBatch) send_batch(to);
  }
  /// Hands batches that came in to `take`, and sends what there is for processes that have nothing
  /// to do. kGoOn, also where nothing came, or kStopped: then fail() is to be called.
  Verdict look(const Take& take);
  /// There is nothing to do. Waits until there may be, or until all are at rest. `finished`: all
  /// timelines of this process have. Where it returns kStopped, fail() is to be called.
  Verdict rest(bool finished, const Take& take);
  /// Something went wrong here: to be called instead of rest(). Returns when all are at rest.
  void fail();

  /// This process has done the share `own` of the run. At process 0: what all have, on average, as
  /// far as they have told; elsewhere `own`. (What the others do after process 0 has done its part
  /// of a pass shows with the next one.)
  double progress_of_all(double own);

  // --- Between passes; all processes call the same in the same order ---

  /// Everybody's bytes, by process: at process 0; elsewhere none.
  std::vector<Bytes> gather(Bytes mine);
  /// Those of process 0.
  Bytes share(Bytes of_first);
  /// True if `fine` everywhere.
  bool all(bool fine);

  /// Batches with records sent, and bytes in them; messages of the team itself are not counted.
  uint64_t batches_sent() const { return batches_sent_; }
  uint64_t bytes_sent() const { return bytes_sent_; }
  /// How often there was nothing to do.
  uint64_t rests() const { return rests_; }

  /// Up to so many processes tell each other of a collective directly, more of them by a relay
  /// (matching/relay.h). A message takes 0.5 us at each end, a round besides the way of its
  /// message: among eight, seven messages take as long as three rounds.
  int most_told_directly() const { return most_told_directly_; }
  /// All call it with the same number, before the first pass.
  void tell_directly(int most) { most_told_directly_ = most; }

  /// Nothing will be exchanged any more. All call it.
  void close() { transport_->close(); }

 private:
  static constexpr size_t kBatch = 8 * 1024;  ///< bytes at which a batch goes
  /// As often rest() looks for messages before it reports and gives the processor away: mostly they
  /// come within microseconds.
  static constexpr int kLooksBeforeReport = 20;
  static constexpr std::chrono::milliseconds kBetweenProgress{500};  ///< told to process 0

  enum class Kind : uint8_t {
    kBatch,
    kLastBatch,  ///< behind it the sender has nothing to do; may be empty
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
    bool idle = false;        ///< had nothing to do, and was sent nothing since
    bool has_spoken = false;  ///< sent records since it was last told that this process is idle
  };

  void send(int to, Kind kind, Bytes bytes);
  /// Process 0, to all others.
  void tell_others(Kind kind, const Bytes& bytes);
  void send_batch(int to);
  /// Sends what there is for others, and tells those that expect something that this is all.
  void send_last_batches();
  /// The next message that came in; false where there is none.
  bool next(Message& message);
  /// Handles it.
  Step step(const Take& take);
  /// Waits for one of that kind and process; others are put back.
  Bytes await(Kind kind, int from);
  void report(bool finished, bool failed);
  /// Process 0, of the latest reports: true when all are at rest; the verdict has gone out.
  bool judge();
  void begin_pass();
  Verdict end_of_pass();

  Transport* transport_;
  int most_told_directly_ = 8;
  std::vector<ByteWriter> batches_;
  std::vector<Other> others_;  ///< by process
  std::deque<Message> put_back_;
  Report mine_;
  std::vector<Report> reports_;   ///< at process 0
  std::vector<double> progress_;  ///< likewise, of each process; negative: not told
  std::chrono::steady_clock::time_point progress_told_{};
  bool changed_ = true;  ///< since the last report
  bool stopped_ = false;
  Verdict verdict_ = Verdict::kGoOn;
  uint64_t batches_sent_ = 0;
  uint64_t bytes_sent_ = 0;
  uint64_t rests_ = 0;
};

}  // namespace rubato
