#include "tracer/report/report_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "report_style.h"
#include "tools/version.h"
#include "tracer/base/report_line.h"
#include "tracer/report/report_tables.h"

namespace rubato {
inline namespace tracing {
namespace {

constexpr size_t kRanksFolded = 16;  ///< from here on a summary precedes the ranks
constexpr size_t kMostRanks = 1024;  ///< listed; the files have all
constexpr size_t kMostSites = 200;
constexpr size_t kMatrixOfNumbers = 16;  ///< ranks
constexpr size_t kMostCells = 64;        ///< of a picture, each way
constexpr size_t kMostPairs = 16;

std::string html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// One unit for the times of a table, so that cells compare.
struct TimeUnit {
  const char* name;
  double factor;
  std::string show(double seconds) const {
    if (seconds == 0) return "0";
    char text[48];
    std::snprintf(text, sizeof text, "%.*f", decimals, seconds * factor);
    return text;
  }
  int decimals = 3;
};
TimeUnit unit_for(double longest) {
  if (longest >= 100) return {"s", 1, 3};
  if (longest >= 1e-4) return {"ms", 1e3, 3};
  return {"µs", 1e6, 2};
}

constexpr TimeUnit kMicroseconds = {"µs", 1e6, 2};

double mean_of(const CallRow& row) {
  return row.timed > 0 ? row.time / static_cast<double>(row.timed) : 0;
}

std::string percent_of(double part, double whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

std::string count(double value) {
  return in_thousands(static_cast<uint64_t>(std::llround(value)));
}

std::string least_bytes(unsigned size_class) {
  return in_thousands(size_class == 0 ? 0 : uint64_t{1} << (size_class - 1));
}

/// Writes the elements of a table.
class Table {
 public:
  Table(std::string& out, const std::vector<std::string>& header, bool tall = false) : out_(out) {
    out_ += tall ? "<div class=\"table-box tall\" tabindex=\"0\">" : "<div class=\"table-box\">";
    out_ += "<table><thead><tr>";
    for (const std::string& cell : header) out_ += "<th scope=\"col\">" + html(cell) + "</th>";
    out_ += "</tr></thead><tbody>\n";
  }
  ~Table() { out_ += "</tbody></table></div>\n"; }
  void row(const std::vector<std::string>& cells, bool names_first = true) {
    out_ += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 && names_first)
        out_ += "<th scope=\"row\">" + html(cells[i]) + "</th>";
      else
        out_ += (cells[i] == "0" ? "<td class=\"zero\">" : "<td>") + html(cells[i]) + "</td>";
    }
    out_ += "</tr>\n";
  }

 private:
  std::string& out_;
};

std::string begin_section(const std::string& title, const std::string& explain = "") {
  std::string out = "<section><h2>" + html(title) + "</h2>\n";
  if (!explain.empty()) out += "<p class=\"explain\">" + html(explain) + "</p>\n";
  return out;
}

/// Least, median, largest and mean over the ranks.
void folded_rows(Table& table, const RankTable& numbers,
                 const std::function<std::string(double)>& show) {
  const char* const names[] = {"least", "median", "largest", "mean"};
  std::vector<std::vector<std::string>> rows;
  for (const char* name : names) rows.push_back({name});
  for (const RankColumn& column : numbers.columns) {
    std::vector<double> values = column.values;
    std::sort(values.begin(), values.end());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const double shown[] = {values.front(), values[values.size() / 2], values.back(),
                            sum / static_cast<double>(values.size())};
    for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(show(shown[i]));
  }
  for (const auto& row : rows) table.row(row);
}

/// The columns with the largest sums, and the sum of the others: a page has a width.
RankTable with_fewer_columns(RankTable table) {
  constexpr size_t kMost = 8;
  if (table.columns.size() <= kMost + 1) return table;
  const auto sum = [](const RankColumn& column) {
    return std::accumulate(column.values.begin(), column.values.end(), 0.0);
  };
  std::stable_sort(table.columns.begin() + (table.seconds ? 1 : 0), table.columns.end(),
                   [&](const RankColumn& a, const RankColumn& b) { return sum(a) > sum(b); });
  RankColumn others{std::to_string(table.columns.size() - kMost) + " others", {}};
  others.values.resize(table.columns[0].values.size());
  for (size_t i = kMost; i < table.columns.size(); ++i) {
    for (size_t rank = 0; rank < others.values.size(); ++rank)
      others.values[rank] += table.columns[i].values[rank];
  }
  table.columns.resize(kMost);
  table.columns.push_back(std::move(others));
  return table;
}

std::string rank_table(const RankTable& numbers, size_t ranks) {
  if (numbers.columns.empty()) return begin_section(numbers.title) + "<p>None.</p></section>\n";
  double longest = 0;
  for (const RankColumn& column : numbers.columns)
    longest = std::max(longest, *std::max_element(column.values.begin(), column.values.end()));
  const TimeUnit unit = unit_for(longest);
  const std::function<std::string(double)> show = [&](double value) {
    return numbers.seconds ? unit.show(value) : count(value);
  };
  std::string title = numbers.title + " by rank";
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  std::string out = begin_section(numbers.seconds ? title + ", " + unit.name : title);
  std::vector<std::string> header = {"rank"};
  for (const RankColumn& column : numbers.columns) header.push_back(column.name);
  if (ranks > kRanksFolded) {
    Table table(out, header);
    folded_rows(table, numbers, show);
  }
  const size_t listed = std::min(ranks, kMostRanks);
  {
    Table table(out, header, ranks > kRanksFolded);
    for (size_t rank = 0; rank < listed; ++rank) {
      std::vector<std::string> row = {std::to_string(rank)};
      for (const RankColumn& column : numbers.columns) row.push_back(show(column.values[rank]));
      table.row(row);
    }
  }
  if (listed < ranks)
    out += "<p class=\"explain\">" + numbers.file + " has all " +
           count(static_cast<double>(ranks)) + " ranks.</p>\n";
  return out + "</section>\n";
}

std::string call_table(const JobReport& job, const std::vector<CallRow>& calls) {
  double longest = 0, whole = 0;
  for (const CallRow& row : calls) longest = std::max(longest, row.time), whole += row.time;
  for (const RankReport& rank : job.ranks) whole += rank.compute;
  const TimeUnit unit = unit_for(longest);
  std::string out =
      begin_section("Functions, all ranks",
                    "Time with a core; least and largest: of calls that had a core all the time.");
  {
    Table table(out, {"function", "calls", std::string("time, ") + unit.name, "of all time",
                      "least, µs", "mean, µs", "largest, µs", "bytes completed"});
    for (const CallRow& row : calls) {
      table.row({job.call_names[row.call], in_thousands(row.calls), unit.show(row.time),
                 percent_of(row.time, whole), kMicroseconds.show(row.least),
                 kMicroseconds.show(mean_of(row)), kMicroseconds.show(row.most),
                 in_thousands(row.bytes_completed)});
    }
  }
  return out + "</section>\n";
}

std::string wait_table(const JobReport& job, const std::vector<CallRow>& calls) {
  if (!job.waits_known) return "";
  double longest = 0;
  for (const CallRow& row : calls) {
    if (row.numbered > 0) longest = std::max(longest, row.time);
  }
  if (longest == 0) return "";
  const TimeUnit unit = unit_for(longest);
  std::string out = begin_section(
      std::string("Waits, all ranks, ") + unit.name,
      "Part of the time: for a late sender, for a late receiver, for other members of a "
      "collective.");
  {
    Table table(out, {"function", "time", "late sender", "late receiver", "collective", "waits"});
    for (const CallRow& row : calls) {
      if (!(row.numbered > 0)) continue;
      const SampledWaits& waits = row.waits;
      table.row({job.call_names[row.call], unit.show(row.time), unit.show(waits.late_sender),
                 unit.show(waits.late_receiver), unit.show(waits.collective),
                 percent_of(waits.late_sender + waits.late_receiver + waits.collective, row.time)});
    }
  }
  return out + "</section>\n";
}

std::string size_table(const JobReport& job, const std::vector<CallRow>& calls) {
  std::string out = begin_section("Sizes, all ranks",
                                  "From: least bytes of a class, which ends below twice that.");
  {
    Table table(out,
                {"function", "from, bytes", "sends", "bytes sent", "receives", "bytes received"});
    for (const CallRow& row : calls) {
      unsigned last = 0;
      for (const SizeRow& size : row.sizes) last = std::max(last, size.size_class + 1);
      for (unsigned at = 0; at < last; ++at) {
        SizeRow sent{}, received{};
        for (const SizeRow& size : row.sizes) {
          if (size.size_class == at) (size.sends ? sent : received) = size;
        }
        if (sent.count + received.count == 0) continue;
        table.row({job.call_names[row.call], least_bytes(at), in_thousands(sent.count),
                   in_thousands(sent.bytes), in_thousands(received.count),
                   in_thousands(received.bytes)});
      }
    }
  }
  return out + "</section>\n";
}

/// A matrix as numbers.
std::string number_matrix(const JobReport& job, const std::string& title,
                          uint64_t PairRow::*value) {
  const size_t ranks = job.ranks.size();
  std::string out = "<h3>" + title + "</h3>\n";
  std::vector<std::string> header = {"from \\ to"};
  for (size_t rank = 0; rank < ranks; ++rank) header.push_back(std::to_string(rank));
  Table table(out, header);
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::string> row(ranks + 1, "0");
    row[0] = std::to_string(rank);
    for (const PairRow& pair : job.ranks[rank].pairs) {
      if (static_cast<size_t>(pair.peer) < ranks)
        row[static_cast<size_t>(pair.peer) + 1] = in_thousands(pair.*value);
    }
    table.row(row);
  }
  return out;
}

/// A matrix as a picture: cells of several ranks, darker with more bytes, on a logarithmic scale.
std::string picture(const JobReport& job) {
  const size_t ranks = job.ranks.size();
  const size_t of_cell = (ranks + kMostCells - 1) / kMostCells;
  const size_t cells = (ranks + of_cell - 1) / of_cell;
  std::vector<double> sums(cells * cells);
  for (size_t rank = 0; rank < ranks; ++rank) {
    for (const PairRow& pair : job.ranks[rank].pairs) {
      const auto peer = static_cast<size_t>(pair.peer);
      if (peer < ranks)
        sums[rank / of_cell * cells + peer / of_cell] += static_cast<double>(pair.sent_bytes);
    }
  }
  const double most = *std::max_element(sums.begin(), sums.end());
  const std::string side = std::to_string(cells * 8);
  std::string out = "<svg role=\"img\" aria-label=\"Bytes between ranks\" viewBox=\"0 0 " + side +
                    " " + side +
                    "\" style=\"max-width:36rem;width:100%;border:1px solid "
                    "var(--line)\">\n";
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    const size_t row = i / cells, column = i % cells;
    char cell[256];
    std::snprintf(cell, sizeof cell,
                  "<rect x=\"%zu\" y=\"%zu\" width=\"8\" height=\"8\" fill=\"var(--accent)\" "
                  "opacity=\"%.2f\"><title>%zu to %zu: %.3g B</title></rect>\n",
                  column * 8, row * 8,
                  most > 1 ? 0.15 + 0.85 * std::log1p(sums[i]) / std::log1p(most) : 1.0,
                  row * of_cell, column * of_cell, sums[i]);
    out += cell;
  }
  out +=
      "</svg>\n<p class=\"explain\">Rows send, columns receive; darker: more bytes, on a "
      "logarithmic scale; a cell is " +
      std::to_string(of_cell) + (of_cell == 1 ? " rank" : " ranks") + " each way.</p>\n";
  return out;
}

