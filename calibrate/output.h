#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/characterise.h"
#include "models/fit/load_fit.h"

namespace rubato {

/// All samples: one line per level, pattern and length; share/doc/calibrating.md explains the
/// columns. `launch` numbers the start of the calibrator; `measured` follows as comments.
std::string samples_csv(const std::vector<LevelResult>& results, int launch,
                        const Provenance& measured);

/// The short table for people.
void print_summary(std::FILE* out, const std::vector<LevelResult>& results);

/// Adds to [measured] the degradation ratio of each level with several measured pairs, and the
/// noise of the worst rank. Returns the contention of note_load().
std::string note_machine(Provenance& measured, const std::vector<LevelResult>& results,
                         const std::vector<NoiseSummary>& noise);

/// Prints that, and a table of copies.
void print_machine(std::FILE* out, const Provenance& measured,
                   const std::vector<LevelResult>& results);

}  // namespace rubato
