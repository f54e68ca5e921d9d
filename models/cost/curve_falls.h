#pragma once

#include <string>
#include <vector>

#include "models/cost/platform.h"

namespace rubato {

/// A size from which on longer messages are faster than shorter ones.
struct CurveFall {
  Level level = Level::kNode;
  std::string curve;  ///< the key in platform files: "transfer" (with the overheads), or a gap
  double bytes = 0;
  double before = 0, after = 0;  ///< seconds, just below that size and at it
  int others = 0;                ///< further sizes at which the same curve falls

  /// "level.node: a message takes 1us below 4KiB, and 500ns from there on, and falls so at
  /// 2 other sizes"
  std::string text() const;
};

/// The deepest fall of each curve of a platform, by what messages take one way (o_s + T + o_r) and
/// by the gaps; the parts of the former may each fall where another one rises. Libraries change
/// their protocols, so times may fall there; but a fall within the error of both sides (their
/// uncertainties together, or 5 % where they state none) is none. Nor is one of up to half on a
/// platform that was measured: its lengths were measured at other moments, and what such a fall
/// says of the machine nobody can mend.
std::vector<CurveFall> curve_falls(const Platform& platform);

}  // namespace rubato
