// A drift-corrected global clock (Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking Is Still
// Not As Easy As You Think", 2016, section 3.1.1, and "Hierarchical Clock Synchronization in MPI",
// 2018). Two clocks are compared by messages: one side takes a stamp and sends a request, the other
// answers with its time, the first side takes another stamp. The fastest of some exchanges counts;
// the true offset lies between its two stamps, most likely in the middle. That is one point.
// Several points, over a time long enough to show the drift, give a line by least squares.
//
// ClockMethod says which ranks are paired; HCA3 is the default. Pairs of a round of a tree are
// measured side by side.
//
// Ranks of a node read one clock; one of them measures and sends the result to the others.
#include "calibrate/clock/global_clock.h"

#include <unistd.h>

#include <exception>
#include <vector>

namespace rubato {
namespace {

constexpr int kTag = 0;

}  // namespace

ClockPoint ask_clock(MPI_Comm comm, int peer, const ClockSource& own) {
  ClockPoint point;
  double fastest = 0;
  for (int i = 0; i < kClockExchanges; ++i) {
    char question = 0;
    double theirs = 0;
    const double before = own();
    MPI_Send(&question, 1, MPI_CHAR, peer, kTag, comm);
    MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, kTag, comm, MPI_STATUS_IGNORE);
    const double after = own();
    if (i > 0 && after - before >= fastest) continue;
    fastest = after - before;
    point.own = before + fastest / 2;
    point.offset = theirs - point.own;
  }
  return point;
}

void answer_clock(MPI_Comm comm, int peer, const ClockSource& time) {
  for (int i = 0; i < kClockExchanges; ++i) {
    char question = 0;
    MPI_Recv(&question, 1, MPI_CHAR, peer, kTag, comm, MPI_STATUS_IGNORE);
    const double answer = time();
    MPI_Send(&answer, 1, MPI_DOUBLE, peer, kTag, comm);
  }
}

GlobalClock::GlobalClock(MPI_Comm comm, ClockMethod method, ClockSource source, bool per_rank)
    : method_(method), source_(std::move(source)) {
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
    if (method == ClockMethod::kHca3) top_down(kClockPoints);
    if (method == ClockMethod::kHca || method == ClockMethod::kHca2) bottom_up();
    if (by_root()) with_root(method == ClockMethod::kJk ? kClockPoints : 1);
  }
  share();
}

GlobalClock::~GlobalClock() {
  // MPI_Comm_free is collective; a rank that ends by an exception does not call it.
  if (std::uncaught_exceptions() > 0) return;
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
  if (sharers_ != MPI_COMM_NULL) MPI_Comm_free(&sharers_);
}

/// The line over the clock that `peer` answers with. One point gives the offset alone.
LinearClock GlobalClock::learn(int peer, int points) const {
  std::vector<ClockPoint> learnt;
  for (int i = 0; i < points; ++i) {
    if (i > 0) usleep(static_cast<useconds_t>(1e6 * kClockPointEvery));
    learnt.push_back(ask_clock(leaders_, peer, source_));
  }
  return points == 1 ? line_.through(learnt[0]) : fit_clock(learnt);
}

/// All with rank 0, in turn.
void GlobalClock::with_root(int points) {
  if (place_ > 0) line_ = learn(0, points);
  for (int i = 0; place_ == 0 && i < points; ++i) {
    for (int other = 1; other < clocks_; ++other) answer_clock(leaders_, other, source_);
  }
}

/// From the leaves up, then the lines from the root down: the rounds backwards.
void GlobalClock::bottom_up() {
  int bit = 1;
  for (; bit < clocks_ && (place_ & bit) == 0; bit <<= 1) {
    for (int i = 0; place_ + bit < clocks_ && i < kClockPoints; ++i)
      answer_clock(leaders_, place_ + bit, source_);
  }
  if (place_ > 0) {
    const LinearClock own_over_parent = learn(place_ - bit, kClockPoints);
    LinearClock parent;
    MPI_Recv(&parent, sizeof parent, MPI_BYTE, place_ - bit, kTag, leaders_, MPI_STATUS_IGNORE);
    line_ = over_parent(own_over_parent, parent);
  }
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place_ + bit < clocks_)
      MPI_Send(&line_, sizeof line_, MPI_BYTE, place_ + bit, kTag, leaders_);
  }
}

void GlobalClock::top_down(int points) {
  int bit = 1;
  while (bit < clocks_ && (place_ & bit) == 0) bit <<= 1;
  if (place_ > 0) line_ = learn(place_ - bit, points);
  for (bit >>= 1; bit > 0; bit >>= 1) {
    for (int i = 0; place_ + bit < clocks_ && i < points; ++i)
      answer_clock(leaders_, place_ + bit, [this] { return global(now()); });
  }
}

void GlobalClock::adjust() {
  if (one_clock()) return;
  if (leader_) by_root() ? with_root(1) : top_down(1);
  share();
}

void GlobalClock::share() {
  MPI_Bcast(&line_, sizeof line_, MPI_BYTE, 0, sharers_);
}

}  // namespace rubato
