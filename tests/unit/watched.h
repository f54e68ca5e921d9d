// Replays with the observers of waits and of the critical path.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/critical_path.h"
#include "replay/observe/wait_causes.h"
#include "replay/study/run_replay.h"
#include "tests/unit/toy.h"

namespace rubato {

/// One scenario of a text trace, replayed.
struct Watched {
  std::unique_ptr<EventSource> source;
  std::unique_ptr<WaitCauses> causes;
  PathSums path;
  std::vector<PathPiece> pieces;  // the last first
  ScenarioResult result;

  /// "MPI_Recv wrong order" of a rank, in ns; -1: no such wait.
  double wait(int rank, const std::string& call, const std::string& pattern) const {
    for (const auto& [key, sum] : causes->waits()) {
      if (key.rank == rank && source->definitions().calls[key.call].name == call &&
          kWaitPatternNames[static_cast<int>(key.pattern)] == pattern)
        return sum.ticks;
    }
    return -1;
  }
  double crossing(const std::string& call) const { return part(path.crossings, call); }
  double in_call(const std::string& call) const { return part(path.calls, call); }

 private:
  double part(const std::map<uint16_t, double>& parts, const std::string& call) const {
    for (const auto& [name, ticks] : parts) {
      if (source->definitions().calls[name].name == call) return ticks;
    }
    return 0;
  }
};

inline Watched watch(const std::string& text, const Scenario& scenario) {
  Watched watched;
  watched.source = parse_text_trace(text);
  watched.causes = std::make_unique<WaitCauses>(watched.source->definitions());
  CriticalPath path(watched.source->definitions());
  ReplayOptions options;
  options.wait_states = true;
  options.observers = {watched.causes.get(), &path};
  watched.result = run_replay(*watched.source, {scenario}, options).scenarios[0];
  REQUIRE(watched.result.deadlock.empty());
  watched.path = path.find([&](const PathPiece& piece) { watched.pieces.push_back(piece); });
  return watched;
}

inline const Scenario kPerfect = parse_scenario("perfect");

/// All parts of a path, ticks.
inline double sum_of(const PathSums& sums) {
  double all = sums.late_start + std::accumulate(sums.compute.begin(), sums.compute.end(), 0.0);
  for (const auto& [call, ticks] : sums.calls) all += ticks;
  for (const auto& [call, ticks] : sums.crossings) all += ticks;
  return all;
}

}  // namespace rubato
