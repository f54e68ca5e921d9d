#include "tools/format/rank_rows.h"

#include <algorithm>
#include <numeric>

namespace rubato {

void add_folded_rows(TextTable& table, const std::vector<std::vector<double>>& columns,
                     const std::function<std::string(double)>& show) {
  using Values = std::vector<double>;
  std::vector<Values> sorted = columns;
  for (Values& values : sorted) std::sort(values.begin(), values.end());
  const auto add = [&](const char* name, const std::function<double(const Values&)>& pick) {
    std::vector<std::string> row = {name};
    for (const Values& values : sorted) row.push_back(show(pick(values)));
    table.add_row(std::move(row));
  };
  add("minimum", [](const Values& values) { return values.front(); });
  add("median", [](const Values& values) {
    return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  });
  add("maximum", [](const Values& values) { return values.back(); });
  add("mean", [](const Values& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  });
}

}  // namespace rubato
