#include "tracer/report/sums_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <new>

#include "tools/version.h"
#include "tracer/archive/utf8.h"
#include "tracer/base/file_limit.h"
#include "tracer/base/output_name.h"

namespace rubato {
inline namespace tracing {
namespace {

/// Grows a JSON text.
class JsonText {
 public:
  void open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void name(const char* key) {
    add(std::string(key));
    text_ += ": ";
    first_ = true;
  }
  template <class Value>
  void put(const char* key, const Value& value) {
    name(key);
    add(value);
  }
  void add(uint64_t value) {
    separate();
    text_ += std::to_string(value);
  }
  void add(int value) {
    separate();
    text_ += std::to_string(value);
  }
  void add(bool value) {
    separate();
    text_ += value ? "true" : "false";
  }
  void add(std::nullptr_t) {
    separate();
    text_ += "null";
  }
  /// With all its digits.
  void add(double value) {
    separate();
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text_.append(digits, std::isfinite(value) ? end : digits);
    if (!std::isfinite(value)) text_ += "null";
  }
  void add(const std::string& value) {
    separate();
    text_ += '"';
    for (const char c : as_utf8(value)) {
      if (c == '\n') {
        text_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text_ += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) {
        text_ += c;
        continue;
      }
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    }
    text_ += '"';
  }
  const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!first_) text_ += ", ";
    first_ = false;
  }

  std::string text_;
  bool first_ = true;  ///< in its object or array, or behind its key
};

void add_sizes(JsonText& json, const CallRow& row) {
  json.name("sizes");
  json.open('[');
  unsigned classes = 0;
  for (const SizeRow& size : row.sizes) classes = std::max(classes, size.size_class + 1);
  for (unsigned at = 0; at < classes; ++at) {
    SizeRow sent{}, received{};
    for (const SizeRow& size : row.sizes) {
      if (size.size_class == at) (size.sends ? sent : received) = size;
    }
    if (sent.count == 0 && received.count == 0) continue;
    json.open('{');
    json.put("size", at == 0 ? uint64_t{0} : uint64_t{1} << (at - 1));
    json.put("sends", sent.count);
    json.put("bytes_sent", sent.bytes);
    json.put("receives", received.count);
    json.put("bytes_received", received.bytes);
    json.close('}');
  }
  json.close(']');
}

void add_call(JsonText& json, const JobReport& job, const CallRow& row) {
  json.open('{');
  json.put("call", job.call_names[row.call]);
  if (job.call_sites) json.put("call_site", row.site);
  json.put("calls", row.calls);
  json.put("calls_timed", row.timed);
  json.put("time", row.time);
  json.put("time_min", row.least);
  json.put("time_max", row.most);
  json.put("outside", row.outside);
  json.put("bytes_completed", row.bytes_completed);
  json.name("waits");
  if (job.waits_known && row.numbered > 0) {
    json.open('{');
    json.put("late_sender", row.waits.late_sender);
    json.put("late_receiver", row.waits.late_receiver);
    json.put("collective_wait", row.waits.collective);
    json.close('}');
  } else {
    json.add(nullptr);
  }
  add_sizes(json, row);
  json.close('}');
}

std::string head_text(const JobReport& job) {
  JsonText json;
  json.open('{');
  json.put("kind", std::string("rubato sums"));
  json.put("format", 1);
  json.put("rubato", std::string(kVersion));
  json.name("units");
  json.open('{');
  json.put("times", std::string("s"));
  json.put("sizes", std::string("B"));
  json.close('}');
  json.put("command", job.command);
  json.put("mpi_library", job.mpi_library);
  const std::string prefix = "summary: ";
  json.put("summary", job.summary.substr(job.summary.starts_with(prefix) ? prefix.size() : 0));
  json.put("elapsed", job.end - job.begin);
  json.put("call_sites", job.call_sites);
  json.put("waits_known", job.waits_known);
  json.put("sampled_one_of", job.stride);
  json.put("steps_one_of", job.steps_one_of);
  json.name("ranks");
  return json.text() + "[";
}

/// Seconds of a rank's compute that recording its calls took.
double overhead_of(const JobReport& job, const RankReport& rank) {
  uint64_t calls = 0;
  for (const CallRow& row : rank.calls) calls += row.timed;
  return std::clamp(static_cast<double>(calls) * job.outside, 0.0, std::max(0.0, rank.compute));
}

std::string rank_text(const JobReport& job, size_t number) {
  const RankReport& rank = job.ranks[number];
  const auto threads = static_cast<double>(rank.threads);
  JsonText json;
  json.open('{');
  json.put("rank", uint64_t{number});
  json.put("threads", rank.threads);
  json.put("node", rank.node);
  const double overhead = overhead_of(job, rank);
  json.put("compute", rank.compute - overhead);
  json.put("overhead", overhead);
  json.put("flushing", rank.tracer);
  json.put("not_recorded", rank.not_recorded);
  json.put("lost_core", rank.lost_core);
  json.put("before", rank.starts - threads * job.begin);
  json.put("after", threads * job.end - rank.ends);
  json.put("stopped", rank.stopped);
  json.name("left_out");
  json.open('{');
  json.put("pairs", rank.pairs_left_out);
  json.put("messages", rank.left_out.messages + rank.messages_left_out);
  json.put("requests", rank.left_out.requests);
  json.put("sizes", rank.left_out.sizes);
  json.close('}');
  json.name("calls");
  json.open('[');
  for (const CallRow& row : rank.calls) add_call(json, job, row);
  json.close(']');
  json.name("peers");
  json.open('[');
  for (const PairRow& pair : rank.pairs) {
    if (pair.sent == 0 && pair.time == 0) continue;
    json.open('{');
    json.put("peer", pair.peer);
    json.put("size", pair.sent_bytes);
    json.put("requests", pair.sent);
    json.put("time", pair.time);
    json.close('}');
  }
  json.close(']');
  if (job.steps_one_of != 0) json.put("steps", rank.steps);
  json.close('}');
  return json.text();
}

}  // namespace

