// Processor time of a message at its two ends.
//
// The measured times must not contain waits for the other end, which are not work. So the measured
// end comes late, or the other end computes, long enough for everything to complete that does not
// need it (Kielmann, Bal and Verstoep, "Fast Measurement of LogP Parameters for Message Passing
// Platforms", 2000, delay the reply likewise). One end measures the time, so no clocks are
// compared.
#include <algorithm>
#include <cstring>
#include <vector>

#include "calibrate/measure/pair.h"

namespace rubato {
namespace {

/// The time of reading the clock twice.
double clock_cost() {
  static const double cost = [] {
    double least = 1;
    for (int i = 0; i < 1000; ++i) {
      const double begin = now();
      least = std::min(least, now() - begin);
    }
    return least;
  }();
  return cost;
}

constexpr double kShortest = 1e-9;  // seconds; a time of 0 is invalid

/// The median of some times, without the cost of the clock. Not the average, since a single
/// disturbance of a long message may exceed the sum of all others.
class Stopwatch {
 public:
  explicit Stopwatch(int repetitions) { times_.reserve(static_cast<size_t>(repetitions) + 1); }
  void start() { begin_ = now(); }
  /// Records and returns the time since start().
  double stop() {
    add(elapsed());
    return times_.back();
  }
  /// Time since start().
  double elapsed() const { return now() - begin_ - clock_cost(); }
  /// Replaces the latest time.
  void replace(double seconds) { times_.back() = seconds; }
  /// Adds a time measured elsewhere.
  void add(double seconds) { times_.push_back(seconds); }
  /// Without the first time, during which both sides and their buffers become ready.
  double median() {
    const auto first = times_.begin() + 1;
    const auto middle = first + (times_.end() - first) / 2;
    std::nth_element(first, middle, times_.end());
    return std::max(kShortest, *middle);
  }

 private:
  double begin_ = 0;
  std::vector<double> times_;
};

}  // namespace

// Messages are written before they are sent, as in programs: unchanged data might still be in the
// cache of the receiver.

double Pair::send_overhead(size_t bytes, int repetitions, double away) {
  command(kReceiverAway, bytes, repetitions, 0, away);
  Stopwatch watch(repetitions);
  for (int i = 0; i < repetitions + 1; ++i) {
    std::memset(send_.data(), i, bytes);
    MPI_Recv(nullptr, 0, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
    MPI_Request request;
    watch.start();
    MPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_, &request);
    watch.stop();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return watch.median();
}

double Pair::sender_wait(size_t bytes, int repetitions, double away, double partner_away) {
  // For MPI_Wait, data in a socket's buffer is sent. So the receiver also confirms the message, if
  // it does not compute.
  const bool answers = partner_away == 0;
  command(kReceiverAway, bytes, repetitions, answers, partner_away);
  Stopwatch watch(repetitions);
  for (int i = 0; i < repetitions + 1; ++i) {
    std::memset(send_.data(), i, bytes);
    MPI_Recv(nullptr, 0, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Isend(send_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_, &request);
    compute(away);
    watch.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double waited = watch.stop();
    if (!answers) continue;
    watch.start();
    MPI_Recv(nullptr, 0, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
    watch.replace(std::max(waited, watch.elapsed()));
  }
  return watch.median();
}

void Pair::answer_away(const Command& command) {
  for (int i = 0; i < command.count + 1; ++i) {
    MPI_Request request;
    MPI_Irecv(receive_.data(), static_cast<int>(command.bytes), MPI_BYTE, 0, kTag, comm_, &request);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
    compute(command.delay);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (command.messages > 0) MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
  }
}

ReceiveTimes Pair::receive_overhead(size_t bytes, int repetitions, double away) {
  command(kSender, bytes, repetitions, 0, 0);
  Stopwatch post(repetitions), wait(repetitions), both(repetitions);
  for (int i = 0; i < repetitions + 1; ++i) {
    MPI_Request request;
    post.start();
    MPI_Irecv(receive_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_, &request);
    const double posting = post.stop();
    MPI_Send(nullptr, 0, MPI_BYTE, partner_, kTag, comm_);
    compute(away);
    wait.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    both.add(posting + wait.stop());
  }
  return {post.median(), wait.median(), both.median()};
}

double Pair::unexpected_overhead(size_t bytes, int repetitions, double away) {
  command(kSender, bytes, repetitions, 0, 0);
  Stopwatch watch(repetitions);
  for (int i = 0; i < repetitions + 1; ++i) {
    MPI_Send(nullptr, 0, MPI_BYTE, partner_, kTag, comm_);
    compute(away);
    watch.start();
    MPI_Recv(receive_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_,
             MPI_STATUS_IGNORE);
    watch.stop();
  }
  return watch.median();
}

void Pair::answer_sender(const Command& command) {
  for (int i = 0; i < command.count + 1; ++i) {
    std::memset(send_.data(), i, command.bytes);
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTag, comm_, MPI_STATUS_IGNORE);
    MPI_Send(send_.data(), static_cast<int>(command.bytes), MPI_BYTE, 0, kTag, comm_);
  }
}

}  // namespace rubato
