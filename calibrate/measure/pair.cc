#include "calibrate/measure/pair.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "calibrate/clock/message_memory.h"
#include "models/base/error.h"
#include "models/base/units.h"

namespace rubato {
namespace {

// As many as in a halo exchange. The cost of a further message of a burst depends on their number:
// with 16 of 8 KiB it is a fifth to a half higher inside a node, where free cells run out and
// caches overflow.
constexpr int kMinBurst = 2, kMaxBurst = kMostInBurst;

/// The byte at `i` of a message of `bytes`; different for each length and for shifted messages.
unsigned char pattern(size_t bytes, size_t i) {
  return static_cast<unsigned char>((i + bytes * 31) * 2654435761u >> 16 ^ i);
}

void fill_pattern(unsigned char* data, size_t bytes, unsigned char flip) {
  for (size_t i = 0; i < bytes; ++i) data[i] = pattern(bytes, i) ^ flip;
}

bool has_pattern(const unsigned char* data, size_t bytes, unsigned char flip) {
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] != (pattern(bytes, i) ^ flip)) return false;
  }
  return true;
}

/// Number of repetitions before the timing: then both sides are ready, and the buffers in their
/// usual state. With several megabytes at once, the caches lose the data of other patterns only
/// after some repetitions: eight messages of 1 MiB took 0.89 ms after one repetition and 0.75 ms
/// after four (MPICH, shared memory).
int warm_ups(size_t bytes_at_once) {
  constexpr size_t kMuch = 1 << 20;
  return bytes_at_once < kMuch ? 1 : 4;
}

}  // namespace

void Buffer::Free::operator()(unsigned char* p) const {
  std::free(p);
}

