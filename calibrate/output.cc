#include "calibrate/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "models/units.h"

namespace rubato {
namespace {

/// The curve that was fitted to a series, or none ("burst" and "single" make the gaps together).
const SegmentedFit* fit_of(const LevelResult& result, const Series& series) {
  const auto get = [](const std::optional<SegmentedFit>& fit) { return fit ? &*fit : nullptr; };
  const std::string& pattern = series.pattern;
  if (pattern == "pingpong" || pattern == "sendrecv") return get(result.fit.transfer);
  if (pattern == "send_overhead") return get(result.fit.overheads.send);
  if (pattern == "receive_overhead") return get(result.fit.overheads.receive);
  if (pattern == "unexpected_overhead") return get(result.fit.overheads.unexpected);
  if (pattern == "copy") return get(result.fit.copy);
  if (pattern == "copy_cold") return get(result.fit.cold_copy);
  if (pattern == "combine") return get(result.fit.combination);
  return nullptr;
}

int messages_of(const Series& series, size_t bytes) {
  return series.pattern == "burst" ? Pair::burst_length(bytes) : 1;
}

bool in_table(size_t bytes, size_t largest) {
  if (bytes == 0 || bytes == largest) return true;
  const bool power_of_two = (bytes & (bytes - 1)) == 0;
  if (!power_of_two) return false;
  return static_cast<int>(std::log2(static_cast<double>(bytes))) % 3 != 1 || bytes == 1 << 20;
}

/// The parts of a message at lengths that people know.
void print_parts(std::FILE* out, const LevelResult& result) {
  if (result.fit.parts.send.empty()) return;
  const TransferCurve send(result.fit.parts.send), transfer(result.fit.parts.transfer),
      receive(result.fit.parts.receive);
  std::fprintf(out, "  %8s  %9s  %9s  %9s  %10s\n", "size", "sending", "transfer", "receiving",
               "unexpected");
  const double largest = static_cast<double>(result.series.front().timings.rbegin()->first);
  for (const double bytes : {0., 1024., 16384., 262144., 4194304.}) {
    if (bytes > largest) continue;
    const bool eager =
        result.probe.eager && (!result.probe.waiting || bytes < *result.probe.waiting);
    const auto& unexpected = result.fit.overheads.unexpected;
    std::fprintf(out, "  %8s  %9s  %9s  %9s  %10s\n", format_bytes(bytes).c_str(),
                 brief_seconds(send(bytes)).c_str(), brief_seconds(transfer(bytes)).c_str(),
                 brief_seconds(receive(bytes)).c_str(),
                 eager && unexpected ? brief_seconds((*unexpected)(bytes)).c_str() : "-");
  }
}

void print_level(std::FILE* out, const LevelResult& result) {
  const Series& series = result.series.front();
  const SegmentedFit& fit = *result.fit.transfer;
  std::fprintf(out, "%s level, rank 0 and rank %d\n", kLevelNames[static_cast<int>(result.level)],
               result.partner);
  std::fprintf(out, "  %8s  %9s  %11s  %9s  %7s\n", "size", "time", "bandwidth", "fit", "error");
  for (const auto& [bytes, timing] : series.timings) {
    if (!in_table(bytes, series.timings.rbegin()->first)) continue;
    const double n = static_cast<double>(bytes);
    const double seconds = timing.seconds(result.of_loops);
    std::fprintf(out, "  %8s  %9s  %11s  %9s  %+6.1f%%\n", format_bytes(n).c_str(),
                 brief_seconds(seconds).c_str(), bytes ? brief_bandwidth(n / seconds).c_str() : "-",
                 brief_seconds(fit(n)).c_str(), 100 * (fit(n) / seconds - 1));
  }
  std::fprintf(out, "  %zu lengths, %zu segments, fit error %.1f%% rms, %.1f%% at worst",
               series.timings.size(), fit.segments.size(), 100 * fit.rms_error,
               100 * fit.max_error);
  const ProtocolProbe& probe = result.probe;
  if (probe.eager || probe.waiting) {
    const std::string limit = probe.eager ? format_bytes(*probe.eager) : "";
    std::fprintf(out, "%s%s",
                 !probe.waiting ? "; sends are eager at all lengths"
                 : !probe.eager ? "; no send is eager"
                                : "; sends are eager up to ",
                 probe.waiting ? limit.c_str() : "");
  }
  for (const ProtocolSegment& segment : result.fit.protocols) {
    std::fprintf(out, ", %s from %s", kProtocolNames[static_cast<int>(segment.protocol)],
                 format_bytes(segment.from).c_str());
  }
  std::fprintf(out, "\n");
  print_parts(out, result);
  const double repeatable = result.fit.repeatable_within;
  std::fprintf(out, "  two halves of the run differ by %.1f%%%s\n\n", 100 * repeatable,
               repeatable <= kRepeatable ? ""
                                         : ": the machine was busy, or the ranks share a core; "
                                           "calibrate again when it is idle");
}

}  // namespace

std::string samples_csv(const std::vector<LevelResult>& results, int launch,
                        const Provenance& measured) {
  std::string text =
      "level,pattern,bytes,messages,seconds_min,seconds_avg,seconds_max,loops,round_trips,"
      "seconds_fit,relative_error,launch,seconds_min_even,seconds_min_odd,"
      "seconds_median,seconds_median_even,seconds_median_odd\n";
  for (const LevelResult& result : results) {
    const std::string level = kLevelNames[static_cast<int>(result.level)];
    for (const Series& series : result.series) {
      const SegmentedFit* fit = fit_of(result, series);
      for (const auto& [bytes, timing] : series.timings) {
        // Times to the last digit: 'rubato fit' makes the same platform file of them.
        text += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{},{},", level, series.pattern, bytes,
                            messages_of(series, bytes), timing.min, timing.average(), timing.max,
                            timing.loops, timing.round_trips);
        // Above the eager limit a receive holds the transfer.
        const bool holds_transfer = series.pattern == "receive_overhead" && result.probe.waiting &&
                                    static_cast<double>(bytes) >= *result.probe.waiting;
        if (fit && !holds_transfer) {
          const double fitted = (*fit)(static_cast<double>(bytes));
          text +=
              fmt::format("{:.6g},{:.4f}", fitted, fitted / timing.seconds(result.of_loops) - 1);
        } else {
          text += ",";
        }
        text += fmt::format(",{}", launch);
        for (const OfLoops of_loops : {OfLoops::kLeast, OfLoops::kMedian}) {
          if (of_loops == OfLoops::kMedian) text += fmt::format(",{}", timing.seconds(of_loops));
          if (timing.loops >= 2)
            text += fmt::format(",{},{}", timing.half(of_loops, 0), timing.half(of_loops, 1));
          else
            text += ",,";
        }
        text += '\n';
      }
    }
    const auto add_probe = [&](const char* pattern, const std::optional<double>& bytes) {
      if (!bytes) return;
      text += level + "," + pattern + "," + std::to_string(static_cast<size_t>(*bytes)) +
              ",1,,,,,,,," + std::to_string(launch) + ",,,,,\n";
    };
    add_probe("eager", result.probe.eager);
    add_probe("waiting", result.probe.waiting);
  }
  for (const auto& [key, value] : measured) {
    std::string line = "# " + key + ": " + value;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    text += line + "\n";
  }
  return text;
}

namespace {

/// The further patterns at three lengths.
void print_patterns(std::FILE* out, const LevelResult& result) {
  bool any = false;
  for (const Series& series : result.series) {
    if (LevelSamples().series(series.pattern) || series.timings.empty()) continue;
    if (!any) std::fprintf(out, "  %-28s  %9s  %9s  %9s\n", "pattern", "8B", "4KiB", "256KiB");
    any = true;
    std::fprintf(out, "  %-28s", series.pattern.c_str());
    for (const size_t bytes : {8u, 4096u, 262144u}) {
      const auto at = series.timings.find(bytes);
      std::fprintf(out, "  %9s",
                   at == series.timings.end()
                       ? "-"
                       : brief_seconds(at->second.seconds(result.of_loops)).c_str());
    }
    std::fprintf(out, "\n");
  }
  if (any) std::fprintf(out, "\n");
}

}  // namespace

void print_summary(std::FILE* out, const std::vector<LevelResult>& results) {
  for (const LevelResult& result : results) {
    if (!result.fit.transfer) continue;
    print_level(out, result);
    print_patterns(out, result);
  }
}

}  // namespace rubato
