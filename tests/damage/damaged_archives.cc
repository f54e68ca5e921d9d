// Replays of damaged archives.
//
//   damaged_archives [--seed N] [--flips N] [--cuts N] [--archive DIRECTORY] [--only "VARIANT"]
//
// Damages valid archives in one place at a time: truncated files (at every chunk border, and at N
// places of each file), flipped bits (N in all files, seeded), an overwritten first record of a
// chunk, missing files, messages with only one side recorded. Each variant is replayed in a process
// of its own, which must end within limits of time and memory, with results or with one line that
// names the file and, for events, the rank. --archive damages a copy of that archive instead of a
// generated one; --only repeats a variant by the name in the failure message.

#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/otf2_archive.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace fs = std::filesystem;
using rubato::InputError;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // which reserves address space without end, and is slow
#else
constexpr bool kSanitized = false;
#endif
constexpr unsigned kMostSeconds = kSanitized ? 60 : 20;
constexpr rlim_t kMostMemory = rlim_t{2} << 30;
constexpr uint64_t kChunk = 256 << 10;  ///< bytes: the chunks of event files made here

/// Levels of every distance, with messages by pull and by push.
constexpr char kPlatform[] = R"(
  format = 1
  [level.self]
  transfer = [ { from = "0B", latency = "100ns", bandwidth = "10GB/s" } ]
  [level.node]
  transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
  protocol = [ { from = "0B", kind = "eager" }, { from = "4KiB", kind = "pull" },
               { from = "16KiB", kind = "push" } ]
  [level.network]
  transfer = [ { from = "0B", latency = "2us", bandwidth = "1GB/s" } ]
  protocol = [ { from = "0B", kind = "eager" }, { from = "64B", kind = "async" } ]
)";

std::vector<rubato::Scenario> scenarios() {
  rubato::Scenario platform;
  platform.name = "platform";
  platform.platform = rubato::parse_platform(kPlatform, "platform");
  return {rubato::parse_scenario("measured"), rubato::parse_scenario("undisturbed"),
          rubato::parse_scenario("perfect"), platform,
          rubato::parse_scenario("bandela:latency=1us,bandwidth=1GB/s,collectives=openmpi")};
}

// --- One variant ---

struct Outcome {
  bool replayed = false;
  bool refused = false;
  std::string text;  ///< the refusal, or how it ended else; of what was replayed the report
  double seconds = 0;
  long kilobytes = 0;  ///< most memory at a time
};

/// In the child: replays the archive and says in one character how that ended, then why.
[[noreturn]] void replay_here(const std::string& archive, int threads, int out) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit memory{kMostMemory, kMostMemory};
  if (!kSanitized) setrlimit(RLIMIT_AS, &memory);
  alarm(kMostSeconds);
  dup2(out, STDERR_FILENO);  // what libraries and sanitizers have to say
  char how = '?';
  std::string text;
  try {
    rubato::ReplayOptions options;
    options.threads = threads;
    options.verify = options.wait_states = true;
    const rubato::Results results = rubato::run_replay(archive, scenarios(), options);
    text = rubato::report_text(results, {.width = 1000});
    text += rubato::report_json(results);
    how = 'r';
  } catch (const InputError& error) {
    text = error.what();
    how = 'e';
  } catch (const std::exception& error) {
    text = fmt::format("neither results nor an InputError: {}", error.what());
  }
  text.insert(text.begin(), how);
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(out, text.data() + done, text.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  _exit(how == '?' ? 3 : 0);
}

Outcome attempt(const std::string& archive, int threads) {
  const auto start = std::chrono::steady_clock::now();
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe() failed");
  fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork() failed");
  if (child == 0) {
    close(ends[0]);
    replay_here(archive, threads, ends[1]);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    outcome.text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  outcome.seconds = taken.count();
  outcome.kilobytes = usage.ru_maxrss;
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !outcome.text.empty();
  const char how = ended_well ? outcome.text[0] : '?';
  outcome.replayed = how == 'r';
  outcome.refused = how == 'e';
  if (how != '?') {
    outcome.text.erase(0, 1);
  } else if (WIFSIGNALED(status)) {
    outcome.text = fmt::format("{} ({}) {}", WTERMSIG(status) == SIGALRM ? "hangs" : "crashes",
                               strsignal(WTERMSIG(status)), outcome.text);
  }
  return outcome;
}

/// The possible outcomes of a variant.
struct Expected {
  bool may_replay = true;
  bool may_refuse = true;
  std::string words = {};  ///< that a refusal, or the report, has to say
};

/// The error in an outcome; "" if it is correct.
std::string complaint(const Outcome& outcome, const Expected& expected,
                      const std::string& archive) {
  if (!outcome.replayed && !outcome.refused) return outcome.text;
  if (outcome.replayed && !expected.may_replay) return "was replayed as if nothing were wrong";
  if (outcome.refused && !expected.may_refuse) return "was refused: " + outcome.text;
  if (outcome.text.find(expected.words) == std::string::npos)
    return fmt::format("does not say '{}': {}", expected.words, outcome.text);
  if (!kSanitized && outcome.kilobytes * 1024.0 > static_cast<double>(kMostMemory) / 2)
    return fmt::format("took {} MB", outcome.kilobytes >> 10);
  if (outcome.replayed) return "";
  if (outcome.text.find(archive) != 0) return "does not name the file: " + outcome.text;
  const bool one_line = std::none_of(outcome.text.begin(), outcome.text.end(),
                                     [](unsigned char c) { return std::iscntrl(c); });
  return one_line ? "" : "is not one line: " + outcome.text;
}

// --- All of them ---

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), bytes.size());
}