Buffer::Buffer(size_t bytes, unsigned char fill) : size_(bytes) {
  constexpr size_t kPage = 4096;
  data_.reset(static_cast<unsigned char*>(
      std::aligned_alloc(kPage, (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage)));
  if (!data_) {
    throw InputError("no memory for a buffer of " + format_bytes(static_cast<double>(bytes)) +
                     "; choose a smaller max_size (--plan)");
  }
  std::memset(data_.get(), fill, bytes);
}

Pair::Pair(MPI_Comm comm, int partner, size_t max_bytes)
    : comm_(comm),
      partner_(partner),
      max_bytes_(max_bytes),
      send_(message_buffer(max_bytes, kMaxBurst), 1),
      receive_(send_.size(), 2) {}

size_t Pair::longest_in_burst() const {
  return longest_at_once(send_.size(), max_bytes_, kMinBurst);
}

int Pair::burst_length(size_t bytes) {
  if (bytes == 0) return kMaxBurst;
  return static_cast<int>(std::clamp<size_t>(kForSeveral / bytes, kMinBurst, kMaxBurst));
}

void Pair::command(int kind, size_t bytes, int count, int messages, double delay) {
  const Command command{kind, count, messages, bytes, delay};
  MPI_Send(&command, sizeof command, MPI_BYTE, partner_, kTag, comm_);
}

void Pair::serve() {
  for (;;) {
    Command command;
    MPI_Recv(&command, sizeof command, MPI_BYTE, 0, kTag, comm_, MPI_STATUS_IGNORE);
    switch (command.kind) {
      case kPingPong:
        answer_ping_pong(command);
        break;
      case kBurst:
        answer_burst(command);
        break;
      case kStream:
        answer_stream(command);
        break;
      case kExchange:
        exchange_loop(command.bytes, command.count);
        break;
      case kLateReceiver:
        answer_late(command);
        break;
      case kPattern:
        answer_pattern(command);
        break;
      case kReceiverAway:
        answer_away(command);
        break;
      case kSender:
        answer_sender(command);
        break;
      default:
        return;
    }
  }
}

void Pair::release() {
  command(kRelease, 0, 0, 0, 0);
}

double Pair::ping_pong(size_t bytes, int round_trips, bool synchronous) {
  const int n = static_cast<int>(bytes);
  command(kPingPong, bytes, round_trips, synchronous, 0);
  const auto send = synchronous ? MPI_Ssend : MPI_Send;
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  const auto round_trip = [&] {
    send(out, n, MPI_BYTE, partner_, kTag, comm_);
    MPI_Recv(in, n, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
    std::swap(in, out);
  };
  round_trip();  // then both sides are ready, and the buffers in their usual state
  const double begin = now();
  for (int i = 0; i < round_trips; ++i) round_trip();
  return (now() - begin) / (2. * round_trips);
}

void Pair::answer_ping_pong(const Command& command) {
  const int n = static_cast<int>(command.bytes);
  const auto send = command.messages ? MPI_Ssend : MPI_Send;
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  for (int i = 0; i < command.count + 1; ++i) {
    MPI_Recv(in, n, MPI_BYTE, 0, kTag, comm_, MPI_STATUS_IGNORE);
    std::swap(in, out);
    send(out, n, MPI_BYTE, 0, kTag, comm_);
  }
}

void Pair::start_sends(unsigned char* from, size_t bytes, std::vector<MPI_Request>& requests) {
  for (size_t m = 0; m < requests.size(); ++m) {
    MPI_Isend(from + m * bytes, static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_,
              &requests[m]);
  }
}

void Pair::post_receives(unsigned char* to, size_t bytes, std::vector<MPI_Request>& requests) {
  for (size_t m = 0; m < requests.size(); ++m) {
    MPI_Irecv(to + m * bytes, static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_,
              &requests[m]);
  }
}

double Pair::burst(size_t bytes, int messages, int round_trips) {
  command(kBurst, bytes, round_trips, messages, 0);
  std::vector<MPI_Request> sends(messages), receives(messages);
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  const auto there_and_back = [&] {
    post_receives(in, bytes, receives);
    start_sends(out, bytes, sends);
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(messages, receives.data(), MPI_STATUSES_IGNORE);
    std::swap(in, out);
  };
  for (int i = warm_ups(bytes * sends.size()); i > 0; --i) there_and_back();
  const double begin = now();
  for (int i = 0; i < round_trips; ++i) there_and_back();
  return (now() - begin) / (2. * round_trips);
}

void Pair::answer_burst(const Command& command) {
  std::vector<MPI_Request> sends(command.messages), receives(command.messages);
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  post_receives(in, command.bytes, receives);
  for (int left = command.count + warm_ups(command.bytes * sends.size()); left > 0; --left) {
    MPI_Waitall(command.messages, receives.data(), MPI_STATUSES_IGNORE);
    std::swap(in, out);
    // Post the receives of the next burst before the other side may start it.
    if (left > 1) post_receives(in, command.bytes, receives);
    start_sends(out, command.bytes, sends);
    MPI_Waitall(command.messages, sends.data(), MPI_STATUSES_IGNORE);
  }
}

double Pair::stream(size_t bytes, int repetitions) {
  command(kStream, bytes, repetitions, kStreamLength, 0);
  const auto once = [&] {
    for (int m = 0; m < kStreamLength; ++m) {
      MPI_Send(send_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
  };
  once();
  const double begin = now();
  for (int i = 0; i < repetitions; ++i) once();
  return (now() - begin) / repetitions;
}

void Pair::answer_stream(const Command& command) {
  for (int i = 0; i < command.count + 1; ++i) {
    for (int m = 0; m < command.messages; ++m) {
      MPI_Recv(receive_.data(), static_cast<int>(command.bytes), MPI_BYTE, 0, kTag, comm_,
               MPI_STATUS_IGNORE);
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
  }
}

// Ends that begin a latency apart wait in turn: one of them twice the latency in odd exchanges and
// not at all in even ones, the other one vice versa. So the number of exchanges is made even.
double Pair::exchange(size_t bytes, int exchanges) {
  exchanges = (exchanges + 1) / 2 * 2;
  command(kExchange, bytes, exchanges, 1, 0);
  return exchange_loop(bytes, exchanges);
}

double Pair::exchange_loop(size_t bytes, int exchanges) {
  const int n = static_cast<int>(bytes);
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  const auto once = [&] {
    MPI_Request requests[2];
    MPI_Irecv(in, n, MPI_BYTE, partner_, kTag, comm_, &requests[0]);
    MPI_Isend(out, n, MPI_BYTE, partner_, kTag, comm_, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    std::swap(in, out);
  };
  for (int i = warm_ups(2 * bytes); i > 0; --i) once();
  const double begin = now();
  for (int i = 0; i < exchanges; ++i) once();
  return (now() - begin) / exchanges;
}

double Pair::exchange_with_self(size_t bytes, int exchanges) {
  const int n = static_cast<int>(bytes);
  unsigned char* out = send_.data();
  unsigned char* in = receive_.data();
  const auto once = [&] {
    MPI_Sendrecv(out, n, MPI_BYTE, partner_, kTag, in, n, MPI_BYTE, partner_, kTag, comm_,
                 MPI_STATUS_IGNORE);
    std::swap(in, out);
  };
  once();
  const double begin = now();
  for (int i = 0; i < exchanges; ++i) once();
  return (now() - begin) / exchanges;
}

bool Pair::sends_eagerly(size_t bytes, double delay) {
  // The timing starts before the command, so that a sender which loses its processor between
  // command and send appears late rather than eager.
  const double begin = now();
  command(kLateReceiver, bytes, 1, 0, delay);
  MPI_Send(send_.data(), static_cast<int>(bytes), MPI_BYTE, partner_, kTag, comm_);
  const double sent = now() - begin;
  MPI_Recv(nullptr, 0, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
  return sent < delay / 2;
}

void Pair::answer_late(const Command& command) {
  // Inside MPI all the time, so that a send which needs only this side's progress completes.
  const double until = now() + command.delay;
  while (now() < until) {
    int found = 0;
    MPI_Iprobe(0, kOtherTag, comm_, &found, MPI_STATUS_IGNORE);
  }
  MPI_Recv(receive_.data(), static_cast<int>(command.bytes), MPI_BYTE, 0, kTag, comm_,
           MPI_STATUS_IGNORE);
  MPI_Send(nullptr, 0, MPI_BYTE, 0, kTag, comm_);
}

bool Pair::sends_eagerly_to_self(size_t bytes) {
  constexpr int kPolls = 200;
  const int n = static_cast<int>(bytes);
  MPI_Request request;
  MPI_Isend(send_.data(), n, MPI_BYTE, partner_, kTag, comm_, &request);
  int eager = 0;
  for (int i = 0; i < kPolls && !eager; ++i) MPI_Test(&request, &eager, MPI_STATUS_IGNORE);
  MPI_Recv(receive_.data(), n, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return eager;
}

bool Pair::payload_survives(size_t bytes) {
  const int n = static_cast<int>(bytes);
  fill_pattern(send_.data(), bytes, 0);
  std::memset(receive_.data(), 0x55, bytes);
  int self = 0;
  MPI_Comm_rank(comm_, &self);
  if (partner_ == self) {
    exchange_with_self(bytes, 1);
    return has_pattern(receive_.data(), bytes, 0);
  }
  command(kPattern, bytes, 1, 0, 0);
  MPI_Send(send_.data(), n, MPI_BYTE, partner_, kTag, comm_);
  int intact = 0;
  MPI_Recv(receive_.data(), n, MPI_BYTE, partner_, kTag, comm_, MPI_STATUS_IGNORE);
  MPI_Recv(&intact, 1, MPI_INT, partner_, kTag, comm_, MPI_STATUS_IGNORE);
  return intact && has_pattern(receive_.data(), bytes, 0xff);
}

void Pair::answer_pattern(const Command& command) {
  const int n = static_cast<int>(command.bytes);
  std::memset(receive_.data(), 0x55, command.bytes);
  MPI_Recv(receive_.data(), n, MPI_BYTE, 0, kTag, comm_, MPI_STATUS_IGNORE);
  const int intact = has_pattern(receive_.data(), command.bytes, 0);
  fill_pattern(send_.data(), command.bytes,
               0xff);  // all bits inverted, on the way back
  MPI_Send(send_.data(), n, MPI_BYTE, 0, kTag, comm_);
  MPI_Send(&intact, 1, MPI_INT, 0, kTag, comm_);
}

}  // namespace rubato
