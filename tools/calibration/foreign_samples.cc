// The input formats, as far as they are read. Each '|' begins a line.
//
// OSU   | # OSU MPI Latency Test v5.9          title; "# OSU MPI-CUDA ..." also
//                                              MVAPICH: "(Version 2.0)"
//       | # Datatype: MPI_CHAR.                since 7.0
//       | # Size          Latency (us)         names of columns, two spaces or more between them
//       | 8                       1.23
// IMB   | # Benchmarking PingPong
//       | # #processes = 2
//       |        #bytes #repetitions      t[usec]   Mbytes/sec
//       |             8         1000         1.23         6.50
//         Others have t_min[usec] t_max[usec] t_avg[usec] instead, and a barrier no #bytes.
// NetPIPE
//       |   1:       2 bytes   9652 times -->      7.98 Mbps in       1.91 usec      on the screen
//       |        2   7.983711   0.00000191      in np.out: bytes, Mbit/s, seconds
#include "tools/calibration/foreign_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "models/base/error.h"
#include "models/collective/collectives.h"

namespace rubato {
namespace {

const char* const kWhatIsRead =
    "not output of the OSU micro-benchmarks, the Intel MPI Benchmarks or NetPIPE";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Splits at tabs and runs of spaces: column names contain single spaces.
std::vector<std::string> columns_of(const std::string& line) {
  static const std::regex gap("[ \t]{2,}|\t");
  const std::sregex_token_iterator end;
  std::vector<std::string> columns;
  for (std::sregex_token_iterator it(line.begin(), line.end(), gap, -1); it != end; ++it) {
    if (!it->str().empty()) columns.push_back(*it);
  }
  return columns;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// The operation named by the title of a benchmark, in lower case without blanks and hyphens; "" if
/// unknown.
std::string collective_pattern(const std::string& title) {
  std::string key;
  for (const char c : lower(title)) {
    if (std::isalnum(static_cast<unsigned char>(c))) key += c;
  }
  static const std::map<std::string, std::string> other_names = {
      {"broadcast", "bcast"},
      {"alltoallpersonalizedexchange", "alltoall"},
      {"alltoall", "alltoall"},
      {"reducescatter", "reduce_scatter"}};
  const auto found = other_names.find(key);
  if (found != other_names.end()) return found->second;
  return collective_named(key) ? key : "";
}

/// The table being read.
struct InputTable {
  std::string pattern;  ///< empty: rows are skipped
  int size_column = -1, value_column = -1;
  double scale = 1e-6;   ///< factor from the value to seconds
  bool is_rate = false;  ///< the value is MB/s
  int processes = 0;
  bool is_open = false;  ///< its columns are known
};

class Reader {
 public:
  Reader(std::string file, int window) : file_(std::move(file)), window_(window) {}

  ForeignSamples read() {
    std::ifstream in(file_);
    if (!in) throw InputError(file_ + ": cannot be read");
    // The prefix that launchers put before each line: `srun --label`, `mpiexec -l` (Intel MPI) or
    // -prepend-rank (MPICH), and Open MPI's `mpirun --tag-output`.
    static const std::regex label(
        R"(^([0-9]+: |\[[0-9]+\] |\[[^\]]*,[0-9]+\]<stdout>: ?)(?= *([#0-9]|$)))");
    // std::regex recurses for each character, so long lines are skipped.
    constexpr size_t kMostCharacters = 500;
    std::string line;
    for (number_ = 1; std::getline(in, line); ++number_) {
      if (line.size() > kMostCharacters) {
        if (table_.is_open && std::isdigit(static_cast<unsigned char>(line[0])) != 0)
          fail(fmt::format("a row of {} characters", line.size()));
        continue;  // output of the job: benchmarks print no such lines
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      // NetPIPE's lines begin like a label, so test for them first.
      if (netpipe_row(line)) continue;
      read_line(std::regex_replace(line, label, ""));
    }
    if (samples_.rows.empty()) {
      throw InputError(file_ +
                       (samples_.benchmark.empty()
                            ? std::string(": is ") + kWhatIsRead
                            : ": contains no table of messages or collectives in the output of " +
                                  samples_.benchmark));
    }
    return std::move(samples_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", file_, number_, what));
  }

  double number(const std::string& word) const {
    double value = 0;
    const char* end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || !(value >= 0) || value > 1e18)
      fail(fmt::format("'{}' is not a non-negative number", word));
    return value;
  }

  void add(double bytes, double seconds, int messages) {
    if (!(seconds > 0)) fail("a time of 0; measure again with more repetitions");
    if (!(seconds <= 1e6)) fail("a time of more than a million seconds");
    SampleRow row;
    row.pattern = table_.pattern;
    row.bytes = bytes;
    row.seconds = seconds;
    row.messages = messages;
    if (const auto op = collective_named(table_.pattern)) {
      row.processes = table_.processes;
      // IMB prints the size of the whole vector, calibrate that of the part of each member.
      if (op == CollectiveOp::kReduceScatter && row.processes > 0) row.bytes /= row.processes;
    }
    samples_.rows.push_back(row);
  }

  bool netpipe_row(const std::string& line) {
    static const std::regex row(
        R"(^ *[0-9]+: +([0-9]+) bytes +[0-9]+ times --> +([0-9.]+) Mbps in +([0-9.]+) usec.*)");
    std::smatch match;
    if (!std::regex_match(line, match, row)) return false;
    samples_.benchmark = "NetPIPE";
    table_ = InputTable();
    table_.pattern = "pingpong";
    add(number(match[1]), 1e-6 * number(match[3]), 1);
    return true;
  }

  void read_line(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) {
      // IMB ends tables with a blank line; OSU has blank lines only before its title.
      if (samples_.benchmark == "IMB") table_ = InputTable();
    } else if (words[0] == "#" && words.size() > 2 && (words[1] == "OSU" || words[1] == "OMB")) {
      osu_title(line);
    } else if (words[0] == "#" && words.size() > 1 && words[1] == "Size") {
      osu_columns(line.substr(line.find("Size")));
    } else if (words[0] == "#" && words.size() > 2 && words[1] == "Benchmarking") {
      samples_.benchmark = "IMB";
      table_ = InputTable();
      table_.pattern = imb_pattern(words[2]);
    } else if (words[0] == "#" && words.size() > 3 && words[1] == "#processes") {
      table_.processes = static_cast<int>(number(words[3]));
    } else if (words[0] == "#bytes" || words[0] == "#repetitions") {
      imb_columns(words);
    } else if (std::isdigit(static_cast<unsigned char>(words[0][0]))) {
      read_row(words);
    }
  }

  void osu_title(const std::string& line) {
    samples_.benchmark = "OSU";
    table_ = InputTable();
    static const std::regex title(
        R"(^# (?:OSU|OMB Python) MPI(?:-[A-Z]+)? (?:MPI_)?(.*?) *(Latency|Bandwidth|) Test.*)");
    std::smatch match;
    if (!std::regex_match(line, match, title)) return;
    const std::string kind = match[1], unit = match[2];
    if (unit == "Bandwidth") {
      if (kind.empty()) table_.pattern = "window";
    } else if (kind.empty() || kind == "Multi" || kind == "Multi Pairs") {
      table_.pattern = "pingpong";
    } else {
      table_.pattern = collective_pattern(kind);
    }
  }

  void osu_columns(const std::string& line) {
    const std::vector<std::string> columns = columns_of(line);
    table_.size_column = 0;
    table_.is_open = true;
    for (size_t i = 1; i < columns.size(); ++i) {
      const std::string column = lower(columns[i]);
      const bool is_time = column.find("latency") != std::string::npos;
      const bool is_rate = column.find("mb/s") != std::string::npos;
      if (!is_time && !is_rate) continue;
      if (is_time && column.find("(us)") == std::string::npos)
        fail(fmt::format("'{}' is not in microseconds", columns[i]));
      // Of several columns take the minimum, as calibrate does.
      if (table_.value_column > 0 && column.rfind("min", 0) != 0) continue;
      table_.value_column = static_cast<int>(i);
      table_.is_rate = is_rate;
    }
    if (table_.value_column < 0 && !table_.pattern.empty())
      fail("no column with a latency or a bandwidth");
  }

  static std::string imb_pattern(const std::string& name) {
    const std::string key = lower(name);
    if (key == "pingpong" || key == "pingping" || key == "sendrecv" || key == "exchange")
      return key;
    return collective_pattern(name);
  }

  void imb_columns(const std::vector<std::string>& columns) {
    table_.is_open = true;
    table_.size_column = columns[0] == "#bytes" ? 0 : -1;
    for (const char* name : {"t[usec]", "t_avg[usec]"}) {
      const auto found = std::find(columns.begin(), columns.end(), name);
      if (found != columns.end()) table_.value_column = static_cast<int>(found - columns.begin());
    }
    if (table_.value_column < 0 && !table_.pattern.empty())
      fail("no column t[usec] or t_avg[usec]");
  }

  void read_row(const std::vector<std::string>& words) {
    if (samples_.benchmark.empty() || samples_.benchmark == "np.out") return np_out_row(words);
    if (!table_.is_open || table_.pattern.empty()) return;
    if (words.size() <= static_cast<size_t>(std::max(table_.value_column, table_.size_column)))
      fail("the row is truncated");
    const double bytes = table_.size_column < 0 ? 0 : number(words[table_.size_column]);
    const double value = number(words[table_.value_column]);
    if (!table_.is_rate) return add(bytes, value * table_.scale, 1);
    if (value > 0) add(bytes, window_ * bytes / (value * 1e6), window_);
  }

  void np_out_row(const std::vector<std::string>& words) {
    if (words.size() != 3) return;
    samples_.benchmark = "np.out";
    table_.pattern = "pingpong";
    const double bytes = number(words[0]), rate = number(words[1]), seconds = number(words[2]);
    // Check that rate and time agree, so that other tables of three numbers are not accepted.
    if (bytes > 64 && std::abs(rate * 131072 * seconds / bytes - 1) > 0.05 &&
        std::abs(rate * 125000 * seconds / bytes - 1) > 0.05) {
      fail(std::string("this is ") + kWhatIsRead);
    }
    add(bytes, seconds, 1);
  }

  std::string file_;
  int window_;
  int number_ = 0;
  InputTable table_;
  ForeignSamples samples_;
};

}  // namespace

ForeignSamples read_foreign_samples(const std::string& file, int window) {
  ForeignSamples samples = Reader(file, window).read();
  if (samples.benchmark == "np.out") samples.benchmark = "NetPIPE";
  return samples;
}

std::vector<SampleRow> as_calibrated(std::vector<SampleRow> rows) {
  std::map<double, double> pingpong;
  for (const SampleRow& row : rows) {
    if (row.pattern != "pingpong") continue;
    const auto [entry, is_new] = pingpong.emplace(row.bytes, row.seconds);
    if (!is_new) entry->second = std::min(entry->second, row.seconds);
  }
  std::vector<SampleRow> calibrated;
  for (SampleRow row : rows) {
    if (row.pattern == "sendrecv" && !pingpong.empty()) row.pattern = "head_to_head";
    // Exchanges with both neighbours at once, unlike calibrate's pattern of two ranks.
    if (row.pattern == "exchange") row.pattern = "imb_exchange";
    if (row.pattern != "window") {
      calibrated.push_back(row);
      continue;
    }
    // The window ends when the short answer has arrived.
    const auto alone = pingpong.find(row.bytes);
    if (alone == pingpong.end()) continue;
    SampleRow single = row;
    single.pattern = "single";
    single.messages = 1;
    single.seconds = alone->second;
    row.pattern = "burst";
    row.seconds = std::max(row.seconds - pingpong.begin()->second, single.seconds);
    calibrated.push_back(row);
    calibrated.push_back(single);
  }
  return calibrated;
}

}  // namespace rubato
