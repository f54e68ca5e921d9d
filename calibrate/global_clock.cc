// A drift-corrected global clock (Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking Is Still
// Not As Easy As You Think", 2016, section 3.1.1, and "Hierarchical Clock Synchronization in MPI",
// 2018). Two clocks are compared by messages: one side stamps and asks, the other answers with its
// time, the first side stamps again. The fastest of some exchanges counts; the true offset lies
// between its two stamps, most likely in the middle. That is one point. Several points, over a time
// long enough to show the drift, give a line by least squares. The methods differ in the pairs:
//
//   jk     (Jones and Koenig) every rank with rank 0, in turn. O(p) points at a time, and no errors
//          add up.
//   hca    A binomial tree, the pairs of a round side by side, leaves first: each rank learns its
//          line over its parent's clock. The lines are composed along the tree, which is right for
//          drifts. The offset of each rank is measured against rank 0, O(p).
//   hca2   Like hca, but with the offsets of the composed lines: O(log p), and errors add up.
//   hca3   The tree from its root down: the answering rank knows the global time and answers with
//          it, so each rank learns its line over the global clock at once. O(log p).
//
// Ranks of a node read one clock; only one of them measures, and tells the others.
#include "calibrate/global_clock.h"

#include <unistd.h>

#include <ctime>
#include <exception>
#include <vector>

namespace rubato {
namespace {

constexpr int kExchanges = 20;
constexpr int kPoints = 30;
constexpr useconds_t kPointEvery = 10000;  // microseconds: 0.3 s of drift are seen
constexpr int kTag = 0;

}  // namespace

double monotonic_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

GlobalClock::GlobalClock(MPI_Comm comm, ClockMethod method, Source source, bool per_rank)
    : source_(std::move(source)) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (per_rank) {
    MPI_Comm_split(comm, rank, 0, &sharers_);
  } else {
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &sharers_);
  }
  int place_in_node = 0;
  MPI_Comm_rank(sharers_, &place_in_node);
  leader_ = place_in_node == 0;
  MPI_Comm_split(comm, leader_ ? 0 : MPI_UNDEFINED, rank, &leaders_);
  if (leader_) {
    MPI_Comm_rank(leaders_, &place_);
    MPI_Comm_size(leaders_, &clocks_);
  }
  MPI_Bcast(&clocks_, 1, MPI_INT, 0, sharers_);
  if (one_clock()) return;
  if (leader_) {
    switch (method) {
      case ClockMethod::kJonesKoenig:
        jones_koenig();
        break;
      case ClockMethod::kHca:
      case ClockMethod::kHca2:
        bottom_up(method == ClockMethod::kHca);
        break;
      case ClockMethod::kHca3:
        top_down();
        break;
    }
  }
  share();
}

GlobalClock::~GlobalClock() {
  // To free a communicator is collective; a rank that an exception ends is alone.
  if (std::uncaught_exceptions() > 0) return;
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
  if (sharers_ != MPI_COMM_NULL) MPI_Comm_free(&sharers_);
}

ClockPoint GlobalClock::ask(int parent) const {
  ClockPoint point;
  double fastest = 0;
  for (int i = 0; i < kExchanges; ++i) {
    char question = 0;
    double theirs = 0;
    const double before = now();
    MPI_Send(&question, 1, MPI_CHAR, parent, kTag, leaders_);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, parent, kTag, leaders_, MPI_STATUS_IGNORE);
    const double after = now();
    if (i > 0 && after - before >= fastest) continue;
    fastest = after - before;
    point.own = before + fastest / 2;
    point.offset = theirs - point.own;
  }
  return point;
}

void GlobalClock::answer(int child, bool in_global_time) const {
  for (int i = 0; i < kExchanges; ++i) {
    char question = 0;
    MPI_Recv(&question, 1, MPI_CHAR, child, kTag, leaders_, MPI_STATUS_IGNORE);
    const double time = in_global_time ? global(now()) : now();
    MPI_Send(&time, 1, MPI_DOUBLE, child, kTag, leaders_);
  }
}

LinearClock GlobalClock::learn(int parent) const {
  std::vector<ClockPoint> points;
  for (int i = 0; i < kPoints; ++i) {
    points.push_back(ask(parent));
    usleep(kPointEvery);
  }
  return fit_clock(points);
}

void GlobalClock::teach(int child, bool in_global_time) const {
  for (int i = 0; i < kPoints; ++i) answer(child, in_global_time);
}

void GlobalClock::jones_koenig() {
  std::vector<ClockPoint> points;
  for (int i = 0; i < kPoints; ++i) {
    if (place_ > 0) points.push_back(ask(0));
    for (int other = 1; place_ == 0 && other < clocks_; ++other) answer(other, false);
    usleep(kPointEvery);
  }
  if (place_ > 0) line_ = fit_clock(points);
}

void GlobalClock::bottom_up(bool measure_intercepts) {
  LinearClock over_the_parent;
  int parent = -1;
  int bit = 1;
  for (; bit < clocks_ && parent < 0; bit <<= 1) {
    if ((place_ & bit) != 0) {
      parent = place_ - bit;
      over_the_parent = learn(parent);
    } else if (place_ + bit < clocks_) {
      teach(place_ + bit, false);
    }
  }
  // Lines over the global clock, from the top down: the rounds backwards.
  if (parent >= 0) {
    LinearClock line;
    MPI_Recv(&line, sizeof line, MPI_BYTE, parent, kTag, leaders_, MPI_STATUS_IGNORE);
    line_ = over_parent(over_the_parent, line);
    bit >>= 1;
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place_ + bit >= clocks_) continue;
    MPI_Send(&line_, sizeof line_, MPI_BYTE, place_ + bit, kTag, leaders_);
  }
  if (!measure_intercepts) return;
  for (int other = 1; other < clocks_; ++other) {
    if (place_ == 0) answer(other, false);
    if (place_ == other) line_ = line_.through(ask(0));
  }
}

void GlobalClock::top_down() {
  int bit = 1;
  while (bit < clocks_ && (place_ & bit) == 0) bit <<= 1;
  if (place_ > 0) line_ = learn(place_ - bit);
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place_ + bit < clocks_) teach(place_ + bit, true);
  }
}

void GlobalClock::adjust() {
  if (one_clock()) return;
  if (leader_) {
    int bit = 1;
    while (bit < clocks_ && (place_ & bit) == 0) bit <<= 1;
    if (place_ > 0) line_ = line_.through(ask(place_ - bit));
    for (bit >>= 1; bit > 0; bit >>= 1) {
      if (place_ + bit < clocks_) answer(place_ + bit, true);
    }
  }
  share();
}

void GlobalClock::share() {
  MPI_Bcast(&line_, sizeof line_, MPI_BYTE, 0, sharers_);
}

}  // namespace rubato
