#include "made_archive.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tracer/archive/schema.h"

namespace {

enum Region : uint32_t { kIrecv, kIsend, kWaitall, kAllreduce, kSend, kRecv, kAlltoall, kRegions };
constexpr const char* kNames[kRegions] = {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce",
                                          "MPI_Send",  "MPI_Recv",  "MPI_Alltoall"};
constexpr uint64_t kStep = 1000000;  ///< ticks (ns) from one turn to the next

OTF2_FlushType pre_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
OTF2_TimeStamp post_flush(void*, OTF2_FileType, OTF2_LocationRef) {
  return 0;
}

/// The six neighbours of a rank on a periodic grid: -x, +x, -y, +y, -z, +z.
class Grid {
 public:
  explicit Grid(int ranks) {
    for (int i = 0; (1 << i) < ranks; ++i) size_[i % 3] *= 2;
  }
  int ranks() const { return size_[0] * size_[1] * size_[2]; }
  std::array<uint32_t, 6> neighbours(int rank) const {
    std::array<int, 3> at = {rank % size_[0], rank / size_[0] % size_[1],
                             rank / (size_[0] * size_[1])};
    std::array<uint32_t, 6> found{};
    for (int i = 0; i < 6; ++i) {
      std::array<int, 3> to = at;
      const int d = i / 2;
      to[d] = (at[d] + (i % 2 ? 1 : size_[d] - 1)) % size_[d];
      found[i] = static_cast<uint32_t>(to[0] + size_[0] * (to[1] + size_[1] * to[2]));
    }
    return found;
  }

 private:
  std::array<int, 3> size_ = {1, 1, 1};
};

/// Writes the events of one rank. Times are those of a machine in step: compute of a random length,
/// then calls that end when all can have come.
class RankWriter {
 public:
  RankWriter(OTF2_EvtWriter* writer, int rank, int ranks)
      : writer_(writer), rank_(rank), ranks_(ranks), random_(static_cast<unsigned>(rank) + 1) {}

  /// A receive completed by end_pending(), with the message that the previous rank sends then.
  void begin_pending() {
    enter(kIrecv);
    OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, time_ += 200, kPending);
    leave(kIrecv);
  }
  void end_pending() {
    const auto next = static_cast<uint32_t>((rank_ + 1) % ranks_);
    const auto before = static_cast<uint32_t>((rank_ + ranks_ - 1) % ranks_);
    enter(kSend);
    OTF2_EvtWriter_MpiSend(writer_, nullptr, time_, next, 0, kPendingTag, 8);
    leave(kSend);
    enter(kWaitall);
    OTF2_EvtWriter_MpiIrecv(writer_, nullptr, time_ += kStep, before, 0, kPendingTag, 8, kPending);
    leave(kWaitall);
  }

