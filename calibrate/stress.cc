// mpptest's test of the transport itself: does received data equal sent data?
//
// In each round every rank sends some messages to the rank `shift` places behind it and receives as
// many from the rank `shift` places before it. Shift, number, lengths and calls come from the same
// random numbers on all ranks, so no communication is needed. The content encodes sender, receiver,
// length and the number of the message in the run, so a mix-up of messages is found too.
#include "calibrate/stress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "calibrate/pair.h"
#include "calibrate/payload.h"
#include "models/lanes.h"

namespace rubato {
namespace {

constexpr int kMostMessages = 8;
constexpr int kRoundsBetweenLooks = 8;   // at the clock of rank 0
constexpr size_t kMostBytes = 16 << 20;  // of a round

enum Way { kBlocking, kNonblocking, kSynchronous, kPersistent, kProbed, kWays };

/// Where rank 0 tells the first wrong bit.
struct Damage {
  int receiver = -1, sender = -1;
  int bit = 0;
  size_t bytes = 0, offset = 0;
  uint64_t number = 0;
};

class Stress {
 public:
  explicit Stress(const StressOptions& options) : options_(options), random_(options.seed) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    if (const char* flip = std::getenv("RUBATO_STRESS_FLIP")) flip_ = std::atoll(flip);
  }

  bool run() {
    const double until = now() + options_.seconds;
    int go_on = 1;
    while (go_on) {
      for (int i = 0; i < kRoundsBetweenLooks; ++i) round();
      go_on = rank_ == 0 && now() < until && !(options_.stop && options_.stop());
      MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
      int damaged = damage_.receiver >= 0;
      MPI_Allreduce(MPI_IN_PLACE, &damaged, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (damaged) break;
    }
    return report();
  }

 private:
  /// Any length up to the largest, short ones as often as long ones.
  size_t draw_length() {
    const double exponent = std::uniform_real_distribution<double>(0, 1)(random_);
    const double length = std::pow(static_cast<double>(options_.max_bytes) + 1, exponent) - 1;
    return std::min(options_.max_bytes, static_cast<size_t>(length));
  }

  void round() {
    const int shift = ranks_ > 1 ? 1 + static_cast<int>(random_() % (ranks_ - 1)) : 0;
    const Way way = static_cast<Way>(random_() % kWays);
    const int count = 1 + static_cast<int>(random_() % kMostMessages);
    std::vector<size_t> lengths;
    size_t sum = 0;
    for (int k = 0; k < count; ++k) {
      lengths.push_back(std::min(draw_length(), kMostBytes - sum));
      sum += lengths.back();
    }
    // At any offset from the line of a cache.
    const size_t offset = random_() % kCacheLine;
    out_.resize(sum + offset);
    in_.assign(sum + offset, 0x55);
    const int to = (rank_ + shift) % ranks_;
    const int from = (rank_ + ranks_ - shift) % ranks_;
    std::vector<unsigned char*> out, in;
    for (size_t at = offset; const size_t length : lengths) {
      out.push_back(out_.data() + at);
      in.push_back(in_.data() + at);
      at += length;
    }
    for (int k = 0; k < count; ++k)
      fill_payload(out[k], {rank_, to, lengths[k], number_ + static_cast<uint64_t>(k)});
    move(way, to, from, lengths, out, in);
    for (int k = 0; k < count; ++k) check(in[k], {from, rank_, lengths[k], number_++});
  }

  void move(Way way, int to, int from, const std::vector<size_t>& lengths,
            const std::vector<unsigned char*>& out, const std::vector<unsigned char*>& in) {
    const int count = static_cast<int>(lengths.size());
    std::vector<MPI_Request> requests(2 * lengths.size(), MPI_REQUEST_NULL);
    const auto length = [&](int k) { return static_cast<int>(lengths[k]); };
    if (way == kBlocking) {
      for (int k = 0; k < count; ++k) {
        MPI_Sendrecv(out[k], length(k), MPI_BYTE, to, k, in[k], length(k), MPI_BYTE, from, k,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      return;
    }
    if (way == kProbed) {  // they come unexpected, and the last one is received first
      for (int k = 0; k < count; ++k)
        MPI_Isend(out[k], length(k), MPI_BYTE, to, k, MPI_COMM_WORLD, &requests[k]);
      for (int k = count - 1; k >= 0; --k) {
        MPI_Probe(from, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in[k], length(k), MPI_BYTE, from, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
      return;
    }
    if (way == kPersistent) {
      for (int k = 0; k < count; ++k) {
        MPI_Recv_init(in[k], length(k), MPI_BYTE, from, k, MPI_COMM_WORLD, &requests[k]);
        MPI_Send_init(out[k], length(k), MPI_BYTE, to, k, MPI_COMM_WORLD, &requests[count + k]);
      }
      MPI_Startall(2 * count, requests.data());
      MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
      for (MPI_Request& request : requests) MPI_Request_free(&request);
      return;
    }
    for (int k = 0; k < count; ++k)
      MPI_Irecv(in[k], length(k), MPI_BYTE, from, k, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < count; ++k) {
      (way == kSynchronous ? MPI_Issend : MPI_Isend)(out[k], length(k), MPI_BYTE, to, k,
                                                     MPI_COMM_WORLD, &requests[count + k]);
    }
    MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE);
  }

  void check(unsigned char* data, const Payload& payload) {
    if (rank_ == 1 && payload.bytes > 0 && flip_ > 0 && --flip_ == 0) data[payload.bytes / 2] ^= 4;
    checked_ += payload.bytes;
    ++messages_;
    if (damage_.receiver >= 0) return;
    if (const auto difference = first_difference(data, payload)) {
      damage_ = {payload.to,    payload.from,       difference->bit,
                 payload.bytes, difference->offset, payload.number};
    }
  }

  bool report() {
    unsigned long long sums[2] = {checked_, messages_}, all[2] = {};
    MPI_Reduce(sums, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    std::vector<Damage> damages(static_cast<size_t>(ranks_));
    MPI_Allgather(&damage_, sizeof damage_, MPI_BYTE, damages.data(), sizeof damage_, MPI_BYTE,
                  MPI_COMM_WORLD);
    const Damage* first = nullptr;
    for (const Damage& damage : damages) {
      if (damage.receiver >= 0 && (!first || damage.number < first->number)) first = &damage;
    }
    if (rank_ == 0) {
      std::printf("%llu bytes in %llu messages among %d ranks were checked, every bit\n", all[0],
                  all[1], ranks_);
      if (first) {
        std::printf(
            "damaged: a message of %zu bytes from rank %d to rank %d, the first wrong bit is bit "
            "%d of byte %zu (message %llu of the run)\n",
            first->bytes, first->sender, first->receiver, first->bit, first->offset,
            static_cast<unsigned long long>(first->number));
      } else {
        std::printf("none was wrong\n");
      }
    }
    return !first;
  }

  StressOptions options_;
  std::mt19937_64 random_;
  int rank_ = 0, ranks_ = 0;
  std::vector<unsigned char> out_, in_;
  uint64_t number_ = 0;
  unsigned long long checked_ = 0, messages_ = 0;
  long long flip_ = 0;
  Damage damage_;
};

}  // namespace

bool run_stress(const StressOptions& options) {
  return Stress(options).run();
}

}  // namespace rubato