bool sums_text(const JobReport& job, const std::function<bool(const std::string&)>& write) {
  if (!write(head_text(job))) return false;
  for (size_t rank = 0; rank < job.ranks.size(); ++rank) {
    if (!write((rank == 0 ? "\n " : ",\n ") + rank_text(job, rank))) return false;
  }
  return write("\n]}\n");
}

std::string write_sums_file(const JobReport& job, const std::string& file) {
  const NoFileSizeSignal quiet;
  // Not longer than the name of the file may be.
  const size_t base = file.rfind('/') + 1;
  const std::string partial = file.substr(0, base) + "." + file.substr(base, 100) + "." +
                              std::to_string(getpid()) + ".part";
  FILE* const out = std::fopen(partial.c_str(), "wbxe");
  if (out == nullptr) return "";
  bool good = false;
  int error = EEXIST;
  try {
    good = sums_text(job, [&](const std::string& part) {
      return std::fwrite(part.data(), 1, part.size(), out) == part.size();
    });
    if (!good) error = errno;
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  if (std::fclose(out) != 0 && good) {
    good = false;
    error = errno;
  }
  std::string name;
  for (int number = 1; good && name.empty() && number <= kMostOutputs; ++number) {
    const std::string next = numbered_output(file, number);
    if (is_taken(next)) continue;
    // (A file system may lack the call that replaces no file, or links.)
    const auto is_missing = [] { return errno == EINVAL || errno == ENOSYS || errno == EPERM; };
    if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, next.c_str(), RENAME_NOREPLACE) == 0 ||
        (is_missing() && link(partial.c_str(), next.c_str()) == 0 &&
         unlink(partial.c_str()) == 0) ||
        (is_missing() && std::rename(partial.c_str(), next.c_str()) == 0)) {
      name = next;
    } else if (errno != EEXIST) {
      good = false;
      error = errno;
    }
  }
  if (!name.empty()) return name;
  unlink(partial.c_str());
  errno = error;
  return "";
}

}  // namespace tracing
}  // namespace rubato
