#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/observe/wait_places.h"

namespace rubato {

/// A place in the program, in names.
struct NamedPlace {
  Place::Kind kind = Place::Kind::kUnknown;
  std::string call;            ///< "": none
  std::string function;        ///< "": none on record
  std::string function_place;  ///< "solve (app.c:12)"
  std::string site;            ///< of the call: "app.c:41", without directories; "": not on record
};

/// POP's efficiencies of one function, without the functions that it calls: what its ranks do
/// between its own MPI calls, and in these. Seconds by rank, all threads together.
struct FunctionEfficiency {
  std::string name;                         ///< "": what is in no function on record
  std::string place;                        ///< "solve (app.c:41)"
  std::vector<double> compute, mpi, waits;  ///< waits: a part of `mpi`

  double sum_of(const std::vector<double>& values) const;
  /// Of compute: mean by most; 1 where there is none.
  double load_balance() const;
  /// Compute, waits, and the rest of MPI, by compute and MPI together; 0 where there is neither.
  double compute_share() const;
  double wait_share() const;
  double transfer_share() const;

 private:
  double share(double seconds) const;
};

/// Where ranks wait, and where those are that they wait for, of one scenario: WaitPlaces in seconds
/// and names.
struct PlaceSummary {
  struct Wait {
    int rank = 0;
    size_t place = 0;          ///< index into `places`
    std::string communicator;  ///< or window
    uint64_t count = 0;
    double seconds = 0;
  };
  struct Delay {
    int rank = 0;        ///< that causes it
    size_t place = 0;    ///< where it is
    size_t waiting = 0;  ///< where others wait: index into `places`
    double seconds = 0;
  };

  std::vector<NamedPlace> places;
  std::vector<Wait> waits;
  std::vector<Delay> delays;
  bool knows_functions = false, knows_sites = false;
  std::vector<FunctionEfficiency> functions;  ///< with compute or MPI, most of it first
};

/// Once the replay is over.
PlaceSummary place_summary(const WaitPlaces& seen, const EventSource& source);

/// Waits at one place on one communicator, of all ranks.
struct WaitAtPlace {
  size_t place = 0;
  std::string communicator;
  uint64_t count = 0;
  double seconds = 0;
  // The rank and place that causes most of what ranks wait there, whatever the communicator; -1:
  // nobody.
  int rank = -1;
  size_t cause = 0;
  double caused = 0;  ///< seconds
  double all = 0;     ///< that anybody causes there
};
/// The longest first.
std::vector<WaitAtPlace> waits_by_place(const PlaceSummary& summary);

/// What one rank at one place makes all ranks wait.
struct DelayAtPlace {
  int rank = 0;
  size_t place = 0;
  double seconds = 0;
  size_t waiting = 0;  ///< where most of it is waited
  double most = 0;     ///< seconds
};
/// The longest first.
std::vector<DelayAtPlace> delays_by_place(const PlaceSummary& summary);

}  // namespace rubato
