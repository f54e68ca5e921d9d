#pragma once

// Lays the operations of one timeline in two runs side by side, as diff(1) does with lines, in one
// pass and with a window of kWindow operations of each run in memory.
//
// While both do the same, they are paired one by one. Where they do not, the nearest place is
// looked for (least number of operations passed over in both) from which on kSure operations are
// the same again; if there is none in the window, the same is tried with names of calls alone, as
// where two runs differ in sizes throughout. What is passed over is paired as long as names are
// equal, the rest is of one run only. Without such a place, all of both windows is passed over.

#include <cstddef>
#include <deque>
#include <functional>

#include "replay/observe/operations.h"

namespace rubato {

/// One step of an alignment; one of the two may be null. `same`: both do the same, else only the
/// names of their calls are equal.
struct AlignedStep {
  const Operation* predicted = nullptr;
  const Operation* measured = nullptr;
  bool same = false;
};

/// Gives all steps to `visit`, in order.
void align(OperationReader& predicted, OperationReader& measured,
           const std::function<void(const AlignedStep&)>& visit);

}  // namespace rubato
