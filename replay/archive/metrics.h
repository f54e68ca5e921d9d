#pragma once

// Counters and gauges of an archive (OTF2's metrics), summed by place. They are read in a pass of
// their own, and only where they are wanted: the replay does not use them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rubato {

struct Metric {
  std::string name;
  std::string unit;  ///< "#": a count; else "ns", "bytes", ...
  std::string description;
  /// Counters add up: values are differences of a growing total (OTF2's ACCUMULATED_START, _POINT),
  /// or numbers of an interval or a change (ACCUMULATED_LAST, _NEXT, RELATIVE_...). Gauges
  /// (ABSOLUTE_...) do not; neither does a total that was seen to fall.
  bool adds_up = true;
};

/// Where a counter counted: in a function of the program, or on its way to an MPI call, or inside
/// such a call.
struct MetricPlace {
  enum class Kind : uint8_t { kProgram, kFunction, kBefore, kCall };
  Kind kind = Kind::kProgram;
  int parent = -1;   ///< the place of the function around it; -1: of the program
  std::string name;  ///< "solve (app.c:41)", "MPI_Send"; "" of the program
  std::string site;  ///< "app.c:57", the line that makes the call; "" if unknown

  bool in_mpi() const { return kind == Kind::kCall; }
};

/// The values of a gauge on the locations of a rank.
struct GaugeValues {
  uint64_t samples = 0;
  double sum = 0;
  double least = 0;
  double most = 0;
};

/// All metrics of an archive. Counts exclude those of callees.
struct Metrics {
  std::vector<Metric> metrics;
  int ranks = 0;
  std::vector<MetricPlace> places;  ///< the first is the program's
  std::vector<GaugeValues> gauges;  ///< by metric and rank

  /// By rank and metric; a place without counts on a rank has no row.
  std::vector<std::vector<std::vector<double>>> counts;  ///< by place, rank, metric

  /// Of the time from `begin` on, in equal intervals of `seconds`: by metric, rank and interval.
  static constexpr size_t kIntervals = 240;
  double begin = 0;  ///< seconds from the first record
  double seconds = 0;
  std::vector<std::vector<double>> program;  ///< by metric: ranks * kIntervals counts

  bool empty() const { return metrics.empty(); }
  double count(size_t place, int rank, size_t metric) const {
    const auto& row = counts[place][rank];
    return row.empty() ? 0 : row[metric];
  }
  const GaugeValues& gauge(size_t metric, int rank) const { return gauges[metric * ranks + rank]; }
  /// Of a rank, outside MPI or inside.
  double sum(size_t metric, int rank, bool in_mpi) const;
  /// Of all ranks, at a place.
  double sum_at(size_t place, size_t metric) const;
  /// "main > solve (app.c:41)": the functions around a place, and itself.
  std::string path_of(size_t place) const;
  /// The same from the innermost function on.
  std::string name_of(size_t place) const;
};

/// The metrics of an OTF2 archive; empty if it has none. Metrics of locations that belong to no
/// rank of MPI are left out. Errors: InputError.
Metrics read_metrics(const std::string& path, bool ignore_offsets = false);

}  // namespace rubato
