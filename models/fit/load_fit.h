#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// Time of a message with `live` messages under way.
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
/// L is the time of the shortest message alone, size / B(size) the additional time of a single
/// message. DR = 1 / LR means no degradation, DR = 1 that messages share one path.
struct FittedDegradation {
  double ratio = 1;
  int values = 0;    ///< lengths and numbers of messages that it is the mean of
  double error = 0;  ///< standard error of that mean; 0 for a single value
  int least_live = 2, most_live = 2;
};

/// Fits DR to the messages of at least `least_bytes` (latency dominates shorter ones), with two or
/// more at once. None if no length was measured both alone and with others.
std::optional<FittedDegradation> fit_degradation(const std::vector<LoadedTime>& times,
                                                 double least_bytes = 65536);

/// Number of concurrent pairs of a series in a file of samples: 4 for "pairs_4". None for other
/// patterns.
std::optional<int> pairs_at_once(const std::string& pattern);

/// Fits the degradation ratio of each level and puts it under [measured], as network_degradation =
/// "0.71 +- 0.02 (2 to 4 pairs at once)". Returns a commented [contention] with the ratio of the
/// most distant level: replays with contention are slower, so it is not the default. If the
/// platform has a level socket (`tells_sockets`), the ratio between two sockets is written for all
/// messages of a node. "" if nothing was measured, or if more ranks of a node than `cores` under
/// [measured] communicated at once: the ratio then shows how ranks share cores.
std::string note_load(Provenance& measured, const std::map<Level, std::vector<LoadedTime>>& times,
                      bool tells_sockets);

}  // namespace rubato
