#include "tracer/base/settings.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "models/base/number_text.h"
#include "tracer/base/warnings.h"

namespace rubato {
inline namespace tracing {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

/// The value of the variable if that is a number from 0 to 1e19; else warns and returns
/// `otherwise`.
double number_of(const char* name, double otherwise) {
  const char* value = std::getenv(name);
  if (value == nullptr) return otherwise;
  const char* end = nullptr;
  const double number = leading_number(value, &end);
  if (end != value && *end == '\0' && number >= 0 && number <= 1e19) return number;
  warn(std::string(name) + "=" + value + " is not understood; " + fixed_text(otherwise, 0) +
       " is used");
  return otherwise;
}

}  // namespace

std::string output_directory() {
  const char* output = std::getenv("RUBATO_TRACE_OUTPUT");
  return output != nullptr && *output != '\0' ? output : "rubato-trace.otf2dir";
}

Settings Settings::from_environment() {
  Settings settings;
  settings.output = output_directory();
  const auto memory = static_cast<double>(settings.memory);
  settings.memory = static_cast<uint64_t>(number_of("RUBATO_TRACE_MEMORY", memory));
  const char* when_full = std::getenv("RUBATO_TRACE_WHEN_FULL");
  settings.stop_when_full = when_full != nullptr && std::strcmp(when_full, "stop") == 0;
  if (const char* records = std::getenv("RUBATO_TRACE_RECORDS")) settings.records = records;
  const char* window = std::getenv("RUBATO_TRACE_WINDOW");
  if (window != nullptr && !RunWindow::parse(window, settings.window)) {
    warn(std::string("RUBATO_TRACE_WINDOW=") + window + " is not understood; all is recorded");
  }
  const char* clock = std::getenv("RUBATO_TRACE_CLOCK");
  settings.monotonic_clock = clock != nullptr && std::strcmp(clock, "monotonic") == 0;
  const char* domain = std::getenv("RUBATO_TRACE_CLOCK_DOMAIN");
  settings.clock_per_rank = domain != nullptr && std::strcmp(domain, "rank") == 0;
  settings.sync_every = number_of("RUBATO_TRACE_SYNC_EVERY", 0);
  settings.functions = is_set("RUBATO_TRACE_FUNCTIONS");
  settings.call_sites = is_set("RUBATO_TRACE_CALL_SITES");
  if (const char* counters = std::getenv("RUBATO_TRACE_COUNTERS")) settings.counters = counters;
  settings.call_paths = is_set("RUBATO_TRACE_CALL_PATHS");
  settings.sample_period = static_cast<uint64_t>(number_of("RUBATO_TRACE_SAMPLE", 0));
  settings.summary = is_set("RUBATO_SUMMARY");
  const char* archive = std::getenv("RUBATO_TRACE_ARCHIVE");
  settings.archive = archive == nullptr || std::strcmp(archive, "0") != 0;
  if (const char* report = std::getenv("RUBATO_TRACE_REPORT")) settings.report = report;
  if (const char* filter = std::getenv("RUBATO_TRACE_FUNCTION_FILTER")) {
    std::ifstream file(filter, std::ios::binary);
    settings.function_filter.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open()) warn(std::string(filter) + " cannot be read; no function is left out");
  }
  return settings;
}

bool RunWindow::parse(const char* text, RunWindow& window) {
  constexpr char kBarrier[] = "barrier:";
  RunWindow read;
  read.kind = Kind::kSeconds;
  read.end = 1e18;
  if (std::strncmp(text, kBarrier, sizeof kBarrier - 1) == 0) {
    read.kind = Kind::kBarriers;
    text += sizeof kBarrier - 1;
  }
  const char* end = nullptr;
  const double begin = leading_number(text, &end);
  if (end != text) read.begin = begin;
  if (*end++ != ':') return false;
  text = end;
  const double last = leading_number(text, &end);
  if (end != text) read.end = last;
  if (*end != '\0' || !(read.begin >= 0) || !(read.end > read.begin)) return false;
  window = read;
  return true;
}

std::string command_line(const std::string& process) {
  std::ifstream file(process + "/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text;
}

}  // namespace tracing
}  // namespace rubato
