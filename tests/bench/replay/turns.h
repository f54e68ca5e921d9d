#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cost.h"

/// Interleaved measurements for comparison, because machines with other users change their speed
/// within seconds. The cheapest of each counts. Rounds are repeated until five in a row found
/// nothing cheaper, at most sixteen times; long measurements take part only in the first.
class Turns {
 public:
  /// Fewer rounds, each measurement's least still being of several (rubato-bench --quick).
  static void be_quick();

  /// From now on `best` is what `work` costs, in a process of its own.
  void add(Cost& best, std::function<void()> work);
  /// The same for work that measures itself.
  void add_told(Cost& best, std::function<Cost()> measure);

  void run();

 private:
  struct Turn {
    Cost* best;
    std::function<Cost()> measure;
    double seconds = 0;  ///< of all its rounds so far
  };
  std::vector<Turn> turns_;
};
