#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost.h"
#include "turns.h"

/// A machine to replay on, with the requested number of scenarios, which differ only in one
/// parameter (a latency; on `perfect`, which has none, the processor speed).
struct Machine {
  std::string name;   ///< in tables
  std::string base;   ///< a scenario as `--on` takes it
  std::string first;  ///< changes that come before the number
};

/// Latency and bandwidth; a network from share/platforms; a calibrated file with all that
/// calibrated files may have (calibrated.toml).
Machine bandela();
Machine infiniband();
Machine calibrated();
/// calibrated() as if each rank had a node of its own: all messages on its network.
Machine calibrated_network();
Machine perfect();

/// Measurements of an archive besides bare reading and one scenario.
struct Wanted {
  bool load = true;         ///< reading without a replay
  bool sixteen = true;      ///< scenarios
  bool sixty_four = true;   ///< scenarios
  bool one_waits = true;    ///< one scenario with wait states
  bool many_waits = false;  ///< 16 and 64 with wait states
  bool engine = false;      ///< the replay alone, from decoded calls
};

/// Costs of the replays of one archive on one machine; 0 if not requested.
struct Figures {
  std::string name;
  uint64_t locations = 0;
  double calls = 0;  ///< of MPI; counted where they are not known before
  double records = 0;
  Cost bare{}, load{}, one{}, sixteen{}, sixty_four{};
  Cost one_waits{}, sixteen_waits{}, sixty_four_waits{};
  Cost engine{};  ///< seconds alone

  double times_bare() const { return one.seconds / bare.seconds; }
  double times_one(const Cost& cost) const { return cost.seconds / one.seconds; }
  /// The limit for one scenario.
  double megabytes_allowed() const { return 20 + static_cast<double>(locations) * 64 / 1024; }
};

/// Replays an archive in so many scenarios. Ends the program where one of them is a deadlock, or,
/// if asked, where messages are left over.
void replay(const std::string& archive, const Machine& machine, int scenarios,
            bool wait_states = false, bool all_match = false);

/// Has `turns` measure what is wanted; `figures` has to live as long.
void add(Turns& turns, Figures& figures, const std::string& archive, const Machine& machine,
         const Wanted& wanted);

/// The head of the table, and a row of it: seconds; ratios to bare (x) and to one scenario (16 x,
/// ...); of the engine alone Mcalls/s.
void print_head();
void print_row(const Figures& figures);
