#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/cost/platform.h"

namespace rubato {

/// How long a message took while so many were on the way at once.
struct LoadedTime {
  int live = 1;  ///< messages at once on the node, this one included
  double bytes = 0;
  double seconds = 0;  ///< one way
};

/// The degradation ratio DR of MPInside (Thomas, Panziera and Baron, "MPInside: a Performance
/// Analysis and Diagnostic Tool for MPI Applications", section 4.3):
///
///   T = L + size / B(size) * LR * DR      LR: live requests, here messages
///
/// L is the time of the shortest message alone, and size / B(size) what a single one takes more
/// than that. 1 / LR would be no degradation at all, 1 that they share one path.
struct Degradation {
  double ratio = 1;
  int values = 0;    ///< lengths and numbers of messages that it is the mean of
  double error = 0;  ///< standard error of that mean; 0 for a single value
  int least_live = 2, most_live = 2;
};

/// Fits DR to the messages of at least `least_bytes` (below that latency hides it), with two or
/// more at once. None where no length was measured both alone and with others.
std::optional<Degradation> fit_degradation(const std::vector<LoadedTime>& times,
                                           double least_bytes = 65536);

/// How many pairs talk at once in a series of a file of samples: 4 in "pairs_4". None of other
/// patterns.
std::optional<int> pairs_at_once(const std::string& pattern);

/// Fits the degradation ratio of each level and puts it under [measured], as network_degradation =
/// "0.71 +- 0.02 (2 to 4 pairs at once)". Returns a [contention] with that of the most distant
/// level for a platform file, as comments: contention costs the replay more, so nobody gets it
/// unasked. Where the platform tells sockets from nodes (`tells_sockets`), what was measured
/// between two sockets is written for all messages of a node.
/// "" where nothing was measured, or more ranks talked at once on a node than `cores` under
/// [measured]: that says how ranks share cores, and nothing about messages.
std::string note_load(Provenance& measured, const std::map<Level, std::vector<LoadedTime>>& times,
                      bool tells_sockets);

/// What a fixed amount of work took, again and again (the Fixed Work Quantum benchmark of Sottile
/// and Minnich, 2004): disturbances by the system show as longer ones.
struct NoiseSummary {
  double least = 0, mean = 0, most = 0;  ///< seconds
  double lost = 0;                       ///< share of the time beyond the least: 1 - least / mean
};

NoiseSummary summarise_noise(const std::vector<double>& quanta);

}  // namespace rubato
