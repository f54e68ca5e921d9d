// The driver of several launches. It knows nothing of MPI: the words behind "--" start ranks, and
// each rank runs `rubato calibrate` as if typed by hand. A launch writes into a directory of its
// own beside the output, so that the nodes of a cluster see it, and only complete files of a launch
// are read.
#include "tools/launch/launches.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "models/base/error.h"
#include "tools/files/whole_file.h"
#include "tools/format/numbers.h"
#include "tools/launch/child.h"
#include "tools/launch/flavour.h"

namespace fs = std::filesystem;

namespace rubato {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;
extern "C" void on_stop(int) {
  told_to_stop = 1;
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A directory beside the output that goes with everything in it.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& csv) {
    const fs::path parent = fs::absolute(csv).parent_path();
    path_ = (parent / ("." + fs::path(csv).stem().string() + "-launches-XXXXXX")).string();
    if (!mkdtemp(path_.data())) {
      throw InputError(fmt::format("{}: no directory can be made there: {}", parent.string(),
                                   std::strerror(errno)));
    }
  }
  ~WorkDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Where a launch writes its single observations.
std::string raw_of(const std::string& csv) {
  return csv + ".raw";
}

/// The launches of one run.
class Driver {
 public:
  explicit Driver(const LaunchPlan& plan) : plan_(plan), directory_(plan.csv) {}

  void run() {
    int failures = 0;  // one after the other
    for (int launch = 1; launch <= plan_.launches && !told_to_stop; ++launch) {
      if (launch_once(launch)) {
        failures = 0;
      } else if (!told_to_stop && (whole_.empty() || ++failures == 2)) {
        break;
      }
    }
    show_progress("");
    if (whole_.empty() && cut_.empty()) {
      throw InputError(failed_.empty()
                           ? "told to stop before the first launch was done; nothing was written"
                           : failed_.front());
    }
    for (const std::string& failure : failed_)
      print_to_stderr(fmt::format("rubato: {}; left out", failure));
    if (told_to_stop) {
      print_to_stderr(fmt::format(
          "rubato: told to stop; {}",
          whole_.empty() ? "the only launch is cut short, and is kept"
                         : fmt::format("the {} that are done are kept", whole_.size())));
    }
  }

  /// Complete sample files; if there are none, the partial one.
  const std::vector<std::string>& samples() const { return whole_.empty() ? cut_ : whole_; }
  bool complete() const { return static_cast<int>(whole_.size()) == plan_.launches; }

 private:
  /// True when there is a whole file of samples more.
  bool launch_once(int launch) {
    const std::string stem = fmt::format("{}", launch);
    const std::string csv = directory_.file(stem + ".csv");
    std::vector<std::string> words = plan_.launcher;
    words.push_back(fs::read_symlink("/proc/self/exe").string());
    words.insert(words.end(), {"calibrate", "-o", directory_.file(stem + ".toml"), "--launch", stem,
                               "--samples-only"});
    words.insert(words.end(), plan_.options.begin(), plan_.options.end());
    if (!plan_.raw.empty()) words.insert(words.end(), {"--raw", raw_of(csv)});
    words.insert(words.end(), {"--plan", write_plan(stem)});
    const std::string log = directory_.file(stem + ".log");
    double seconds = 0;
    const ChildEnd end = run_child(words, log, [&](double passed) {
      seconds = passed;
      show_progress(progress(launch, passed));
      return told_to_stop != 0;
    });
    if (end.stopped || told_to_stop) {
      if (fs::exists(csv)) cut_.push_back(csv);
      return false;
    }
    if (end.fine() && fs::exists(csv)) {
      whole_.push_back(csv);
      seconds_ += seconds;
      return true;
    }
    std::string complaint = complaint_in(content_of(log));
    complaint.resize(std::min(complaint.size(), complaint.find("; what messages took before")));
    failed_.push_back(fmt::format("launch {}: {} {}{}", launch, plan_.launcher[0],
                                  end.fine() ? "left no samples" : end.text(),
                                  complaint.empty() ? "" : ": " + complaint));
    return false;
  }

  /// The experiments of a launch, with the lengths that the first one chose; in a file here, since
  /// a launcher may start elsewhere, or on nodes that do not see the user's.
  std::string write_plan(const std::string& stem) const {
    CalibrationPlan plan = plan_.experiments;
    if (!plan.partners.empty()) plan.partners = fs::absolute(plan.partners).string();
    if (!plan.lengths.empty()) {
      plan.lengths = fs::absolute(plan.lengths).string();
    } else if (!whole_.empty()) {
      plan.lengths = whole_.front();
    }
    WholeFile file(directory_.file("plan-" + stem + ".toml"));
    file.write(fmt::format("{}\n", fmt::join(changed_keys(plan), "\n")));
    file.commit();
    return directory_.file("plan-" + stem + ".toml");
  }

  std::string progress(int launch, double passed) const {
    std::string text =
        fmt::format("launch {} of {}, {}", launch, plan_.launches, rough_time(passed));
    if (whole_.empty()) return text;
    const double each = seconds_ / static_cast<double>(whole_.size());
    const double left = std::max(0.0, each - passed) + each * (plan_.launches - launch);
    return text + fmt::format("; about {} left", rough_time(left));
  }

  const LaunchPlan& plan_;
  WorkDirectory directory_;
  std::vector<std::string> whole_, cut_, failed_;
  double seconds_ = 0;  // of whole launches
};

}  // namespace

std::string complaint_in(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    const size_t ours = line.find("rubato: ");
    if (ours != std::string::npos) {
      const std::string text = line.substr(ours + std::strlen("rubato: "));
      return text.rfind("error: ", 0) == 0 ? text.substr(std::strlen("error: ")) : text;
    }
    const bool words =
        std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    if (first.empty() && words) first = line.substr(line.find_first_not_of(" \t"));
  }
  return first;
}

void calibrate_in_launches(const LaunchPlan& plan) {
  find_program(plan.launcher[0]);
  WholeFile csv(plan.csv);
  std::optional<WholeFile> raw;
  if (!plan.raw.empty()) raw.emplace(plan.raw);
  for (const std::string& file : plan.made_of_it) WholeFile can_be_written(file);
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  Driver driver(plan);
  driver.run();

  std::string text;
  for (const std::string& samples : driver.samples()) text += content_of(samples);
  const std::string launches =
      driver.complete()
          ? fmt::format("{}", plan.launches)
          : fmt::format("{} of {} that were asked for", driver.samples().size(), plan.launches);
  // Placed before the text of the first launch, which is used if no other launch printed one.
  text.insert(text.find('\n') + 1,
              fmt::format("# command: {}\n# launches: {}\n", plan.command, launches));
  csv.write(text);
  csv.commit();
  if (raw) {
    // One header: what follows it has the number of its launch.
    std::string observations, lacking;
    for (const std::string& samples : driver.samples()) {
      const std::string one = content_of(raw_of(samples));
      if (one.empty()) lacking += (lacking.empty() ? "" : ", ") + fs::path(samples).stem().string();
      observations += observations.empty() ? one : one.substr(one.find('\n') + 1);
    }
    if (!lacking.empty()) {
      print_to_stderr(fmt::format("rubato: warning: launch {} left no single observations; {} {}",
                                  lacking, plan.raw,
                                  observations.empty() ? "was not written" : "lacks them"));
    }
    if (observations.empty()) return;
    raw->write(observations);
    raw->commit();
  }
}

}  // namespace rubato
