#pragma once

#include <functional>

/// What a measurement used.
struct Cost {
  double seconds = 0;    ///< of the processor, processes that it waited for included
  double megabytes = 0;  ///< at most
};

/// What `work` costs in a process of its own. Ends the program, with a word, when that fails.
Cost cost_of(const std::function<void()>& work);

/// The cheapest of three, as others use the machine too.
Cost best_of_three(const std::function<void()>& work);

/// Processor seconds of this process so far.
double cpu_now();
