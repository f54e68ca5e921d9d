#include "tools/checkpoint_key.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "replay/archive/archive.h"

namespace rubato {
namespace {

/// Size and time of the last change.
std::string state_of(const struct stat& status) {
  return fmt::format("{} {}.{:09}\n", status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

/// The same behind its name; the name alone where there is no such file.
std::string state_of(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto whole = std::filesystem::weakly_canonical(file, ignored).string();
  struct stat status {};
  if (stat(whole.c_str(), &status) != 0) return whole + "\n";
  return whole + " " + state_of(status);
}

/// How many files the archive's directory of events has, and a checksum of their states: there may
/// be a file for each of 100,000 ranks.
std::string states_of_events(const std::filesystem::path& directory) {
  std::vector<std::string> states;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(directory, ignored), end; entry != end;
       entry.increment(ignored)) {
    struct stat status {};
    if (stat(entry->path().c_str(), &status) == 0)
      states.push_back(entry->path().filename().string() + " " + state_of(status));
  }
  std::sort(states.begin(), states.end());
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, ~uint64_t{0}, ~uint64_t{0}, true, true> sum;
  for (const std::string& state : states) sum.process_bytes(state.data(), state.size());
  return fmt::format("{} files, {:016x}\n", states.size(), sum.checksum());
}

}  // namespace

std::string checkpoint_key(const std::string& archive, const std::vector<Scenario>& scenarios,
                           const std::set<std::string>& inputs, const std::string& words) {
  std::filesystem::path anchor = archive;
  std::error_code ignored;
  if (std::filesystem::is_directory(anchor, ignored)) anchor = find_anchor(archive);
  std::string key = state_of("/proc/self/exe") + state_of(anchor) +
                    state_of(std::filesystem::path(anchor).replace_extension(".def")) +
                    states_of_events(std::filesystem::path(anchor).replace_extension()) + words +
                    "\n";
  for (const Scenario& scenario : scenarios) key += scenario.name + "\n";
  for (const std::string& file : inputs) key += state_of(std::filesystem::path(file));
  return key;
}

}  // namespace rubato