  void halo(const Grid& grid, uint64_t step, uint64_t bytes) {
    const auto neighbours = grid.neighbours(rank_);
    time_ = step * kStep + random_() % 100000;
    for (uint64_t i = 0; i < 6; ++i) {
      enter(kIrecv);
      OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, time_ += 200, request_ + i);
      leave(kIrecv);
    }
    for (uint32_t i = 0; i < 6; ++i) {
      enter(kIsend);
      OTF2_EvtWriter_MpiIsend(writer_, nullptr, time_ += 200, neighbours[i], 0, i, bytes,
                              request_ + 6 + i);
      leave(kIsend);
    }
    enter(kWaitall);
    time_ = step * kStep + 200000;
    for (uint32_t i = 0; i < 6; ++i) {
      // Messages from -x were sent to +x.
      OTF2_EvtWriter_MpiIrecv(writer_, nullptr, time_ += 10, neighbours[i], 0, i ^ 1, bytes,
                              request_ + i);
    }
    for (uint64_t i = 0; i < 6; ++i)
      OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, time_ += 10, request_ + 6 + i);
    leave(kWaitall);
    request_ += 12;
    time_ += 400000 + random_() % 100000;
    collective(kAllreduce, OTF2_COLLECTIVE_OP_ALLREDUCE, step * kStep + 800000,
               8 * static_cast<uint64_t>(ranks_));
  }

  /// The token comes to rank r at r * 600 ns of a turn.
  void ring(uint64_t step) {
    const uint64_t turn = 600 * static_cast<uint64_t>(ranks_);
    time_ = step * turn + static_cast<uint64_t>(rank_) * 600;
    const auto next = static_cast<uint32_t>((rank_ + 1) % ranks_);
    const auto before = static_cast<uint32_t>((rank_ + ranks_ - 1) % ranks_);
    if (rank_ > 0) receive(before, 8, time_);
    time_ += 100;
    send(next, 8);
    if (rank_ == 0) receive(before, 8, (step + 1) * turn - 300);
  }

  void alltoall(uint64_t step) {
    time_ = step * kStep + random_() % 100000;
    collective(kAlltoall, OTF2_COLLECTIVE_OP_ALLTOALL, step * kStep + 500000,
               1024 * static_cast<uint64_t>(ranks_));
  }

  /// A turn: every worker in its order; the master serves them 1 us apart.
  void master_worker(uint64_t step) {
    const uint64_t turn = 1000 * static_cast<uint64_t>(ranks_);
    if (rank_ == 0) {
      for (int worker = 1; worker < ranks_; ++worker) {
        time_ = step * turn + static_cast<uint64_t>(worker) * 1000;
        receive(static_cast<uint32_t>(worker), 64, time_);
        send(static_cast<uint32_t>(worker), 4096);
      }
      return;
    }
    time_ = step * turn + static_cast<uint64_t>(rank_) * 1000 - 600 + random_() % 100;
    send(0, 64);
    receive(0, 4096, step * turn + static_cast<uint64_t>(rank_) * 1000 + 600);
  }

 private:
  void enter(Region region) { OTF2_EvtWriter_Enter(writer_, nullptr, time_, region); }
  void leave(Region region) { OTF2_EvtWriter_Leave(writer_, nullptr, time_ += 300, region); }
  void send(uint32_t to, uint64_t bytes) {
    enter(kSend);
    OTF2_EvtWriter_MpiSend(writer_, nullptr, time_, to, 0, 0, bytes);
    leave(kSend);
  }
  /// Completes at `arrival`, or at this rank's time if that is later.
  void receive(uint32_t from, uint64_t bytes, uint64_t arrival) {
    enter(kRecv);
    time_ = std::max(time_, arrival);
    OTF2_EvtWriter_MpiRecv(writer_, nullptr, time_, from, 0, 0, bytes);
    leave(kRecv);
  }
  void collective(Region region, OTF2_CollectiveOp op, uint64_t end, uint64_t bytes) {
    enter(region);
    OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, time_);
    time_ = end;
    OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, time_, op, 0, OTF2_UNDEFINED_UINT32, bytes,
                                    bytes);
    leave(region);
  }

  static constexpr uint64_t kPending = UINT64_MAX - 1;  ///< a request
  static constexpr uint32_t kPendingTag = 6;            ///< that no other message has

  OTF2_EvtWriter* writer_;
  int rank_;
  int ranks_;
  std::mt19937 random_;
  uint64_t time_ = 0;
  uint64_t request_ = 0;
};

/// MPI calls of all ranks in one turn.
uint64_t calls_per_step(const MadeArchive& what) {
  const auto ranks = static_cast<uint64_t>(what.ranks);
  switch (what.workload) {
    case Workload::kHalo:
      return 14 * ranks;
    case Workload::kRing:
      return 2 * ranks;
    case Workload::kAlltoall:
      return ranks;
    case Workload::kMasterWorker:
      return 4 * (ranks - 1);
  }
  return 1;
}

uint64_t steps_of(const MadeArchive& what) {
  return std::max<uint64_t>(1, what.calls / calls_per_step(what));
}

