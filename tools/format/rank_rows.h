#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/format/text_table.h"

namespace rubato {

/// Tables of more ranks are folded, except with --all.
inline constexpr size_t kRanksShown = 16;

/// Adds the rows "minimum", "median", "maximum" and "mean", computed for each column separately
/// (values by rank, at least one).
void add_folded_rows(TextTable& table, const std::vector<std::vector<double>>& columns,
                     const std::function<std::string(double)>& show);

}  // namespace rubato
