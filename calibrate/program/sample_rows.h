#pragma once

#include <string>

#include "calibrate/measure/characterise.h"
#include "calibrate/measure/collectives.h"
#include "models/platform/platform.h"

namespace rubato {

// The text of a file of samples; share/doc/calibrating.md explains the columns. `launch` numbers
// the start of the calibrator.

/// The names of the columns. Each such line starts a new launch.
std::string sample_header();

/// A row per pattern and length, and the lengths between which sends begin to wait.
std::string rows_of(const LevelSeries& measured, int launch);

/// A row per operation, number of processes and payload, and the payloads from which on members
/// synchronise with each other.
std::string rows_of(const CollectiveResults& results, int launch);

/// The names of the columns of a file of single observations.
std::string raw_header();

/// A row per loop; `start`: the clock of now() at the begin of the launch.
std::string raw_rows_of(const LevelSeries& measured, int launch, double start);

/// A row per call that counts.
std::string raw_rows_of(const CollectiveResults& results, int launch, double start);

/// A comment line per entry of [measured].
std::string comments_of(const Provenance& measured);

}  // namespace rubato
