#include "tools/files/perfetto_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>

#include "models/base/error.h"
#include "models/base/units.h"
#include "replay/analyse/timeline_slices.h"
#include "replay/run/scenario_groups.h"
#include "replay/store/call_file.h"
#include "replay/study/run_replay.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

/// `text` as a JSON string.
std::string json_quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A growing text that can be discarded; large ones move to a temporary file.
class Spool {
 public:
  void clear() {
    pieces_.clear();
    buffer_.clear();
    file_.emplace(kRoom);
  }
  /// The buffer to append to. To be followed by full().
  std::string& buffer() { return buffer_; }
  void full() {
    if (buffer_.size() >= kPiece) put();
  }
  void copy_to(const WriteText& write) {
    put();
    std::string piece;
    for (const auto& [offset, size] : pieces_) {
      piece.resize(size);
      const std::span<std::byte> to = std::as_writable_bytes(std::span(piece));
      if (const std::byte* kept = file_->kept_at(offset)) {
        std::copy_n(kept, size, to.begin());
      } else {
        file_->read(offset, to);
      }
      write(piece);
    }
  }

 private:
  static constexpr size_t kRoom = 1 << 20;  ///< bytes that stay in memory
  static constexpr size_t kPiece = 1 << 16;

  void put() {
    if (buffer_.empty()) return;
    pieces_.emplace_back(file_->append(std::as_bytes(std::span(buffer_))), buffer_.size());
    buffer_.clear();
  }

  std::optional<CallFile> file_;
  std::vector<std::pair<uint64_t, size_t>> pieces_;  ///< offset and size
  std::string buffer_;
};

/// The names of functions for slices of compute, if functions were timed.
class FunctionNames {
 public:
  FunctionNames(const EventSource& source, std::vector<std::string> names)
      : source_(&source), names_(std::move(names)) {
    for (const std::string& name : names_) quoted_.push_back(json_quoted(name));
  }

