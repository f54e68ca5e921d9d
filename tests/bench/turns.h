#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cost.h"

/// Measurements that are compared, and so take turns: machines that others use change their speed
/// within seconds. Of each the cheapest counts. There are rounds until five in a row found nothing
/// cheaper, but no more than sixteen; what takes many seconds is in the first of them only.
class Turns {
 public:
  /// Fewer rounds, each measurement's least still being of several (rubato-bench --quick).
  static void be_quick();

  /// From now on `best` is what `work` costs, in a process of its own.
  void add(Cost& best, std::function<void()> work);
  /// Likewise of something that finds out itself.
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
