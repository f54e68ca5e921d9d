#include "tools/calibration/compare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/csv_text.h"
#include "tools/format/json_text.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/report/report_html.h"
#include "tools/version.h"

namespace rubato {
namespace {

using json_text::dump;

constexpr int kCompareFormat = 1;
constexpr double kLevel = 0.05;  // of significance, as ReproMPI uses it

std::string show_p(double p) {
  return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p);
}

std::string plural(int count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : (word[0] == 'l' ? "es" : "s"));
}

/// The number of cells in which each side is faster, and the median ratio of all cells.
std::string verdict(const Comparison& comparison) {
  int slower = 0, faster = 0;
  std::vector<double> ratios;
  for (const CellComparison& cell : comparison.cells) {
    ratios.push_back(cell.ratio());
    if (cell.least_p > kLevel || cell.test.two_sided > kLevel) continue;
    ++(cell.ratio() > 1 ? slower : faster);
  }
  const int tested = static_cast<int>(ratios.size()) - comparison.with_too_few(kLevel);
  const auto middle = ratios.begin() + static_cast<long>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return fmt::format(
      "B is faster in {} and slower in {} of {} cells, at significance level 0.05 (1 in 20 cells "
      "differs between identical machines). The median B / A is {:.3f}.",
      faster, slower, tested, *middle);
}

/// The largest significant difference; empty if there is none.
std::string largest_difference(const Comparison& comparison) {
  const CellComparison* most = nullptr;
  const auto size = [](const CellComparison& cell) { return std::abs(std::log(cell.ratio())); };
  for (const CellComparison& cell : comparison.cells) {
    if (cell.least_p > kLevel || cell.test.two_sided > kLevel) continue;
    if (!most || size(cell) > size(*most)) most = &cell;
  }
  if (!most) return "";
  const TimeUnit unit = common_unit({most->median_a, most->median_b});
  return fmt::format("Largest difference: {}, {}: A {} {}, B {} {}, B / A {:.3f}, p {}.",
                     most->operation, show_bytes(most->bytes), unit.show(most->median_a), unit.name,
                     unit.show(most->median_b), unit.name, most->ratio(),
                     show_p(most->test.two_sided));
}

/// The table of one operation, the cells [first, end).
std::string operation_table(const std::vector<CellComparison>& cells, size_t first, size_t end,
                            int page_width) {
  std::vector<double> times;
  for (size_t i = first; i < end; ++i) {
    times.push_back(cells[i].median_a);
    times.push_back(cells[i].median_b);
  }
  const TimeUnit unit = common_unit(times);
  Table table;
  for (size_t i = first; i < end; ++i) {
    const CellComparison& cell = cells[i];
    table.add({{cell.operation, show_bytes(cell.bytes)},
               {fmt::format("A ({})", unit.name), unit.show(cell.median_a)},
               {fmt::format("B ({})", unit.name), unit.show(cell.median_b)},
               {"B / A", fmt::format("{:.3f}", cell.ratio())},
               {"p", show_p(cell.test.two_sided)},
               {"Differ", cell.least_p > kLevel ? "-" : asterisks(cell.test.two_sided)},
               {"A faster", asterisks(cell.test.less)},
               {"B faster", asterisks(cell.test.greater)},
               {"p (t)", cell.a.size() < 2 || cell.b.size() < 2 ? "-" : show_p(cell.welch_p)}});
  }
  return table.text(page_width);
}

Json comparison_data(const ComparedFiles& files) {
  const Comparison& comparison = files.comparison;
  Json cells = Json::array();
  for (const CellComparison& cell : comparison.cells) {
    cells.push_back({{"operation", cell.operation},
                     {"bytes", cell.bytes},
                     {"a", cell.a},
                     {"b", cell.b},
                     {"median_a", cell.median_a},
                     {"median_b", cell.median_b},
                     {"u", cell.test.u},
                     {"exact", cell.test.exact},
                     {"least_p", cell.least_p},
                     {"p_two_sided", cell.test.two_sided},
                     {"p_a_faster", cell.test.less},
                     {"p_b_faster", cell.test.greater},
                     {"p_welch", cell.welch_p}});
  }
  return {{"format", kCompareFormat},
          {"rubato", kVersion},
          {"a", files.a},
          {"b", files.b},
          {"time", files.column},
          {"compared_by_min", files.by_least},
          {"launches_a", comparison.launches_a},
          {"launches_b", comparison.launches_b},
          {"only_in_a", comparison.only_in_a},
          {"only_in_b", comparison.only_in_b},
          {"differing", comparison.differing(kLevel)},
          {"with_too_few_launches", comparison.with_too_few(kLevel)},
          {"cells", std::move(cells)}};
}

}  // namespace