  /// The function, as a JSON string, in which most of the compute before `event` was spent; null if
  /// there is none.
  const std::string* of(int timeline, uint64_t event) {
    const FunctionTimes* times = names_.empty() ? nullptr : source_->function_times();
    if (!times) return nullptr;
    if (inclusive_.empty()) add_up(*times);
    const auto gap = times->before(timeline, event);
    const auto most = std::max_element(
        gap.begin(), gap.end(), [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
    if (most == gap.end()) return nullptr;
    // Of nested functions take the innermost, which has the least time in total.
    size_t innermost = names_.size();
    for (size_t i = 0; i < names_.size(); ++i) {
      if (most->functions >> i & 1 &&
          (innermost == names_.size() || inclusive_[i] < inclusive_[innermost]))
        innermost = i;
    }
    return innermost < names_.size() ? &quoted_[innermost] : nullptr;
  }

 private:
  void add_up(const FunctionTimes& times) {
    inclusive_.assign(names_.size(), 0.0);
    times.for_each([this](int, const std::vector<FunctionTime>& parts) {
      for (const FunctionTime& part : parts) {
        for (size_t i = 0; i < names_.size(); ++i) {
          if (part.functions >> i & 1) inclusive_[i] += part.ticks;
        }
      }
    });
  }

  const EventSource* source_;
  std::vector<std::string> names_;
  std::vector<std::string> quoted_;
  std::vector<double> inclusive_;  ///< ticks of all timelines; filled on first use
};

/// Numbers of calls and messages written so far.
struct Written {
  uint64_t calls = 0;
  uint64_t messages = 0;
};

/// The events of one scenario in JSON, each preceded by a comma.
class ScenarioEvents : public SliceSink {
 public:
  ScenarioEvents(const TraceDefinitions& trace, int scenario, const std::string& name,
                 const PerfettoWindow& window, FunctionNames& functions, Written before,
                 uint64_t most)
      : trace_(&trace),
        ns_per_tick_(1e9 / trace.ticks_per_second),
        from_(window.from * trace.ticks_per_second),
        to_(window.to * trace.ticks_per_second),
        first_process_(scenario * trace.ranks() + 1),
        first_thread_(scenario * trace.timelines() + 1),
        name_(name),
        functions_(&functions),
        before_(before),
        most_(most) {
    for (const MpiCallInfo& call : trace.calls) call_names_.push_back(json_quoted(call.name));
  }

  void begin() override {
    spool_.clear();
    written_ = before_;
    for (int rank = 0; rank < trace_->ranks(); ++rank) {
      const int process = first_process_ + rank;
      add(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process,
          json_quoted(fmt::format("{} · rank {}", name_, rank)));
      add(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})",
          process, process);
    }
    for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
      const int number = trace_->thread_of(timeline);
      add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})",
          process_of(timeline), first_thread_ + timeline,
          number == 0 ? "main thread" : fmt::format("thread {}", number));
    }
  }

  void slice(const Slice& slice) override {
    const bool is_call = slice.kind == SliceKind::kCall;
    if (slice.end < from_ || slice.begin >= to_ || (slice.end == from_ && slice.begin < from_))
      return;
    if (is_call && ++written_.calls > most_) {
      throw InputError(
          fmt::format("--perfetto: more than {} calls in the window; choose a shorter "
                      "--perfetto-window",
                      show_count(most_)));
    }
    const int64_t begin = ns(slice.begin);
    std::string args;
    std::string_view category = "other";
    std::string_view name;
    switch (slice.kind) {
      case SliceKind::kCompute: {
        const std::string* function = functions_->of(slice.timeline, slice.call->event);
        name = function ? std::string_view(*function) : R"("compute")";
        category = "compute";
        break;
      }
      case SliceKind::kCall:
        name = call_names_[slice.call->name];
        category = "mpi";
        if (slice.traffic.sent > 0) args = fmt::format(R"("bytes sent":{})", slice.traffic.sent);
        if (slice.traffic.received > 0) {
          args += fmt::format(R"({}"bytes received":{})", args.empty() ? "" : ",",
                              slice.traffic.received);
        }
        break;
      case SliceKind::kWait:
        wait_name_ =
            fmt::format(R"("{}")", kWaitPatternNames[static_cast<size_t>(slice.waited.pattern)]);
        name = wait_name_;
        category = "wait";
        if (slice.waited.timeline >= 0)
          args = fmt::format(R"("caused by":"{}")", trace_->name_of(slice.waited.timeline));
        break;
      case SliceKind::kNotRecorded:
        name = R"("not recorded")";
        break;
      case SliceKind::kFlush:
        name = R"("tracer flushes")";
        break;
      case SliceKind::kStolen:
        name = R"("no core")";
        break;
    }
    add(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"{}"{}{}{}}})",
        process_of(slice.timeline), first_thread_ + slice.timeline, micro(begin),
        micro(ns(slice.end) - begin), name, category, args.empty() ? "" : R"(,"args":{)", args,
        args.empty() ? "" : "}");
  }

  void message(const Delivery& delivery, double received) override {
    if (delivery.sent < from_ || received >= to_) return;
    // Viewers attach the ends of a flow to the slices that are open at their times.
    const int64_t begin = ns(delivery.sent) + 1;
    const int64_t end = std::max(ns(received) - 1, begin);
    const uint64_t flow = ++written_.messages;
    add(R"({{"ph":"s","pid":{},"tid":{},"ts":{:.3f},"id":{},"name":"message","cat":"message","args":{{"bytes":{}}}}})",
        process_of(delivery.sender), first_thread_ + delivery.sender, micro(begin), flow,
        delivery.bytes);
    add(R"({{"ph":"f","bp":"e","pid":{},"tid":{},"ts":{:.3f},"id":{},"name":"message","cat":"message"}})",
        process_of(delivery.receiver), first_thread_ + delivery.receiver, micro(end), flow);
  }

  Written written() const { return written_; }
  void copy_to(const WriteText& write) { spool_.copy_to(write); }

 private:
  int process_of(int timeline) const { return first_process_ + trace_->rank_of(timeline); }
  int64_t ns(double ticks) const { return std::llround(ticks * ns_per_tick_); }
  static double micro(int64_t ns) { return static_cast<double>(ns) / 1000; }

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    spool_.buffer() += ",\n";
    fmt::format_to(std::back_inserter(spool_.buffer()), format, std::forward<Values>(values)...);
    spool_.full();
  }

  const TraceDefinitions* trace_;
  double ns_per_tick_;
  double from_, to_;  ///< ticks
  int first_process_;
  int first_thread_;
  std::string name_;
  FunctionNames* functions_;
  Written before_;
  Written written_;
  uint64_t most_;
  std::vector<std::string> call_names_;
  std::string wait_name_;
  Spool spool_;
};

