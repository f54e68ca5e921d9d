#include "tracer/summary/run_summary.h"

#include <algorithm>

#include "models/base/number_text.h"
#include "tracer/base/packing.h"
#include "tracer/base/report_line.h"

namespace rubato {
inline namespace tracing {
namespace {

constexpr size_t kCallsShown = 3;
constexpr double kShown = 0.0005;     ///< of the windows: "0.1 %"
constexpr double kWorthAWord = 0.01;  ///< of the windows

/// "34 %", "0.6 %"
std::string percent(double share) {
  return fixed_text(100 * share, share < 0.0995 ? 1 : 0) + " %";
}

/// The largest, as " (MPI_Allreduce 20 %, MPI_Wait 9 %)".
std::string largest_calls(const std::map<unsigned, double>& calls, double whole,
                          const std::vector<std::string>& names) {
  std::vector<std::pair<double, unsigned>> order;
  for (const auto& [id, seconds] : calls) {
    if (id < names.size() && seconds >= kShown * whole) order.emplace_back(-seconds, id);
  }
  std::sort(order.begin(), order.end());
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kCallsShown); ++i) {
    text += (i == 0 ? " (" : ", ") + names[order[i].second] + " ";
    text += percent(-order[i].first / whole);
  }
  return text.empty() ? "" : text + ")";
}

}  // namespace

void RankTimes::add(const TimeSums& sums, double per_second) {
  if (!sums.any()) return;
  const auto seconds = [&](uint64_t ticks) { return static_cast<double>(ticks) / per_second; };
  const double all = std::max(0.0, seconds(sums.end() - sums.start()) - seconds(sums.off_ticks()));
  double mpi = 0;
  for (unsigned id = 0; id < kFirstMark; ++id) {
    const TimeSums::CallSum& sum = sums.calls()[id];
    if (sum.count == 0) continue;
    const double inside = seconds(sum.ticks) - static_cast<double>(sum.stolen) * 1e-9;
    mpi += std::max(0.0, inside);
    calls[id] += std::max(0.0, inside);
  }
  const double lost = static_cast<double>(sums.stolen()) * 1e-9;
  ++threads;
  window += all;
  stolen += lost;
  not_recorded += seconds(sums.off_ticks());
  compute += std::max(0.0, all - mpi - lost - seconds(sums.tracer_ticks()));
}

std::string RankTimes::pack() const {
  Packer packer;
  for (const double value : {start, end, window, compute, stolen, not_recorded}) packer.put(value);
  packer.put(threads);
  packer.put(stopped);
  packer.put(calls.size());
  for (const auto& [id, seconds] : calls) {
    packer.put(id);
    packer.put(seconds);
  }
  return packer.bytes();
}

RankTimes RankTimes::unpack(const std::string& bytes) {
  Unpacker from(bytes);
  RankTimes times;
  for (double* value : {&times.start, &times.end, &times.window, &times.compute, &times.stolen,
                        &times.not_recorded}) {
    *value = from.number();
  }
  times.threads = from.value();
  times.stopped = from.value() != 0;
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    const auto id = static_cast<unsigned>(from.value());
    times.calls[id] = from.number();
  }
  return times;
}

std::string summary_line(const std::vector<RankTimes>& ranks,
                         const std::vector<std::string>& call_names) {
  RankTimes all;
  double most = 0;
  bool any = false, one_thread = true;
  for (const RankTimes& rank : ranks) {
    if (rank.threads == 0) continue;
    all.start = any ? std::min(all.start, rank.start) : rank.start;
    all.end = any ? std::max(all.end, rank.end) : rank.end;
    any = true;
    all.window += rank.window;
    all.compute += rank.compute;
    all.stolen += rank.stolen;
    all.not_recorded += rank.not_recorded;
    all.stopped = all.stopped || rank.stopped;
    most = std::max(most, rank.compute);
    one_thread = one_thread && rank.threads == 1;
    for (const auto& [id, seconds] : rank.calls) all.calls[id] += seconds;
  }
  const std::string who =
      "summary: " + in_thousands(ranks.size()) + (ranks.size() == 1 ? " rank" : " ranks");
  if (!any || !(all.window > 0)) return who + ", nothing was recorded";
  double mpi = 0;
  for (const auto& [id, seconds] : all.calls) mpi += seconds;
  std::string line = who + ", elapsed " + seconds_text(all.end - all.start) + ", " +
                     percent(mpi / all.window) + " of it in MPI";
  line += largest_calls(all.calls, all.window, call_names);
  if (one_thread && most > 0) {
    // (The mean of equal numbers may be larger than each by the last bit.)
    const double mean = all.compute / static_cast<double>(ranks.size());
    line += ", load balance " + percent(std::min(1.0, mean / most));
  }
  if (all.stolen > kWorthAWord * all.window)
    line += ", without a core " + percent(all.stolen / all.window);
  if (all.stopped) return line + "; recording stopped before the end";
  return all.not_recorded > 0 ? line + "; shares of what was recorded" : line;
}

}  // namespace tracing
}  // namespace rubato
