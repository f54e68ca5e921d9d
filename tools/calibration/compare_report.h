#pragma once

#include <string>

#include "models/statistics/comparison.h"

namespace rubato {

/// Two sample files and their comparison.
struct ComparedFiles {
  std::string a, b;    ///< as named on the command line
  std::string column;  ///< the compared times: "seconds_min"
  Comparison comparison;
  int by_least = 0;  ///< number of cells compared by seconds_min because a launch lacks their
                     ///< median
};

/// One sentence per entry: how many cells differ in which direction, the largest difference, the
/// compared files, and limitations.
std::vector<std::string> comparison_notes(const ComparedFiles& files);

/// The notes; with `all` also a table per operation.
std::string comparison_text(const ComparedFiles& files, bool all, int page_width);

/// share/doc/calibrating.md explains the formats.
std::string comparison_csv(const ComparedFiles& files);
std::string comparison_json(const ComparedFiles& files);

/// An HTML page with charts; see fill_page().
std::string comparison_html(const ComparedFiles& files);

}  // namespace rubato