/// The functions with the most compute time.
std::vector<std::string> main_functions(const Results& results) {
  constexpr size_t kMost = 32;
  std::vector<std::pair<double, std::string>> found;
  for (const FunctionResult& function : results.functions)
    found.emplace_back(std::accumulate(function.compute.begin(), function.compute.end(), 0.0),
                       function.name);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > kMost) found.resize(kMost);
  std::vector<std::string> names;
  for (const auto& [compute, name] : found) names.push_back(name);
  return names;
}

bool is_drawn(const ScenarioResult& result) {
  return result.deadlock.empty();
}

}  // namespace

PerfettoWindow parse_perfetto_window(const std::string& text) {
  PerfettoWindow window;
  const size_t dots = text.find("..");
  bool good = dots != std::string::npos;
  try {
    if (good && dots > 0) window.from = parse_seconds(text.substr(0, dots));
    if (good && dots + 2 < text.size()) window.to = parse_seconds(text.substr(dots + 2));
  } catch (const InputError&) {
    good = false;
  }
  if (!good || !window.is_part() || !(window.from < window.to)) {
    throw UsageError(fmt::format(
        "--perfetto-window: expected FROM..TO, such as 1.5s..2s or ..100ms, not '{}'", text));
  }
  return window;
}

void refuse_large_perfetto(const std::string& file, const Results& results,
                           const PerfettoWindow& window, uint64_t most) {
  const auto scenarios = static_cast<uint64_t>(
      std::count_if(results.scenarios.begin(), results.scenarios.end(), is_drawn));
  const uint64_t calls = results.trace.mpi_calls * scenarios;
  if (window.is_part() || calls <= most) return;
  double length = 0;
  for (const ScenarioResult& scenario : results.scenarios)
    length = std::max(length, scenario.elapsed_with_init);
  throw InputError(fmt::format(
      "{}: {} calls in {} scenario{} exceed the limit of {} per file; write a part with "
      "--perfetto-window, such as ..{:.2g}s, or fewer scenarios with --only",
      file, show_count(calls), scenarios, scenarios == 1 ? "" : "s", show_count(most),
      length * static_cast<double>(most) / static_cast<double>(calls)));
}

void write_perfetto(EventSource& source, const std::vector<Scenario>& scenarios,
                    const Results& results, ReplayOptions options, const PerfettoWindow& window,
                    const WriteText& write, uint64_t most) {
  const TraceDefinitions& trace = source.definitions();
  options.wait_states = true;
  options.verify = false;
  options.total_functions = false;
  // With more calls than fit into one file, timing functions would take too much memory.
  if (results.trace.mpi_calls <= most) options.functions = main_functions(results);
  write(R"({"displayTimeUnit":"ns","otherData":{"archive":)" + json_quoted(trace.path) +
        R"(},"traceEvents":[)");
  Written written;
  bool is_first = true;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!is_drawn(results.scenarios[i])) continue;
    // In the order of the replay, which numbers them.
    std::vector<std::string> names = functions_to_time({scenarios[i]}, source.functions(), trace);
    for (const std::string& name : options.functions) {
      if (std::find(names.begin(), names.end(), name) == names.end() &&
          names.size() < kMostFunctions)
        names.push_back(name);
    }
    FunctionNames functions(source, std::move(names));
    ScenarioEvents events(trace, static_cast<int>(i), scenarios[i].name, window, functions, written,
                          most);
    TimelineSlices slices(trace, events);
    options.observers = {&slices};
    run_replay(source, {scenarios[i]}, options);
    written = events.written();
    events.copy_to([&](const std::string& piece) {
      write(is_first ? piece.substr(1) : piece);  // without the comma
      is_first = false;
    });
  }
  write("\n]}\n");
}

}  // namespace rubato