void write_definitions(OTF2_Archive* archive, const std::vector<uint64_t>& events) {
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
  OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, 0, UINT64_C(1) << 50,
                                            OTF2_UNDEFINED_TIMESTAMP);
  std::vector<std::string> strings(kNames, kNames + kRegions);
  strings.insert(strings.end(),
                 {"", "MPI_COMM_WORLD", "node", "machine", "process", "Master thread"});
  for (uint32_t i = 0; i < strings.size(); ++i)
    OTF2_GlobalDefWriter_WriteString(writer, i, strings[i].c_str());
  const uint32_t empty = kRegions, world = empty + 1, node = empty + 2, process = empty + 4,
                 thread = empty + 5;
  for (uint32_t region = 0; region < kRegions; ++region) {
    OTF2_GlobalDefWriter_WriteRegion(writer, region, region, region, empty,
                                     OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI,
                                     OTF2_REGION_FLAG_NONE, empty, 0, 0);
  }
  OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, node, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  std::vector<uint64_t> members;
  for (uint32_t rank = 0; rank < events.size(); ++rank) {
    OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, process, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                            0, OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(writer, rank, thread, OTF2_LOCATION_TYPE_CPU_THREAD,
                                       events[rank], rank);
    members.push_back(rank);
  }
  const auto size = static_cast<uint32_t>(members.size());
  OTF2_GlobalDefWriter_WriteGroup(writer, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, size, members.data());
  OTF2_GlobalDefWriter_WriteGroup(writer, 1, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, size, members.data());
  OTF2_GlobalDefWriter_WriteComm(writer, 0, world, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_Archive_CloseGlobalDefWriter(archive, writer);
}

}  // namespace

uint64_t made_calls(const MadeArchive& what) {
  return steps_of(what) * calls_per_step(what) +
         (what.pending ? 3 * static_cast<uint64_t>(what.ranks) : 0);
}

void make_archive(const MadeArchive& what, const std::string& directory) {
  // For definitions libotf2 touches a whole chunk per rank, so the chunk is small.
  OTF2_Archive* archive =
      OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, what.chunk, 256 << 10,
                        OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  OTF2_FlushCallbacks callbacks = {pre_flush, post_flush};
  OTF2_Archive_SetFlushCallbacks(archive, &callbacks, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  OTF2_Archive_SetCreator(archive, "rubato-bench");
  // As the tracer does.
  for (const char* limit : {rubato::schema::kEagerLimitNode, rubato::schema::kEagerLimitNetwork})
    OTF2_Archive_SetProperty(archive, limit, "65536", true);
  OTF2_Archive_OpenEvtFiles(archive);
  const Grid grid(what.ranks);
  std::vector<uint64_t> events(what.ranks);
  for (int rank = 0; rank < what.ranks; ++rank) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, static_cast<uint64_t>(rank));
    RankWriter calls(writer, rank, what.ranks);
    if (what.pending) calls.begin_pending();
    for (uint64_t step = 0; step < steps_of(what); ++step) {
      switch (what.workload) {
        case Workload::kHalo:
          calls.halo(grid, step, what.bytes);
          break;
        case Workload::kRing:
          calls.ring(step);
          break;
        case Workload::kAlltoall:
          calls.alltoall(step);
          break;
        case Workload::kMasterWorker:
          calls.master_worker(step);
          break;
      }
    }
    if (what.pending) calls.end_pending();
    OTF2_EvtWriter_GetNumberOfEvents(writer, &events[rank]);
    OTF2_Archive_CloseEvtWriter(archive, writer);
  }
  OTF2_Archive_CloseEvtFiles(archive);
  OTF2_Archive_OpenDefFiles(archive);
  for (int rank = 0; rank < what.ranks; ++rank) {
    OTF2_Archive_CloseDefWriter(archive,
                                OTF2_Archive_GetDefWriter(archive, static_cast<uint64_t>(rank)));
  }
  OTF2_Archive_CloseDefFiles(archive);
  write_definitions(archive, events);
  OTF2_Archive_Close(archive);
}
