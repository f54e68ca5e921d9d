#include "tools/files/perfetto_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "models/base/error.h"
#include "models/base/units.h"
#include "replay/analyse/place_summary.h"
#include "replay/analyse/timeline_slices.h"
#include "replay/store/call_file.h"
#include "replay/store/call_stacks.h"
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

/// Numbers of calls and messages written so far.
struct Written {
  uint64_t calls = 0;
  uint64_t messages = 0;
};

/// The events of one scenario in JSON, each preceded by a comma. The functions of a call path are
/// open slices ("B", "E") around compute and calls.
class ScenarioEvents : public SliceSink {
 public:
  ScenarioEvents(const EventSource& source, int scenario, const std::string& name,
                 const PerfettoWindow& window, Written before, uint64_t most)
      : trace_(&source.definitions()),
        source_(&source),
        stacks_(source),
        period_(sampling_of(source).value_or(Sampling{}).period * trace_->ticks_per_second),
        ns_per_tick_(1e9 / trace_->ticks_per_second),
        from_(window.from * trace_->ticks_per_second),
        to_(window.to * trace_->ticks_per_second),
        first_process_(scenario * trace_->ranks() + 1),
        first_thread_(scenario * trace_->timelines() + 1),
        name_(name),
        before_(before),
        most_(most) {
    for (const MpiCallInfo& call : trace_->calls) call_names_.push_back(json_quoted(call.name));
    for (const FunctionName& function : source.functions())
      functions_.push_back(json_quoted(function.name));
  }

  void begin() override {
    spool_.clear();
    written_ = before_;
    stacks_.begin();
    open_.assign(trace_->timelines(), {});
    places_.clear();
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
    const CallPlaces* places = source_->call_places();
    while (places && places_.size() < open_.size())
      places_.emplace_back(*places, static_cast<int>(places_.size()));
    const CallPlace* place =
        places_.empty() ? nullptr : &places_[slice.timeline].at(slice.call->event);
    if (slice.kind == SliceKind::kCompute && place && (period_ > 0 || !place->before.empty()))
      return add_functions(slice, *place);
    // (Waits and losses are within calls and functions.)
    if (is_call || slice.kind == SliceKind::kCompute || slice.kind == SliceKind::kNotRecorded)
      move_to(slice.timeline, slice.begin, slice.end,
              is_call && place ? stacks_.of_call(slice.timeline, *place) : 0);
    else
      open_[slice.timeline].end = std::max(open_[slice.timeline].end, slice.end);
    std::string args;
    std::string_view category = "other";
    std::string_view name;
    switch (slice.kind) {
      case SliceKind::kCompute:
        name = R"("compute")";
        category = "compute";
        break;
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
    add_slice(slice, slice.begin, slice.end, name, category, args);
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
  /// Closes open functions, after the replay.
  void finish() {
    for (int timeline = 0; timeline < trace_->timelines(); ++timeline)
      move_to(timeline, open_[timeline].end, open_[timeline].end, CallTree::kRoot);
  }

 private:
  /// The functions that are open in a timeline, and the end of its last slice.
  struct Open {
    uint32_t stack = CallTree::kRoot;
    double end = 0;
    std::map<uint32_t, double> owed;  ///< by stack: time of short gaps that others have
  };

  /// Compute by function. A gap that is shorter than the period of samples belongs to one of its
  /// functions, so that the sums of all functions are right; if that is none, the functions of the
  /// call before it stay open.
  void add_functions(const Slice& slice, const CallPlace& place) {
    Open& open = open_[slice.timeline];
    const bool is_short = slice.end - slice.begin < period_;
    const auto add_one = [&](double begin, double end, uint32_t stack) {
      if (end < from_ || begin >= to_) return;
      move_to(slice.timeline, begin, end,
              is_short && stack == CallTree::kRoot ? open.stack : stack);
      if (stack == CallTree::kRoot) add_slice(slice, begin, end, R"("compute")", "compute", "");
    };
    place.divide(slice.recorded, slice.begin, slice.end,
                 [&](double begin, double end, const FunctionPart* part) {
                   const uint32_t stack =
                       part ? stacks_.of_path(slice.timeline, part->path) : CallTree::kRoot;
                   is_short ? void(open.owed[stack] += end - begin) : add_one(begin, end, stack);
                 });
    if (!is_short) return;
    const auto most = std::max_element(open.owed.begin(), open.owed.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    most->second -= slice.end - slice.begin;
    add_one(slice.begin, slice.end, most->first);
  }

  /// Opens and closes functions, so that those of `stack` are open from `begin` to `end`.
  void move_to(int timeline, double begin, double end, uint32_t stack) {
    const std::vector<CallTree::Node>& nodes = stacks_.tree().nodes();
    Open& open = open_[timeline];
    const auto put = [&](const char* phase, double time, const std::string& name) {
      add(R"({{"ph":"{}","pid":{},"tid":{},"ts":{:.3f}{}}})", phase, process_of(timeline),
          first_thread_ + timeline, micro(ns(time)),
          name.empty() ? "" : R"(,"cat":"function","name":)" + name);
    };
    std::vector<uint32_t> wanted;  // the innermost first
    for (; stack != CallTree::kRoot; stack = nodes[stack].parent) wanted.push_back(stack);
    // (Callers have smaller numbers.)
    uint32_t common = open.stack;
    size_t more = 0;
    const auto is_open = [&] {
      const auto at = std::find(wanted.begin(), wanted.end(), common);
      more = static_cast<size_t>(at - wanted.begin());
      return common == CallTree::kRoot || at != wanted.end();
    };
    for (; !is_open(); common = nodes[common].parent) put("E", open.end, "");
    while (more > 0) {
      const uint32_t function = nodes[wanted[--more]].function;
      put("B", begin, function < functions_.size() ? functions_[function] : R"("?")");
    }
    open.stack = wanted.empty() ? CallTree::kRoot : wanted.front();
    open.end = end;
  }

  void add_slice(const Slice& slice, double begin, double end, std::string_view name,
                 std::string_view category, const std::string& args) {
    add(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"{}"{}{}{}}})",
        process_of(slice.timeline), first_thread_ + slice.timeline, micro(ns(begin)),
        micro(ns(end) - ns(begin)), name, category, args.empty() ? "" : R"(,"args":{)", args,
        args.empty() ? "" : "}");
  }

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
  const EventSource* source_;
  CallStacks stacks_;
  double period_;                           ///< of samples, ticks; 0: none
  std::vector<CallPlaces::Reader> places_;  ///< by timeline; empty: no functions
  std::vector<Open> open_;                  ///< by timeline
  double ns_per_tick_;
  double from_, to_;  ///< ticks
  int first_process_;
  int first_thread_;
  std::string name_;
  Written before_;
  Written written_;
  uint64_t most_;
  std::vector<std::string> call_names_;
  std::vector<std::string> functions_;  ///< names as JSON strings
  std::string wait_name_;
  Spool spool_;
};

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
  write(R"({"displayTimeUnit":"ns","otherData":{"archive":)" + json_quoted(trace.path) +
        R"(},"traceEvents":[)");
  Written written;
  bool is_first = true;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!is_drawn(results.scenarios[i])) continue;
    ScenarioEvents events(source, static_cast<int>(i), scenarios[i].name, window, written, most);
    TimelineSlices slices(trace, events);
    options.observers = {&slices};
    run_replay(source, {scenarios[i]}, options);
    events.finish();
    written = events.written();
    events.copy_to([&](const std::string& piece) {
      write(is_first ? piece.substr(1) : piece);  // without the comma
      is_first = false;
    });
  }
  write("\n]}\n");
}

}  // namespace rubato
