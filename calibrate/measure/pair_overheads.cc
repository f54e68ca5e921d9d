// Processor time of a message at its two ends.
//
// The other end must not be waited for: a sender that waits for a receiver, or a receiver for a
// sender, does no work. So the measured end comes late, or the other end looks away: it computes
// long enough for everything to happen that needs no help from it (Kielmann, Bal and Verstoep,
// "Fast Measurement of LogP Parameters for Message Passing Platforms", 2000, delay the reply
// likewise). One end takes the time, so no clocks are compared.
#include <algorithm>
#include <cstring>
#include <vector>

#include "calibrate/measure/pair.h"

namespace rubato {
namespace {

/// What reading the clock twice takes.
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

constexpr double kShortest = 1e-9;  // seconds; a time of 0 is none

/// The median of some times, without that of the clock. A single disturbance of a long message is
/// more than all the rest, so no averages.
class Stopwatch {
 public:
  explicit Stopwatch(int repetitions) { times_.reserve(static_cast<size_t>(repetitions) + 1); }
  void start() { begin_ = now(); }
  /// Returns the time that was taken.
  double stop() {
    add(elapsed());
    return times_.back();
  }
  /// Since start().
  double elapsed() const { return now() - begin_ - clock_cost(); }
  /// Instead of the latest one.
  void replace(double seconds) { times_.back() = seconds; }
  /// One that others took.
  void add(double seconds) { times_.push_back(seconds); }
  /// Without the first one: both sides are there and know their buffers from then on.
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

// Messages are written before they are sent, as programs do it: an unchanged one might still lie in
// the cache of its receiver.

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
  // What a socket has taken is sent as far as MPI_Wait can tell: so the receiver says when it has
  // the message, too, where it was there for it.
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
