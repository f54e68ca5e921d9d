// The command itself, as users type it: `rubato replay ARCHIVE` with its three scenarios, wait
// states and intervals, and the same with a page, beside the bare reading of the archive.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "bare_decode.h"
#include "bars.h"
#include "replay/archive/archive.h"
#include "replays.h"
#include "rows.h"
#include "temporary_archive.h"

namespace {

/// Becomes `rubato replay` of this build, which prints nothing.
[[noreturn]] void become_replay(const std::string& archive, const std::string& page) {
  const std::string rubato =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rubato";
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  if (page.empty())
    execl(rubato.c_str(), "rubato", "replay", archive.c_str(), nullptr);
  else
    execl(rubato.c_str(), "rubato", "replay", archive.c_str(), "--html", page.c_str(), nullptr);
  std::perror(rubato.c_str());
  _exit(1);
}

}  // namespace

void command_rows(const Choice& choice) {
  for (const int ranks : {64, 1024}) {
    const std::string name = "command/halo/" + std::to_string(ranks);
    if (!choice.takes(name)) continue;
    const TemporaryArchive made({Workload::kHalo, ranks, choice.calls(1000000)});
    const std::string anchor = rubato::find_anchor(made.archive());
    const auto locations = locations_of(anchor);
    const std::string page = made.directory() + "/page.html";
    Cost bare{}, command{}, with_page{};
    Turns turns;
    turns.add(bare, [&] { decode_bare(anchor, locations); });
    turns.add(command, [&] { become_replay(made.archive(), ""); });
    turns.add(with_page, [&] { become_replay(made.archive(), page); });
    turns.run();
    std::printf("%-36s bare %.3f s  default %.2f x %.1f MB  --html %.2f x %.1f MB\n", name.c_str(),
                bare.seconds, command.seconds / bare.seconds, command.megabytes,
                with_page.seconds / bare.seconds, with_page.megabytes);
    expect_at_most(name + ": default command / bare decode", command.seconds / bare.seconds, 2.5);
    expect_at_most(name + ": with --html / bare decode", with_page.seconds / bare.seconds, 5);
  }
}
