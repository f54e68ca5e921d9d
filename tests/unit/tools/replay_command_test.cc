// Commands that reports print, to be copied into a shell.

#include "tools/options/replay_command.h"

#include <catch2/catch.hpp>

#include "tools/options/options.h"
#include "tools/options/scenario_options.h"

using namespace rubato;

TEST_CASE("an archive is called as in the shell, and is no option") {
  const std::pair<const char*, const char*> names[] = {{"run.otf2dir/traces.otf2", "run.otf2dir"},
                                                       {"traces.otf2", "traces.otf2"},
                                                       {"a b/run.otf2", "'a b/run.otf2'"},
                                                       {"it's.txt", "'it'\\''s.txt'"},
                                                       {"-run.txt", "./-run.txt"},
                                                       {"-a b/traces.otf2", "'./-a b'"}};
  for (const auto& [path, word] : names) {
    TraceSummary trace;
    trace.path = path;
    CHECK(archive_word(trace) == word);
  }
}

TEST_CASE("suggested commands repeat the given options") {
  boost::program_options::options_description options;
  add_engine_options(options);
  options.add_options()("json", boost::program_options::value<std::string>());
  boost::program_options::variables_map values;
  REQUIRE(parse_options({"--json", "x", "--overhead", "outside=30us", "--keep-stolen", "--threads",
                         "2", "--polling=keep"},
                        {"", "", ""}, options, "archive", false, values));
  Results results;
  results.trace.path = "run.txt";
  results.asked_with = engine_words(values);
  // Threads change nothing, and the JSON file is of this call.
  CHECK(ask_again("replay", results, "--on perfect") ==
        "rubato replay run.txt --on perfect --overhead outside=30us --keep-stolen --polling keep");
  results.asked_with.clear();
  CHECK(ask_again("replay", results, "") == "rubato replay run.txt");
}

TEST_CASE("a command breaks at its options, not within quotes") {
  const auto pieces = [](const std::string& command) { return options_of(command); };
  using Pieces = std::vector<std::string>;
  CHECK(pieces("rubato replay a --on b --on 'c d'") ==
        Pieces{"rubato replay a", " --on b", " --on 'c d'"});
  CHECK(pieces("rubato replay 'a --on b' --on c") == Pieces{"rubato replay 'a --on b'", " --on c"});
  CHECK(pieces("rubato replay 'it'\\''s --x' --on c") ==
        Pieces{"rubato replay 'it'\\''s --x'", " --on c"});
  CHECK(pieces("") == Pieces{""});
}