std::string largest_pairs(const JobReport& job) {
  struct Pair {
    size_t from;
    const PairRow* row;
  };
  std::vector<Pair> pairs;
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    for (const PairRow& row : job.ranks[rank].pairs) {
      if (row.sent > 0) pairs.push_back({rank, &row});
    }
  }
  const size_t shown = std::min(kMostPairs, pairs.size());
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), pairs.end(),
                    [](const Pair& a, const Pair& b) {
                      return a.row->sent_bytes != b.row->sent_bytes
                                 ? a.row->sent_bytes > b.row->sent_bytes
                                 : std::pair(a.from, a.row->peer) < std::pair(b.from, b.row->peer);
                    });
  std::string out = "<h3>Pairs with the most bytes</h3>\n";
  Table table(out, {"from", "to", "bytes", "messages"});
  for (size_t i = 0; i < shown; ++i)
    table.row({std::to_string(pairs[i].from), std::to_string(pairs[i].row->peer),
               in_thousands(pairs[i].row->sent_bytes), in_thousands(pairs[i].row->sent)});
  return out;
}

std::string matrices(const JobReport& job) {
  std::string out = begin_section("Messages between ranks",
                                  "Also one-sided transfers; collectives are excluded.");
  const bool any = std::any_of(job.ranks.begin(), job.ranks.end(),
                               [](const RankReport& rank) { return !rank.pairs.empty(); });
  if (!any) {
    out += "<p>None.</p>\n";
  } else if (job.ranks.size() <= kMatrixOfNumbers) {
    out += number_matrix(job, "Bytes", &PairRow::sent_bytes);
    out += number_matrix(job, "Messages", &PairRow::sent);
  } else {
    out += picture(job);
    out += largest_pairs(job);
  }
  return out + "</section>\n";
}

