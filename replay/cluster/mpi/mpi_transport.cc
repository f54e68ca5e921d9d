// Batches over MPI: nonblocking sends, and receives of messages that have arrived. See
// replay/cluster/transport.h.

#include <mpi.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <utility>

#include "replay/cluster/transport.h"

namespace rubato {
namespace {

constexpr int kTag = 1;
constexpr uint64_t kPiece = 1 << 30;     ///< bytes of one broadcast
constexpr uint64_t kRoomLeft = 1 << 24;  ///< bytes of shared memory to leave for others
/// Number of polls, about 600 us, before a waiting process sleeps in between: messages mostly
/// arrive within microseconds. It does not poll if there are more processes than cores. Nor does it
/// yield: on Linux from 6.6 on each sched_yield() postpones when the process may run next, and
/// after some thousands of them it gets no core for seconds while others are busy.
constexpr int kLooksAwake = 2000;
constexpr long kShortestSleep = 10000, kLongestSleep = 200000;  ///< ns

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_size(comm_, &processes_);
    MPI_Comm_rank(comm_, &self_);
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, self_, MPI_INFO_NULL, &host_);
    MPI_Comm_size(host_, &on_this_host_);
    if (on_this_host_ > sysconf(_SC_NPROCESSORS_ONLN)) looks_awake_ = 0;
    // By default sleeps end 50 us late.
    prctl(PR_SET_TIMERSLACK, 1000UL);
  }

  int processes() const override { return processes_; }
  int self() const override { return self_; }
  int on_this_host() const override { return on_this_host_; }

  void send(int to, Bytes message) override {
    Sending& sending = under_way_.emplace_back();
    sending.message = std::move(message);
    MPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE, to, kTag,
              comm_, &sending.request);
    forget_sent();
  }

  bool receive(int& from, Bytes& message) override {
    int found = 0;
    MPI_Message matched;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kTag, comm_, &found, &matched, &status);
    if (!found) {
      forget_sent();
      return false;
    }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.resize(static_cast<size_t>(size));
    MPI_Mrecv(message.data(), size, MPI_BYTE, &matched, &status);
    from = status.MPI_SOURCE;
    looks_ = 0;
    sleep_ = kShortestSleep;
    return true;
  }

  void rest() override {
    if (++looks_ <= looks_awake_) return;
    const timespec while_others_work = {0, sleep_};
    nanosleep(&while_others_work, nullptr);
    sleep_ = std::min(sleep_ * 3 / 2, kLongestSleep);
  }

  FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) override {
    int on_host = 0;
    MPI_Comm_rank(host_, &on_host);
    Bytes made;
    if (on_host == 0) made = make();
    if (on_this_host_ == 1) return made;
    Announced announced{made.size(), on_host == 0 && has_shared_memory(made.size())};
    MPI_Request request;
    MPI_Ibcast(&announced, sizeof announced, MPI_BYTE, 0, host_, &request);
    wait(request);
    if (announced.size == 0) return {};
    const std::byte* shared =
        announced.by_window ? window_of(made, announced.size, on_host == 0) : nullptr;
    if (!shared) return copy_of(std::move(made), announced.size);
    if (self_ == 0) return made;  // it stays valid when the window is freed
    return {std::span(shared, announced.size), nullptr};
  }

  void close() override {
    for (Sending& sending : under_way_) MPI_Wait(&sending.request, MPI_STATUS_IGNORE);
    under_way_.clear();
    for (MPI_Win& window : windows_) MPI_Win_free(&window);
    MPI_Comm_free(&host_);
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  }

 private:
  struct Sending {
    Bytes message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Sent by the first process of a host to the others, about the data it has made.
  struct Announced {
    uint64_t size;
    bool by_window;
  };

  /// True if that much shared memory is left on this host. MPI libraries abort, or hang, if it is
  /// not; containers often have 64 MB.
  static bool has_shared_memory(uint64_t size) {
    struct statvfs shm {};
    return statvfs("/dev/shm", &shm) == 0 &&
           shm.f_bavail * shm.f_frsize > size + size / 8 + kRoomLeft;
  }

  /// Waits for the request without occupying the processor.
  void wait(MPI_Request& request) {
    for (int done = 0; !done;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done) rest();
    }
    looks_ = 0;
    sleep_ = kShortestSleep;
  }

  /// The bytes that the first process of the host has `made`, in shared memory of the host; null if
  /// MPI has no such windows, as with some settings of Open MPI (osc).
  const std::byte* window_of(const Bytes& made, uint64_t size, bool is_first) {
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);
    int is_there = MPI_Win_allocate_shared(is_first ? static_cast<MPI_Aint>(size) : 0, 1,
                                           MPI_INFO_NULL, host_, &memory, &window) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(host_, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, host_);
    if (!is_there) return nullptr;
    windows_.push_back(window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (is_first) std::memcpy(memory, made.data(), size);
    MPI_Win_sync(window);
    MPI_Barrier(host_);
    MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    return static_cast<const std::byte*>(memory);
  }

  /// The same as a copy in each process.
  Bytes copy_of(Bytes made, uint64_t size) {
    made.resize(size);
    for (uint64_t begin = 0; begin < size; begin += kPiece) {
      MPI_Bcast(made.data() + begin, static_cast<int>(std::min(kPiece, size - begin)), MPI_BYTE, 0,
                host_);
    }
    return made;
  }

  void forget_sent() {
    for (auto sending = under_way_.begin(); sending != under_way_.end();) {
      int done = 0;
      MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE);
      sending = done ? under_way_.erase(sending) : std::next(sending);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm host_ = MPI_COMM_NULL;  ///< the processes of this host
  std::vector<MPI_Win> windows_;   ///< in shared memory of this host
  int processes_ = 1;
  int self_ = 0;
  int on_this_host_ = 1;
  int looks_awake_ = kLooksAwake;
  int looks_ = 0;  ///< unsuccessful polls in a row
  long sleep_ = kShortestSleep;
  std::list<Sending> under_way_;
};

}  // namespace
}  // namespace rubato

/// Looked up by the command: the transport of this process, which the caller deletes.
extern "C" __attribute__((visibility("default"))) rubato::Transport* rubato_mpi_transport() {
  return new rubato::MpiTransport();
}