std::vector<std::string> comparison_notes(const ComparedFiles& files) {
  const Comparison& comparison = files.comparison;
  const int cells = static_cast<int>(comparison.cells.size());
  const int too_few = comparison.with_too_few(kLevel);
  std::vector<std::string> notes;
  if (too_few < cells) notes.push_back(verdict(comparison));
  if (const std::string most = largest_difference(comparison); !most.empty()) notes.push_back(most);
  notes.push_back(fmt::format(
      "A is {}, {}; B is {}, {}. Medians over launches of {}, Wilcoxon's rank-sum test.", files.a,
      plural(comparison.launches_a, "launch"), files.b, plural(comparison.launches_b, "launch"),
      files.column));
  if (files.by_least > 0) {
    notes.push_back(fmt::format(
        "{} of {} cells are compared by seconds_min because a launch lacks their median.",
        files.by_least, cells));
  }
  if (too_few > 0) {
    const auto few = std::find_if(comparison.cells.begin(), comparison.cells.end(),
                                  [](const CellComparison& cell) { return cell.least_p > kLevel; });
    notes.push_back(fmt::format(
        "{} too few launches for a two-sided test: the smallest possible p of {} against {} is "
        "{:.2f}. Four launches on each side suffice, ten or more are recommended.",
        too_few == cells ? "All cells have"
        : too_few == 1   ? "1 further cell (-) has"
                         : fmt::format("{} further cells (-) have", too_few),
        few->a.size(), few->b.size(), few->least_p));
  }
  if (comparison.only_in_a + comparison.only_in_b > 0) {
    notes.push_back(fmt::format("Left out: {} only in A, {} only in B.",
                                plural(comparison.only_in_a, "cell"),
                                plural(comparison.only_in_b, "cell")));
  }
  return notes;
}

std::string comparison_text(const ComparedFiles& files, bool all, int page_width) {
  std::string text;
  for (const std::string& note : comparison_notes(files)) text += wrap(note, page_width, 2);
  if (!all) return text + "For all cells: --all, --csv, --html.\n";
  const std::vector<CellComparison>& cells = files.comparison.cells;
  for (size_t first = 0; first < cells.size();) {
    size_t end = first;
    while (end < cells.size() && cells[end].operation == cells[first].operation) ++end;
    text += '\n' + operation_table(cells, first, end, page_width);
    first = end;
  }
  text += "\n*** p <= 0.001, ** p <= 0.01, * p <= 0.05";
  return text + (files.comparison.with_too_few(kLevel) ? ", - too few launches\n" : "\n");
}

std::string comparison_csv(const ComparedFiles& files) {
  std::string text =
      "operation,bytes,launches_a,launches_b,median_a,median_b,ratio,u,p_two_sided,p_a_faster,"
      "p_b_faster,significance,p_welch\n";
  for (const CellComparison& cell : files.comparison.cells) {
    text += fmt::format("{},{:.15g},{},{},{:.6g},{:.6g},{:.6g},{},{:.6g},{:.6g},{:.6g},{},{:.6g}\n",
                        csv_text(cell.operation), cell.bytes, cell.a.size(), cell.b.size(),
                        cell.median_a, cell.median_b, cell.ratio(), cell.test.u,
                        cell.test.two_sided, cell.test.less, cell.test.greater,
                        asterisks(cell.test.two_sided), cell.welch_p);
  }
  return text;
}

std::string comparison_json(const ComparedFiles& files) {
  return dump(comparison_data(files), 1) + "\n";
}

std::string comparison_html(const ComparedFiles& files) {
  Json data = comparison_data(files);
  data["notes"] = comparison_notes(files);
  return fill_page("compare.html", {"compare.js"},
                   fmt::format("Rubato: {} and {}", files.a, files.b), dump(data, -1));
}

}  // namespace rubato
