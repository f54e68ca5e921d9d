#include "tools/options/job_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/scenario/placement_changes.h"
#include "replay/sources/input_format.h"
#include "tools/options/options.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const Words kKeys = {"nodes", "start", "ppn"};

[[noreturn]] void refuse_job(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format("--with '{}': {}", text, why));
}

int parse_per_node(const std::string& value) {
  int count = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool is_whole = result.ec == std::errc() && result.ptr == value.data() + value.size();
  return is_whole && count > 0 ? count : throw InputError("write ppn=RANKS_PER_NODE");
}

void set(OtherJob& job, const std::string& key, const std::string& value) {
  if (key == "nodes") {
    job.nodes = parse_nodes(value);
  } else if (key == "ppn") {
    job.ranks_per_node = parse_per_node(value);
  } else {
    job.start = parse_seconds(value);
    if (!(job.start >= 0) || !std::isfinite(job.start))
      throw InputError("start= must not be negative: write start=TIME, as in start=2s");
  }
}

}  // namespace

OtherJob parse_other_job(const std::string& text) {
  size_t at = text.rfind('@');
  const bool is_path = at == text.npos || text.find('=', at) == text.npos ||
                       std::filesystem::exists(text);  // a path may contain an '@'
  if (is_path) at = text.npos;
  OtherJob job;
  std::set<std::string> keys;
  job.path = text.substr(0, at);
  if (job.path.empty()) refuse_job(text, "expected the name of an archive");
  if (at == std::string::npos) return job;
  size_t begin = at + 1;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = std::min(part.find('='), part.size());
    const std::string key = part.substr(0, equals);
    if (equals == part.size() || std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      refuse_job(text, fmt::format("'{}' is none of nodes=LIST, start=TIME, ppn=RANKS_PER_NODE{}",
                                   part, did_you_mean(key, kKeys)));
    }
    if (!keys.insert(key).second) refuse_job(text, fmt::format("has {}= twice", key));
    try {
      set(job, key, part.substr(equals + 1));
    } catch (const InputError& error) {
      refuse_job(text, error.what());
    }
  }
  return job;
}

std::vector<OtherJob> other_jobs(const po::variables_map& values, const ReplayOptions& options) {
  std::vector<OtherJob> jobs;
  if (!values.count("with")) return jobs;
  if (options.wildcards_by_arrival)
    throw UsageError("--with cannot be combined with --wildcards arrival");
  for (const std::string& text : values["with"].as<Words>()) jobs.push_back(parse_other_job(text));
  for (OtherJob& job : jobs)
    job.source = open_trace(job.path, {options.ignore_offsets, options.threads});
  return jobs;
}

void notice_unfelt_jobs(const Results& results) {
  const bool any = std::any_of(results.scenarios.begin(), results.scenarios.end(),
                               [](const ScenarioResult& each) { return !each.jobs.empty(); });
  // (A scenario that deadlocks has no times and is reported separately.)
  const bool fails = std::any_of(results.scenarios.begin(), results.scenarios.end(),
                                 [](const ScenarioResult& each) { return !each.deadlock.empty(); });
  if (any || fails) return;
  fmt::print(stderr,
             "rubato: --with has no effect: no scenario has a network with shared links "
             "(share/doc/networks.md)\n");
}

}  // namespace rubato
