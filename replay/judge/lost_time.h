#pragma once

#include <optional>

#include "replay/judge/roles.h"

namespace rubato {

/// Why a run takes longer than the mean compute of its ranks: seconds of elapsed time that add up.
/// With c the compute of each rank, T the elapsed time of Roles::judged and T_p that on a perfect
/// interconnect,
///
///     T = mean c + (max c - mean c) + (T_p - max c) + (T - T_p)
///
/// The second term is load imbalance. The third consists of the own work of MPI calls, as far as it
/// makes a rank with compute longer than max c, of kept calls, of ranks that begin or end
/// at different times (both of the mean rank, as far as the term reaches), and of dependency
/// chains. The fourth consists of tracing between calls, of waits of the mean rank for late
/// receivers beyond those of `perfect`, and of messages. Each is at most what the run would gain
/// without it; changes interact, so a replay of the change tells more.
struct LostTime {
  double elapsed = 0;  ///< of Roles::judged
  double imbalance = 0;
  double own_work = 0;
  double kept = 0;
  double apart = 0;
  double chains = 0;
  double tracing = 0;
  double late_receivers = 0;
  double messages = 0;
  /// Descheduled ranks: `measured` without it takes `elapsed`.
  double lost_cores = 0;
  /// Ranks lacked cores (lost_cores.h): the fourth term is not known, and is left at 0.
  bool network_unknown = false;
};

/// None without judged_efficiency().
std::optional<LostTime> lost_time(const Roles& roles);

}  // namespace rubato
