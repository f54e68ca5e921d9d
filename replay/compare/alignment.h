#pragma once

// Aligns the operations of one timeline in two runs, as diff(1) aligns lines, in one pass and with
// a window of kWindow operations of each run in memory.
//
// Equal operations are paired one by one. At a difference, the search is for the nearest place (the
// fewest operations skipped in both runs) from which kSure operations are equal again. If the
// window has none, the search compares names of calls alone, for runs whose sizes differ
// throughout. Skipped operations are paired as long as their names are equal; the rest belongs to
// one run only. Without such a place, both windows are skipped.

#include <cstddef>
#include <deque>
#include <functional>

#include "replay/compare/operations.h"

namespace rubato {

/// One step of an alignment; one of the two may be null. `same`: the operations are equal, else
/// only the names of their calls.
struct AlignedStep {
  const Operation* before = nullptr;
  const Operation* after = nullptr;
  bool same = false;
};

/// Passes all steps to `visit`, in order.
void align(OperationReader& before, OperationReader& after,
           const std::function<void(const AlignedStep&)>& visit);

}  // namespace rubato
