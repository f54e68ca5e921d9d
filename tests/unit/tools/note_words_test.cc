#include "tools/words/note_words.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "replay/trace/oversubscription.h"

using namespace rubato;

TEST_CASE("each note is a sentence for one and for several") {
  TraceSummary trace;
  ScenarioResult scenario;
  scenario.degradation_fit.emplace();
  trace.clock_repair.emplace();
  std::set<std::string> sentences;
  for (size_t kind = 0; kind < kNoteKinds; ++kind) {
    Note note;
    note.kind = static_cast<NoteKind>(kind);
    note.what = "rank 3";
    note.trace = &trace;
    note.scenario = &scenario;
    for (note.count = 1; note.count <= 2; ++note.count) {
      INFO(kind << ": " << sentence(note));
      CHECK(sentence(note).size() > 5);
      if (note.count == 2) CHECK(sentences.insert(sentence(note)).second);
      CHECK(sentence(note).find_first_of("{}<>|") == std::string::npos);
    }
  }
  Note open;
  open.kind = NoteKind::kOpenReceives;
  open.what = "rank 3";
  open.count = 1;
  CHECK(sentence(open) ==
        "1 posted receive never completes in the archive, the first at rank 3: it is left out");
  open.count = 1234;
  CHECK(sentence(open) ==
        "1,234 posted receives never complete in the archive, the first at rank 3: they are left "
        "out");
}

TEST_CASE("a note on several scenarios is one line") {
  std::vector<ScenarioResult> scenarios(3);
  for (size_t i = 0; i < 3; ++i) {
    scenarios[i].name = std::string(1, static_cast<char>('a' + i));
    scenarios[i].no_ports = i < 2;
    scenarios[i].contradicted_outcomes = i < 1 ? 1 : 2;
    scenarios[i].contradicted_time = 1;
  }
  const std::vector<std::string> lines = caveats(scenarios);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("a: 1 outcome of MPI_Test"));
  CHECK(lines[1].starts_with("a, b: the model has no ports"));
  CHECK(lines[2].starts_with("b, c: 2 outcomes of MPI_Test"));
}

// The mean rank lost its core for 0.3 of 2 s.
TEST_CASE("that ranks shared cores and that they lost them is one note") {
  Results results;
  ScenarioResult& measured = results.scenarios.emplace_back();
  measured.name = "measured";
  measured.elapsed = 2;
  RankResult& rank = measured.ranks.emplace_back();
  rank.compute = 1.7;
  rank.lost_core = 0.3;
  rank.end = 2;
  results.trace.notes = {"2 ranks had 1 core on node 'n0'" + std::string(kTimeWithoutCores), "x"};
  const std::vector<std::string> lines = caveats(Roles(results));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "x");
  CHECK(lines[1] ==
        "the mean rank was descheduled for 300.0 ms (15.0 %); 2 ranks had 1 core on node 'n0': "
        "undisturbed and platforms exclude this time (--keep-stolen includes it).");
}