/// Damages an archive, looks what happens, and mends it again.
class Damager {
 public:
  Damager(fs::path archive, std::string only) : archive_(std::move(archive)), only_(only) {
    for (const auto& entry : fs::recursive_directory_iterator(archive_)) {
      if (entry.is_regular_file()) files_.push_back(fs::relative(entry.path(), archive_).string());
    }
    std::sort(files_.begin(), files_.end());
    for (const std::string& file : files_) whole_[file] = read_file(archive_ / file);
  }

  const std::vector<std::string>& files() const { return files_; }
  size_t size(const std::string& file) const { return whole_.at(file).size(); }

  /// One or two threads read the unchanged archive.
  void look(const std::string& kind, const std::string& name, const Expected& expected,
            int threads = 1) {
    if (!only_.empty() && name != only_) return;
    const Outcome outcome = attempt(archive_.string(), threads);
    if (!only_.empty()) fmt::print("{}\n", outcome.text);
    Count& count = counts_[kind];
    ++count.variants;
    count.replayed += outcome.replayed ? 1 : 0;
    count.refused += outcome.refused ? 1 : 0;
    slowest_ = std::max(slowest_, outcome.seconds);
    largest_ = std::max(largest_, outcome.kilobytes);
    const std::string wrong = complaint(outcome, expected, archive_.string());
    if (wrong.empty()) return;
    ++failed_;
    fmt::print("FAIL {}: {}\n", name, wrong.substr(0, 2000));
  }

  void cut(const std::string& file, size_t to, const Expected& expected) {
    const std::string& whole = whole_.at(file);
    damaged(file, whole.substr(0, to), "cut", fmt::format("cut {} to {}", file, to), expected);
  }
  void flip(const std::string& file, size_t byte, unsigned bit) {
    std::string bytes = whole_.at(file);
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1 << bit);
    damaged(file, bytes, "flip", fmt::format("flip {} byte {} bit {}", file, byte, bit), {},
            byte % 2 ? 2 : 1);
  }
  void overwrite(const std::string& file, size_t byte, size_t count, char with,
                 const Expected& expected) {
    std::string bytes = whole_.at(file);
    bytes.replace(byte, count, std::min(count, bytes.size() - byte), with);
    damaged(file, bytes, "overwrite",
            fmt::format("overwrite {} bytes {} to {} with {:#x}", file, byte, byte + count - 1,
                        static_cast<unsigned char>(with)),
            expected);
  }
  void remove(const std::string& file, const Expected& expected) {
    if (!only_.empty() && only_ != "remove " + file) return;
    fs::rename(archive_ / file, archive_ / "aside");
    look("missing", "remove " + file, expected);
    fs::rename(archive_ / "aside", archive_ / file);
  }

  /// False when a variant failed.
  bool report(const char* what) const {
    fmt::print("{}:", what);
    for (const auto& [kind, count] : counts_) {
      fmt::print(" {} {} ({} replayed, {} refused);", count.variants, kind, count.replayed,
                 count.refused);
    }
    fmt::print(" at most {:.2f} s and {} MB; {} failed\n", slowest_, largest_ >> 10, failed_);
    return failed_ == 0;
  }

 private:
  struct Count {
    int variants = 0, replayed = 0, refused = 0;
  };

  void damaged(const std::string& file, const std::string& bytes, const char* kind,
               const std::string& name, const Expected& expected, int threads = 1) {
    if (!only_.empty() && name != only_) return;
    write_file(archive_ / file, bytes);
    look(kind, name, expected, threads);
    write_file(archive_ / file, whole_.at(file));
  }

  fs::path archive_;
  std::string only_;
  std::vector<std::string> files_;
  std::map<std::string, std::string> whole_;
  std::map<std::string, Count> counts_;
  double slowest_ = 0;
  long largest_ = 0;
  int failed_ = 0;
};

struct Arguments {
  uint64_t seed = 20261121;
  int flips = 120;
  int cuts = 5;
  std::string archive;
  std::string only;
};

bool is_events(const std::string& file) {
  return fs::path(file).extension() == ".evt";
}

