#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracer/report/rank_report.h"

namespace rubato {
inline namespace tracing {

/// A table by rank: a column per function.
struct RankColumn {
  std::string name;
  std::vector<double> values;  ///< by rank
};
struct RankTable {
  std::string file;   ///< its name, without directory
  std::string title;  ///< "bytes sent"
  bool seconds = false;
  std::vector<RankColumn> columns;
};

/// MPInside's five: time, bytes sent, sends, bytes received, receives.
std::vector<RankTable> rank_tables(const JobReport& job);

/// The sums of all ranks by function, those with the most time first.
std::vector<CallRow> job_calls(const JobReport& job);

/// The calls of one function from one line, of all ranks.
struct SiteRow {
  CallRow sum;
  int ranks = 0;                              ///< that called it there
  double fastest_rank = 0, slowest_rank = 0;  ///< seconds of one of these
};
/// Those with the most time first.
std::vector<SiteRow> job_sites(const JobReport& job);

/// The tables as files: name and contents. Tab-separated; the first line, a comment, has the units.
/// `write` returns false to stop.
bool write_tables(
    const JobReport& job,
    const std::function<bool(const std::string& name, const std::string& text)>& write);

/// A number with all its digits: "0.125", "8287".
std::string exact(double value);

}  // namespace tracing
}  // namespace rubato