std::string site_table(const JobReport& job) {
  if (!job.call_sites) return "";
  const std::vector<SiteRow> sites = job_sites(job);
  double longest = 0;
  for (const SiteRow& site : sites) longest = std::max(longest, site.sum.time);
  const TimeUnit unit = unit_for(longest);
  std::string out = begin_section("Call sites, all ranks");
  {
    Table table(out, {"function", "call site", "ranks", "calls", std::string("time, ") + unit.name,
                      "mean, µs", "largest, µs", "bytes sent", "bytes received"});
    for (size_t i = 0; i < std::min(kMostSites, sites.size()); ++i) {
      const CallRow& row = sites[i].sum;
      table.row({job.call_names[row.call], row.site, std::to_string(sites[i].ranks),
                 in_thousands(row.calls), unit.show(row.time), kMicroseconds.show(mean_of(row)),
                 kMicroseconds.show(row.most), in_thousands(traffic_of(row, true).bytes),
                 in_thousands(traffic_of(row, false).bytes)});
    }
  }
  if (sites.size() > kMostSites)
    out += "<p class=\"explain\">call_sites.tsv has all " +
           count(static_cast<double>(sites.size())) + ".</p>\n";
  return out + "</section>\n";
}

}  // namespace

std::vector<std::string> report_notes(const JobReport& job) {
  std::vector<std::string> notes;
  LeftOut left_out;
  uint64_t pairs = 0;
  bool stopped = false;
  for (const RankReport& rank : job.ranks) {
    left_out.messages += rank.left_out.messages + rank.messages_left_out;
    left_out.requests += rank.left_out.requests;
    left_out.sizes += rank.left_out.sizes;
    pairs += rank.pairs_left_out;
    stopped = stopped || rank.stopped;
  }
  if (stopped) notes.push_back("Recording stopped before the end of the run.");
  if (!job.waits_known)
    notes.push_back(
        "Waits are not known: several threads communicate, or recording was switched "
        "off for a while. A trace has them (rubato trace, rubato profile).");
  else
    notes.push_back(
        (job.stride == 1
             ? std::string("Waits are from the time stamps of all messages and blocking "
                           "collectives")
             : "Waits are estimates from 1 of " + in_thousands(job.stride) +
                   " messages and blocking collectives; of calls that complete several messages "
                   "they are a lower bound") +
        ". Not known without a trace: waits for nonblocking collectives, one-sided and partitioned "
        "communication, neighbourhood collectives, nonblocking receives of MPI_ANY_SOURCE or "
        "MPI_ANY_TAG.");
  notes.push_back(
      "Causes, the critical path and predictions for other networks need a trace. "
      "Compute contains the cost of recording.");
  if (pairs + left_out.messages > 0)
    notes.push_back("The matrix lacks " + in_thousands(left_out.messages) +
                    " messages of further pairs of ranks.");
  if (left_out.requests > 0)
    notes.push_back(in_thousands(left_out.requests) +
                    " requests are not attributed to the call that started them.");
  if (left_out.sizes > 0)
    notes.push_back(in_thousands(left_out.sizes) + " sends and receives are in no table.");
  return notes;
}

std::string report_page(const JobReport& job) {
  const std::vector<CallRow> calls = job_calls(job);
  const std::string headline = job.summary.substr(job.summary.find(": ") + 2);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      html(job.command) + "</title>\n<style>\n" + kReportStyle + "</style>\n</head>\n<body>\n";
  out += "<header><p class=\"kicker\">Rubato " + std::string(kVersion) +
         " · report without a trace</p>\n<h1>" + html(headline) + "</h1>\n<p id=\"what-was-run\">" +
         html(job.command) + " · " + html(job.mpi_library) + "</p></header>\n";
  out += "<section id=\"trust\" class=\"quiet\"><ul>\n";
  for (const std::string& note : report_notes(job)) out += "<li>" + html(note) + "</li>\n";
  out += "</ul></section>\n";
  out += call_table(job, calls) + wait_table(job, calls);
  for (const RankTable& table : rank_tables(job))
    out += rank_table(with_fewer_columns(table), job.ranks.size());
  out += matrices(job) + size_table(job, calls) + site_table(job);
  return out +
         "<footer><p>The files beside this page have the numbers with all digits, "
         "tab-separated.</p></footer>\n</body>\n</html>\n";
}

}  // namespace tracing
}  // namespace rubato
