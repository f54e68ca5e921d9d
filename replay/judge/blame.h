#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// The function in which a rank computes longer than the mean rank.
struct Blame {
  std::string function;              ///< its place: "burn (app.c:12)"
  std::vector<std::string> callers;  ///< their places, the outermost first; "...": on several paths
  double excess = 0;                 ///< seconds beyond the mean rank, with callees

  std::string call_path() const;  ///< "main (app.c:40) > assemble (app.c:23) > burn (app.c:12)"
};

/// The deepest function whose inclusive time exceeds the mean by more than half of `excess`, the
/// seconds that `rank` computes beyond the mean: from the outermost function down, on each level to
/// the callee with the largest excess.
///
///   excess 100:  main 100 > assemble 90 > burn 85      burn, called by assemble, also if others
///                         > solve    10 > burn 10      call burn equally often on all ranks
///
/// If this ends in a function whose excess is in several callees, a function that accounts for more
/// than half of `excess` over all its paths is blamed instead. None if there is no such function,
/// and the descent ends in the outermost one, which says nothing.
std::optional<Blame> blame(const Results& results, int rank, double excess);

}  // namespace rubato
