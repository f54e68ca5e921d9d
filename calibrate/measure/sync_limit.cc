#include "calibrate/measure/sync_limit.h"

#include <unistd.h>

#include <array>
#include <limits>

#include "calibrate/measure/collective_call.h"
#include "calibrate/plan/collective_plan.h"

namespace rubato {
namespace {

// If the other members leave before the late one arrives, they do not wait for it, whatever the
// scheduler did. If they leave after it, they may also have lost their processor, so the test is
// repeated with a longer delay.
constexpr double kDelay = 2e-3;  // seconds
constexpr int kTries = 3;

bool is_held(MPI_Comm comm, CollectiveOp op, size_t bytes, const GlobalClock& clock) {
  int rank = 0, members = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &members);
  const bool to_root = synchronisation(op) == Synchronisation::kAllToOne;
  const bool late = rank == (to_root ? 0 : members - 1);
  CollectiveCall call(comm, op, bytes);
  double delay = kDelay;
  for (int i = 0; i < kTries; ++i, delay *= 2) {
    MPI_Barrier(comm);
    if (late) usleep(static_cast<useconds_t>(delay * 1e6));
    constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
    std::array<double, 2> times = {
        kLongAgo, kLongAgo};  // arrival of the late member, departure of the last other one
    if (late) times[0] = clock.global(clock.now());
    call();
    if (!late) times[1] = clock.global(clock.now());
    MPI_Allreduce(MPI_IN_PLACE, times.data(), 2, MPI_DOUBLE, MPI_MAX, comm);
    if (times[1] < times[0]) return false;
  }
  return true;
}

}  // namespace

std::optional<size_t> find_sync_limit(MPI_Comm comm, CollectiveOp op, size_t max_bytes,
                                      const GlobalClock& clock) {
  const size_t unit = op == CollectiveOp::kReduce ? sizeof(double) : 1;
  return find_held_from([&](size_t bytes) { return is_held(comm, op, bytes, clock); }, unit,
                        max_bytes);
}

}  // namespace rubato
