#include "tests/fuzz/killed_run_target.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "tests/fixture/killed_run.h"
#include "tests/fuzz/target_parts.h"
#include "tracer/archive/event_writer.h"
#include "tracer/layout/segment.h"
#include "tracer/recover/recover.h"

namespace fs = std::filesystem;
using namespace rubato;

namespace {

constexpr uint64_t kMostSegmentBytes = 4 * kSegmentBytes;

/// A segment again, with the zeros behind it.
std::string whole_segment(std::string content, bool keep_checksum) {
  SegmentHeader header{};
  std::memcpy(&header, content.data(), std::min(content.size(), sizeof header));
  const bool plausible = header.bytes % kSegmentBytes == 0 && header.bytes <= kMostSegmentBytes;
  const uint64_t least = std::max<uint64_t>(content.size(), plausible ? header.bytes : 1);
  content.resize((least + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes, '\0');
  if (keep_checksum || header.checksum == 0 || header.bytes != content.size()) return content;
  std::vector<uint64_t> words(content.size() / sizeof(uint64_t));
  std::memcpy(words.data(), content.data(), content.size());
  header.checksum = segment_checksum(words.data(), words.size());
  std::memcpy(content.data(), &header, sizeof header);
  return content;
}

void unpack_killed_run(const std::string& bytes, const fs::path& directory) {
  fs::remove_all(directory);
  fs::create_directories(directory);
  const bool keep_checksums = !bytes.empty() && bytes[0] == 'k';
  std::string name, content;
  for (size_t at = 1; unpack_file(bytes, at, name, content);) {
    const fs::path path = directory / fs::path(name).filename();
    if (path.extension() == ".records") {
      const std::string before = fs::exists(path) ? file_bytes(path) : "";
      put_file(path, before + whole_segment(content, keep_checksums));
    } else if (path.extension() == ".journal" || name == "INCOMPLETE") {
      put_file(path, content);
    }
  }
}

/// Inconsistent ranks: collectives that differ, messages and collectives without partners. An
/// erroneous program leaves such records as well, and only a replay detects them.
bool is_of_several_ranks(const std::string& refusal) {
  return refusal.find(" differs in operation or root from the one of ") != std::string::npos ||
         refusal.find("the recording cannot be replayed") != std::string::npos;
}

std::string packed_killed_run(const fs::path& directory) {
  std::string packed = "r";
  for (const fs::path& file : files_below(directory)) {
    const std::string content = file_bytes(file);
    const bool records = file.extension() == ".records";
    const size_t step = records ? kSegmentBytes : std::max<size_t>(content.size(), 1);
    for (size_t at = 0; at < content.size(); at += step) {
      std::string part = content.substr(at, step);
      if (records) part.resize(part.find_last_not_of('\0') + 1);
      pack_file(packed, file.filename(), part);
    }
  }
  return packed;
}

}  // namespace

void read_killed_run(const std::string& bytes) {
  const fs::path records = fuzz_directory() / "killed", output = fuzz_directory() / "recovered";
  unpack_killed_run(bytes, records);
  fs::remove_all(output);
  RecoverTask task;
  task.directories = {records};
  task.output = output;
  task.keep = true;
  otf2_failed = false;  // by a reader, before
  try {
    recover(task);
  } catch (const RecoverError& error) {
    check_refusal(error);
    if (fs::exists(output)) throw std::logic_error("half an archive is left");
    if (std::string_view(error.what()).find("writing failed") != std::string_view::npos)
      throw std::logic_error("OTF2 refuses what is written");
    return;
  }
  try {
    replay_everywhere(output.string());
  } catch (const InputError& error) {
    if (is_of_several_ranks(error.what())) return;
    throw std::logic_error(std::string("the archive is refused: ") + error.what());
  }
}

std::vector<std::string> killed_run_seeds(const std::string&) {
  std::vector<std::string> seeds;
  for (const KilledRun& run : {KilledRun{2, 2, false}, KilledRun{3, 4, true}}) {
    const fs::path directory = fuzz_directory() / "killed_seed";
    fs::remove_all(directory);
    write_killed_run(run, directory);
    seeds.push_back(packed_killed_run(directory));
  }
  return seeds;
}
