#pragma once

#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// A size at which the time of messages falls: longer ones are faster than shorter ones.
struct CurveFall {
  Level level = Level::kNode;
  std::string curve;      ///< the key in platform files; "transfer" is with the overheads
  const char* what = "";  ///< "a message takes "
  double bytes = 0;
  double before = 0, after = 0;  ///< seconds, just below that size and at it
  int others = 0;                ///< further sizes at which the same curve falls

  /// "level.node: a message takes 1us below 4KiB, and 500ns from there on, and falls so at
  /// 2 other sizes"
  std::string text() const;
};

/// The deepest fall of each curve of a platform: of the one-way time (o_s + T + o_r, whose parts
/// may fall while another part rises) and of the gaps. Times may fall where libraries change their
/// protocols. Falls within the error of both sides (the sum of their uncertainties, or 5 % where
/// they state none) are not listed. Nor are falls of up to half on a measured platform, of half
/// the one-way time for gaps, which are differences of such times: its lengths were measured at
/// different moments, and the user can do nothing about such a fall.
std::vector<CurveFall> curve_falls(const Platform& platform);

}  // namespace rubato