/// The text that an error about damaged events must contain: the location, by its rank or its
/// number.
Expected refusal_of(const std::string& file) {
  if (is_events(file)) return {false, true, "location " + fs::path(file).stem().string() + " ("};
  if (file.find('/') != std::string::npos)
    return {false, true,
            "the local definitions of location " + fs::path(file).stem().string() + " ("};
  return {false, true, ""};
}

void cut_files(Damager& damager, const Arguments& arguments, bool at_borders) {
  std::mt19937_64 random(arguments.seed);
  for (const std::string& file : damager.files()) {
    const size_t size = damager.size(file);
    if (size < 2) continue;
    const Expected expected = refusal_of(file);
    if (at_borders) {
      for (size_t border = kChunk; border < size; border += kChunk) {
        for (const size_t at : {border - 1, border, border + 1}) damager.cut(file, at, expected);
      }
    }
    damager.cut(file, 0, expected);
    // The last byte, that of definitions apart, says no more than that something ends.
    damager.cut(file, size - 1, fs::path(file).extension() == ".def" ? expected : Expected{});
    for (int i = 0; i < arguments.cuts; ++i) damager.cut(file, random() % (size - 1), expected);
  }
}

void flip_bits(Damager& damager, const Arguments& arguments) {
  std::mt19937_64 random(arguments.seed);
  for (int i = 0; i < arguments.flips; ++i) {
    const std::string& file = damager.files()[random() % damager.files().size()];
    const size_t byte = random() % std::max<size_t>(1, damager.size(file));
    const auto bit = static_cast<unsigned>(random() % 8);
    const size_t count = 1 + random() % 8;
    const char with = random() % 2 ? '\xff' : '\0';
    if (damager.size(file) == 0) continue;
    if (i % 4 < 3)
      damager.flip(file, byte, bit);
    else
      damager.overwrite(file, byte, count, with, {});
  }
}

/// No record where a chunk's first one should stand: behind its header (18 bytes), or behind the
/// time that is before it (9 bytes).
void remove_first_records(Damager& damager) {
  for (const std::string& file : damager.files()) {
    if (!is_events(file)) continue;
    for (size_t chunk = 0; chunk < damager.size(file); chunk += kChunk) {
      for (const size_t byte : {chunk + 18, chunk + 27})
        damager.overwrite(file, byte, 1, '\0', refusal_of(file));
    }
  }
}

void remove_files(Damager& damager) {
  for (const std::string& file : damager.files()) {
    Expected expected = refusal_of(file);
    if (fs::path(file).extension() == ".otf2") expected.words = "there is no .otf2 file";
    damager.remove(file, expected);
  }
}

bool check(const char* what, const fs::path& archive, const Arguments& arguments, bool at_borders,
           bool flips) {
  Damager damager(archive, arguments.only);
  damager.look("whole", "whole", {true, false, "Verified"});
  cut_files(damager, arguments, at_borders);
  remove_files(damager);
  remove_first_records(damager);
  if (flips) flip_bits(damager, arguments);
  return damager.report(what);
}

/// The sends of one rank are not on record.
bool check_missing_sends(const fs::path& archive) {
  SmallProgram program;
  program.no_sends_of = 2;
  write_archive(small_program(program), archive.string());
  Damager damager(archive, "");
  damager.look(
      "without sends", "no sends of rank 2",
      {true, false, fmt::format("{} receives without a send", program.steps * kSendsOfStep)});
  return damager.report("messages without a partner");
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const std::map<std::string, std::function<void(const std::string&)>> options = {
      {"--seed", [&](const std::string& text) { arguments.seed = std::stoull(text); }},
      {"--flips", [&](const std::string& text) { arguments.flips = std::stoi(text); }},
      {"--cuts", [&](const std::string& text) { arguments.cuts = std::stoi(text); }},
      {"--archive", [&](const std::string& text) { arguments.archive = text; }},
      {"--only", [&](const std::string& text) { arguments.only = text; }}};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) throw std::runtime_error(fmt::format("{}: a value is missing", argv[i]));
    options.at(argv[i])(argv[i + 1]);
  }
  return arguments;
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::string work = (fs::temp_directory_path() / "rubato-damage-XXXXXX").string();
  if (!mkdtemp(work.data())) throw std::runtime_error(work + ": cannot be made");
  bool good = true;
  if (!arguments.archive.empty()) {
    fs::copy(arguments.archive, work + "/copy", fs::copy_options::recursive);
    good = check("copy", work + "/copy", arguments, false, true);
  } else {
    write_archive(small_program({}), work + "/small");
    good = check("small archive", work + "/small", arguments, false, true) && good;
    SmallProgram large;
    large.steps = 900;
    write_archive(small_program(large), work + "/chunks");
    good = check("archive of several chunks", work + "/chunks", arguments, true, false) && good;
    good = check_missing_sends(work + "/sends") && good;
  }
  fs::remove_all(work);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "damaged_archives: {}\n", error.what());
    return 2;
  }
}
