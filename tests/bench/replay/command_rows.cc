// The command itself, as users type it: `rubato replay ARCHIVE` with its three scenarios, wait
// states and intervals, the same with a platform, and with a page, beside the bare reading of the
// archive.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bare_decode.h"
#include "bars.h"
#include "replay/archive/archive.h"
#include "replays.h"
#include "rows.h"
#include "temporary_archive.h"

namespace {

/// Becomes `rubato replay` of this build on one thread, which prints nothing.
[[noreturn]] void become_replay(const std::string& archive, std::vector<std::string> options) {
  std::vector<std::string> words = {"rubato", "replay", archive, "--threads", "1"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string rubato =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rubato";
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  execv(rubato.c_str(), arguments.data());
  std::perror(rubato.c_str());
  _exit(1);
}

/// What users type after the archive, and its bar: how many times the bare decode it may take.
struct Typed {
  const char* name;
  std::vector<std::string> options;
  double most;
  Cost cost = {};
};

}  // namespace

void command_rows(const Choice& choice) {
  for (const int ranks : {64, 1024}) {
    const std::string name = "command/halo/" + std::to_string(ranks);
    if (!choice.takes(name)) continue;
    const TemporaryArchive made({Workload::kHalo, ranks, choice.calls(1000000)});
    const std::string anchor = rubato::find_anchor(made.archive());
    const auto locations = locations_of(anchor);
    Typed commands[] = {{"default", {}, 3},
                        {"platform", {"--on", "infiniband-hdr:ppn=1"}, 4},
                        {"--html", {"--html", made.directory() + "/page.html"}, 8}};
    Cost bare{};
    Turns turns;
    turns.add(bare, [&] { decode_bare(anchor, locations); });
    for (Typed& command : commands)
      turns.add(command.cost, [&] { become_replay(made.archive(), command.options); });
    turns.run();
    std::printf("%-36s bare %.3f s", name.c_str(), bare.seconds);
    for (const Typed& command : commands) {
      const double ratio = command.cost.seconds / bare.seconds;
      std::printf("  %s %.2f x %.1f MB", command.name, ratio, command.cost.megabytes);
      expect_at_most(name + ": " + command.name + " / bare decode", ratio, command.most);
    }
    std::printf("\n");
  }
}
