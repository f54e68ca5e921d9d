#pragma once

#include <functional>

/// The resources used by a measurement.
struct Cost {
  double seconds = 0;    ///< of the processor, processes that it waited for included
  double megabytes = 0;  ///< at most
};

/// The cost of `work` in a separate process. Ends the program with a message on failure.
Cost cost_of(const std::function<void()>& work);

/// The cheapest of three, as others use the machine too.
Cost best_of_three(const std::function<void()>& work);

/// Processor seconds of this process so far.
double cpu_now();
