#pragma once

#include <string>

#include "models/statistics/comparison.h"

namespace rubato {

/// Two files of samples and their comparison.
struct ComparedFiles {
  std::string a, b;    ///< as named on the command line
  std::string column;  ///< whose times were compared: "seconds_min"
  Comparison comparison;
  int by_least = 0;  ///< cells compared by seconds_min, as some launch has no median of them
};

/// A sentence per entry: how many cells differ and which way, where most, what was compared, and
/// doubts.
std::vector<std::string> comparison_notes(const ComparedFiles& files);

/// The notes; with `all` then a table per operation.
std::string comparison_text(const ComparedFiles& files, bool all, int page_width);

/// share/doc/calibrating.md explains the formats.
std::string comparison_csv(const ComparedFiles& files);
std::string comparison_json(const ComparedFiles& files);

/// A page with charts; see fill_page().
std::string comparison_html(const ComparedFiles& files);

}  // namespace rubato
