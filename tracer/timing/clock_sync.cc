#include "tracer/timing/clock_sync.h"

#include "tracer/base/clock.h"

/// How the clocks of a cluster are made one.
///
/// Each node has a clock of its own. It started at some time (when the node was switched on, as a
/// rule: the clocks are days apart) and drifts: 50 parts per million are usual, 3 ms a minute,
/// where a message takes 2 us. Uncorrected, messages arrive before they were sent.
///
/// Clocks can be compared only by messages. One side sends a request, the other answers with its
/// time; the true time of the answer lies between request and reply. Exchanges (clock_model.h)
/// combines many of these. On shared memory this is good to 0.05 us, on a network to a fraction of
/// its latency, if the ways there and back are alike.
///
/// Comparing all with rank 0, one after the other, takes as many rounds as there are nodes.
/// Jones and Koenig, and Hunold and Carpen-Amarie after them (HCA), use a binomial tree instead:
///
///     round 1     0-1   2-3   4-5   6-7      leader i with its lowest bit cleared is i's parent;
///     round 2     0---2       4---6          the pairs of one round are disjoint, so they measure
///     round 3     0-----------4              at the same time
///
/// Only raw stamps of both clocks are kept. At the end each leader learns its parent's clock in
/// rank 0's time, converts its own measurements to that time, and fits a line or a bent line
/// (clock_model.cc). So a later measurement of a parent's clock still improves an early measurement
/// of its child. Errors add in squares along a path of at most log2(nodes) measurements.
///
/// Two measurements, at MPI_Init and MPI_Finalize, give a line. Only further measurements show
/// whether the clock followed it (--sync-every, periodic_sync.h).
namespace rubato {
inline namespace tracing {
namespace {

/// Exchanges of one comparison: fewer if the last kPatience were no faster than the earlier ones,
/// or if they take too long (a descheduled process answers late).
constexpr int kMostExchanges = 100;
constexpr int kPatience = 30;

constexpr int kTag = 0;

}  // namespace

void ClockSync::start(MPI_Comm comm, bool per_rank) {
  int rank, place_in_node;
  PMPI(Comm_rank)(comm, &rank);
  if (per_rank) {
    PMPI(Comm_split)(comm, rank, 0, &sharers_);
  } else {
    PMPI(Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, rank, handles.info_null, &sharers_);
  }
  PMPI(Comm_rank)(sharers_, &place_in_node);
  leader_ = place_in_node == 0;
  PMPI(Comm_split)(comm, leader_ ? 0 : MPI_UNDEFINED, rank, &leaders_);
  int64_t about[2] = {1, -1};
  if (leader_) {
    PMPI(Comm_rank)(leaders_, &place_);
    PMPI(Comm_size)(leaders_, &clocks_);
    int64_t world = rank, theirs = -1;
    for (int bit = 1; bit < clocks_; bit <<= 1) {
      if ((place_ & bit) != 0) {
        PMPI(Recv)(&theirs, 1, handles.int64, place_ - bit, kTag, leaders_, MPI_STATUS_IGNORE);
        break;
      }
      if (place_ + bit < clocks_) {
        PMPI(Send)(&world, 1, handles.int64, place_ + bit, kTag, leaders_);
      }
    }
    about[0] = clocks_;
    about[1] = theirs;
  }
  PMPI(Bcast)(about, 2, handles.int64, 0, sharers_);
  clocks_ = static_cast<int>(about[0]);
  parent_ = static_cast<int>(about[1]);
}

void ClockSync::finish() {
  PMPI(Comm_free)(&sharers_);
  if (leader_) PMPI(Comm_free)(&leaders_);
}

/// Answers the child's requests with the time.
void ClockSync::answer(int child) const {
  for (;;) {
    char go_on = 0;
    PMPI(Recv)(&go_on, 1, handles.byte, child, kTag, leaders_, MPI_STATUS_IGNORE);
    if (go_on == 0) return;
    auto now = static_cast<int64_t>(Clock::now());
    PMPI(Send)(&now, 1, handles.int64, child, kTag, leaders_);
  }
}

ClockSample ClockSync::ask(int parent, double seconds) const {
  Exchanges exchanges;
  char go_on = 1;
  int in_vain = 0;
  const uint64_t begin = Clock::monotonic();
  for (int i = 0; i < kMostExchanges && in_vain < kPatience; ++i) {
    int64_t theirs = 0;
    const uint64_t before = Clock::now();
    PMPI(Send)(&go_on, 1, handles.byte, parent, kTag, leaders_);
    PMPI(Recv)(&theirs, 1, handles.int64, parent, kTag, leaders_, MPI_STATUS_IGNORE);
    const uint64_t after = Clock::now();
    in_vain = exchanges.add(before, static_cast<uint64_t>(theirs), after) ? 0 : in_vain + 1;
    if (static_cast<double>(Clock::monotonic() - begin) > seconds * 1e9) break;
  }
  go_on = 0;
  PMPI(Send)(&go_on, 1, handles.byte, parent, kTag, leaders_);
  return exchanges.sample();
}

void ClockSync::measure(double seconds) {
  if (one_clock()) return;
  ClockSample sample;
  if (leader_) {
    for (int bit = 1; bit < clocks_; bit <<= 1) {
      if ((place_ & bit) != 0) {
        sample = ask(place_ - bit, seconds);
        break;
      }
      if (place_ + bit < clocks_) answer(place_ + bit);
    }
  }
  if (parent_ < 0) return;  // on the reference clock: no sharer expects a sample
  PMPI(Bcast)(&sample, static_cast<int>(sizeof sample), handles.byte, 0, sharers_);
  samples_.push_back(sample);
}

ClockModel ClockSync::model() const {
  ClockModel model;
  if (one_clock()) return model;

  // From the top down: the rounds backwards.
  int bit = 1;
  while (bit < clocks_ && (place_ & bit) == 0) bit <<= 1;
  const auto transfer = [&](std::vector<ClockOffset>& offsets, auto move) {
    auto count = static_cast<int64_t>(offsets.size());
    move(&count, 1, handles.int64);
    offsets.resize(static_cast<size_t>(count));
    move(offsets.data(), static_cast<int>(static_cast<size_t>(count) * sizeof(ClockOffset)),
         handles.byte);
  };
  std::vector<ClockOffset> offsets;
  if (leader_) {
    if (parent_ >= 0) {
      transfer(offsets, [&](void* data, int count, MPI_Datatype type) {
        PMPI(Recv)(data, count, type, place_ - bit, kTag, leaders_, MPI_STATUS_IGNORE);
      });
      model = ClockModel(ClockModel::from_offsets(std::move(offsets)), samples_);
    }
    offsets = model.offsets();
    for (bit >>= 1; bit > 0; bit >>= 1) {
      if (place_ + bit >= clocks_) continue;
      transfer(offsets, [&](void* data, int count, MPI_Datatype type) {
        PMPI(Send)(data, count, type, place_ + bit, kTag, leaders_);
      });
    }
  }
  transfer(offsets, [&](void* data, int count, MPI_Datatype type) {
    PMPI(Bcast)(data, count, type, 0, sharers_);
  });
  return ClockModel::from_offsets(std::move(offsets));
}

}  // namespace tracing
}  // namespace rubato
