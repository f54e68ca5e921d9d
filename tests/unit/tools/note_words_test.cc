#include "tools/words/note_words.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

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
