// OTF2 archives that are unusual or wrong in one place: either replayed, or refused with one line
// that names the place. tests/damage tests all kinds of damage everywhere.

#include <otf2/otf2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "models/base/error.h"
#include "replay/archive/archive.h"
#include "replay/study/run_replay.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"
#include "tools/words/note_words.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// One with an archive in it.
class Directory : public TemporaryDirectory {
 public:
  std::string archive() const { return path() / "run"; }
  fs::path file(const std::string& name) const { return fs::path(archive()) / name; }
};

Results replay(const Directory& directory, int threads = 0) {
  ReplayOptions options;
  options.threads = threads;
  options.verify = true;
  return run_replay(directory.archive(), {parse_scenario("measured"), parse_scenario("perfect")},
                    options);
}

/// The error for an archive, without its name, which must come first.
std::string refusal(const Directory& directory, int threads = 0) {
  try {
    replay(directory, threads);
  } catch (const InputError& error) {
    const std::string text = error.what();
    const std::string anchor = directory.archive() + "/traces.otf2: ";
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find(anchor) == 0);
    return text.substr(std::min(text.size(), anchor.size()));
  }
  return "no refusal";
}

std::string refusal(const Otf2Archive& what) {
  const Directory directory;
  write_archive(what, directory.archive());
  return refusal(directory);
}

/// Two ranks; `record` is what rank 1 has in an MPI_Send, as its second record.
Otf2Archive with_record(const std::function<void(OTF2_EvtWriter*)>& record) {
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = [record](OTF2_EvtWriter* writer, const MadeLocation& location) {
    OTF2_EvtWriter_Enter(writer, nullptr, 10, kMpiSend);
    if (location.id == 1) record(writer);
    OTF2_EvtWriter_Leave(writer, nullptr, 30, kMpiSend);
  };
  return what;
}

/// Rank 0 sends 8 bytes to rank 1.
void one_message(OTF2_EvtWriter* writer, const MadeLocation& location) {
  const bool sends = location.id == 0;
  OTF2_EvtWriter_Enter(writer, nullptr, 10, sends ? kMpiSend : kMpiRecv);
  if (sends)
    OTF2_EvtWriter_MpiSend(writer, nullptr, 10, 1, 0, 5, 8);
  else
    OTF2_EvtWriter_MpiRecv(writer, nullptr, 30, 0, 0, 5, 8);
  OTF2_EvtWriter_Leave(writer, nullptr, 30, sends ? kMpiSend : kMpiRecv);
}

Otf2Archive with_one_message() {
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = one_message;
  return what;
}

}  // namespace

TEST_CASE("a record on no communicator is refused with rank, event and record") {
  const std::string undefined = ": communicator 4294967295 is not defined";
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiSend(writer, nullptr, 20, 0, OTF2_UNDEFINED_COMM, 0, 8);
        })).find("rank 1, event 2 (MPI_SEND)" + undefined) == 0);
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiIsend(writer, nullptr, 20, 0, OTF2_UNDEFINED_COMM, 0, 8, 1);
        })).find("rank 1, event 2 (MPI_ISEND)" + undefined) == 0);
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiRecv(writer, nullptr, 20, 0, OTF2_UNDEFINED_COMM, 0, 8);
        })).find("rank 1, event 2 (MPI_RECV)" + undefined) == 0);
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiIrecv(writer, nullptr, 20, 0, OTF2_UNDEFINED_COMM, 0, 8, 1);
        })).find("rank 1, event 2 (MPI_IRECV)" + undefined) == 0);
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, 20, OTF2_COLLECTIVE_OP_BARRIER,
                                          OTF2_UNDEFINED_COMM, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
        })).find("rank 1, event 2 (MPI_COLLECTIVE_END)" + undefined) == 0);
}

TEST_CASE("an anchor with fewer properties than claimed is refused at once") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  // Behind machine, creator and description: their number, which libotf2 would believe.
  std::fstream anchor(directory.file("traces.otf2"),
                      std::ios::binary | std::ios::in | std::ios::out);
  anchor.seekg(46);
  std::string text;
  for (int texts = 0; texts < 3; ++texts) std::getline(anchor, text, '\0');
  anchor.seekp(anchor.tellg());
  anchor.write("\xff\xff\xff\x7f", 4);
  anchor.close();
  CHECK(refusal(directory) == "is not an OTF2 anchor file, or is damaged");
}

TEST_CASE("a file of sums in place of an archive is told from a damaged one") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  std::ofstream(directory.file("traces.otf2")) << R"({"kind": "rubato sums", "format": 1})";
  CHECK(refusal(directory).starts_with("is JSON, not an archive; for a file of sums"));
}

TEST_CASE("a record with a rank that the communicator does not have is refused by place") {
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_MpiSend(writer, nullptr, 20, 2, 0, 0, 8);
        })) ==
        "rank 1, event 2 (MPI_SEND): rank 2 is not in communicator 'MPI_COMM_WORLD' of 2 members");
  CHECK(refusal(with_record([](OTF2_EvtWriter* writer) {
          OTF2_EvtWriter_RmaPut(writer, nullptr, 20, 0, 7, 8, 1);
        })) == "rank 1, event 2 (an RMA operation): rank 7 is not in window 'window' of 2 members");
}

TEST_CASE("a collective whose root the communicator does not have is refused by place") {
  const auto bcast = [](uint32_t root) {
    return with_record([root](OTF2_EvtWriter* writer) {
      OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, 20, OTF2_COLLECTIVE_OP_BCAST, 0, root, 8, 8);
    });
  };
  CHECK(refusal(bcast(5)) ==
        "rank 1, event 2 (MPI_COLLECTIVE_END): this bcast names rank 5 as root, on communicator "
        "'MPI_COMM_WORLD' of 2 members; the archive cannot be replayed");
  CHECK(refusal(bcast(OTF2_COLLECTIVE_ROOT_NONE)) ==
        "rank 1, event 2 (MPI_COLLECTIVE_END): this bcast names no root, on communicator "
        "'MPI_COMM_WORLD' of 2 members; the archive cannot be replayed");
}

TEST_CASE("text of the archive quoted in an error stays on its line") {
  Otf2Archive what = with_record(
      [](OTF2_EvtWriter* writer) { OTF2_EvtWriter_MpiSend(writer, nullptr, 20, 2, 0, 0, 8); });
  what.world_name = "two\nlines\t";
  CHECK(refusal(what).find("communicator 'two?lines?' of 2 members") != std::string::npos);
}

TEST_CASE("the group of MPI locations names one that is not defined") {
  Otf2Archive what = with_one_message();
  what.locations[1].defined = false;
  CHECK(refusal(what) == "the MPI location group names location 1, which is not defined");
}

TEST_CASE("the group of MPI locations names one twice") {
  Otf2Archive what = with_one_message();
  what.ranks = {0, 1, 0};
  CHECK(refusal(what) == "the MPI location group names location 0 twice, for ranks 0 and 2");
}

TEST_CASE("a communicator that has a rank twice, or one that does not exist, is refused") {
  Otf2Archive what = with_one_message();
  what.world = {1, 1};
  CHECK(refusal(what) == "communicator 0 'MPI_COMM_WORLD' has rank 1 twice");
  // The lowest 32 bits alone would be rank 1.
  what.world = {0, (uint64_t{1} << 32) + 1};
  CHECK(refusal(what).find("communicator 0 'MPI_COMM_WORLD' has members beyond the 2 ranks") == 0);
}

TEST_CASE("an archive without ranks or locations is refused") {
  CHECK(refusal(Otf2Archive::of_ranks(0)) == "the archive defines no locations");
  Otf2Archive what = with_one_message();
  what.ranks = {};
  CHECK(refusal(what) == "the archive defines no locations");
}

TEST_CASE("a node that is its own ancestor is refused") {
  Otf2Archive what = with_one_message();
  what.parent_of_node = 0;
  CHECK(refusal(what) == "system tree node 0 is an ancestor of itself; the archive is damaged");
}

TEST_CASE("the socket of a rank is an ancestor of its process, however far above") {
  Otf2Archive what = Otf2Archive::of_ranks(3);
  what.socket_of_process = {0, 1, 0};
  const Directory directory;
  write_archive(what, directory.archive());
  const auto source = open_archive(directory.archive());
  const TraceDefinitions& trace = source->definitions();
  CHECK(trace.nodes.copy() == std::vector<std::string>{"here"});
  const Placement placement(trace.node_of_rank, trace.socket_of_rank);
  CHECK(placement.level(0, 1) == Level::kNode);
  CHECK(placement.level(0, 2) == Level::kSocket);
  CHECK(placement.level(1, 2) == Level::kNode);
  // An archive that names no sockets: all on one node.
  const Directory other;
  write_archive(Otf2Archive::of_ranks(2), other.archive());
  const auto plain = open_archive(other.archive());
  CHECK(plain->definitions().socket_of_rank.copy() == std::vector<int>{kNoSocket, kNoSocket});
}

TEST_CASE("a location without records or without an event file is an idle rank") {
  Otf2Archive what = Otf2Archive::of_ranks(3);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    if (location.id < 2) one_message(writer, location);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  fs::remove(directory.file("traces/2.evt"));  // libotf2 may have written none
  const Results results = replay(directory);
  // The message goes from 10 to 30, which is the whole run.
  CHECK(results.scenarios[0].elapsed == Approx(20e-9));
  CHECK(results.scenarios[0].ranks.size() == 3);
  CHECK(results.scenarios[0].ranks[2].mpi == 0);
  CHECK(results.trace.unmatched_receives == 0);
}

TEST_CASE("no rank has any record") {
  const Directory directory;
  write_archive(Otf2Archive::of_ranks(2), directory.archive());
  CHECK(replay(directory).scenarios[0].elapsed == 0);
}

TEST_CASE("event files that are missing or cannot be read are named") {
  const std::string missing = "the event file of location 1 (rank 1) is missing or cannot be read";
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  SECTION("one is missing") {
    fs::remove(directory.file("traces/1.evt"));
    CHECK(refusal(directory) == missing);
  }
  SECTION("one was cut off") {
    const uintmax_t size = fs::file_size(directory.file("traces/1.evt"));
    for (uintmax_t cut = size - 2; cut > 0; --cut) {
      fs::resize_file(directory.file("traces/1.evt"), cut);
      CHECK(refusal(directory).find("location 1 (rank 1)") != std::string::npos);
    }
  }
  SECTION("one has no record where its first should stand") {
    // The header of 18 bytes is followed by a time of 9, then by the record.
    const size_t byte = GENERATE(18, 27);
    std::fstream(directory.file("traces/1.evt"), std::ios::binary | std::ios::in | std::ios::out)
        .seekp(static_cast<std::streamoff>(byte))
        .put('\0');
    CHECK(refusal(directory).find(
              "the events of location 1 (rank 1) cannot be read beyond event 0") == 0);
  }
  SECTION("one is a pipe without a writer") {
    fs::remove(directory.file("traces/1.evt"));
    REQUIRE(mkfifo(directory.file("traces/1.evt").c_str(), 0600) == 0);
    CHECK(refusal(directory) == missing + ": is no regular file");
  }
  SECTION("one is a directory") {
    fs::remove(directory.file("traces/1.evt"));
    fs::create_directory(directory.file("traces/1.evt"));
    CHECK(refusal(directory).find("location 1 (rank 1)") != std::string::npos);
  }
  SECTION("one leads nowhere") {
    fs::remove(directory.file("traces/1.evt"));
    fs::create_symlink("1.evt", directory.file("traces/1.evt"));
    CHECK(refusal(directory) == missing);
  }
  SECTION("all are missing") {
    fs::remove_all(directory.file("traces"));
    CHECK(refusal(directory) ==
          "the event file of location 0 (rank 0) is missing or cannot be read");
  }
}

TEST_CASE("a location without a defined number of records is not lost if its file cannot be read") {
  Otf2Archive what = with_one_message();
  what.locations[1].claimed_events = 0;
  const Directory directory;
  write_archive(what, directory.archive());
  CHECK(replay(directory).scenarios[0].elapsed == Approx(20e-9));
  fs::remove(directory.file("traces/1.evt"));
  fs::create_directory(directory.file("traces/1.evt"));
  CHECK(refusal(directory) ==
        "the event file of location 1 (rank 1) is missing or cannot be read: is no regular file");
}

TEST_CASE("pipes in place of files are refused, not waited for") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  const auto pipe_for = [&](const std::string& name) {
    fs::remove(directory.file(name));
    REQUIRE(mkfifo(directory.file(name).c_str(), 0600) == 0);
    return refusal(directory);
  };
  CHECK(pipe_for("traces/1.def") ==
        "the local definitions of location 1 (rank 1) cannot be read: is no regular file");
  CHECK(pipe_for("traces.def") ==
        "the global definitions (.def) cannot be read: is no regular file");
  CHECK(pipe_for("traces.otf2") == "is no regular file");
}

TEST_CASE("properties and clocks that are no numbers in their range are refused") {
  const auto with_property = [](const char* name, const char* value) {
    Otf2Archive what = with_one_message();
    what.properties[name] = value;
    return refusal(what);
  };
  for (const char* value : {"nan", "-inf", "inf", "1e308", "-1", "-1e-9", "1.5", "1,5", "1 s"}) {
    CHECK(with_property("RUBATO::OVERHEAD_OUTSIDE", value) ==
          std::string("the property RUBATO::OVERHEAD_OUTSIDE is '") + value +
              "', and not a number from 0 to 1");
    CHECK(with_property("RUBATO::OVERHEAD_PER_RECORD", value) != "no refusal");
  }
  CHECK(with_property("RUBATO::OVERHEAD_OUTSIDE", "1e-9") == "no refusal");
  // By an earlier tracer, in a program whose locale has decimal commas.
  CHECK(with_property("RUBATO::OVERHEAD_OUTSIDE", "1,66e-08") == "no refusal");
  CHECK(with_property("RUBATO::EAGER_LIMIT_NODE", "nan") ==
        "the property RUBATO::EAGER_LIMIT_NODE is 'nan', and not a number from 0 to 2^60");
  for (const uint64_t ticks : {uint64_t{0}, uint64_t{1} << 63}) {
    Otf2Archive what = with_one_message();
    what.ticks_per_second = ticks;
    CHECK(refusal(what) == "the clock of the archive has " + std::to_string(ticks) +
                               " ticks a second; the global definitions (.def) are damaged");
  }
}

TEST_CASE("properties of the archive stay on their line") {
  Otf2Archive what = with_one_message();
  what.properties["RUBATO::COMPLETE"] = "false: \033[2J\nkilled";
  const Directory directory;
  write_archive(what, directory.archive());
  const Results results = replay(directory);
  const std::vector<std::string>& notes = results.trace.notes;
  // The text after the "false: " of our tracers.
  CHECK(std::find(notes.begin(), notes.end(), "the recording is incomplete (?[2J?killed)") !=
        notes.end());
  CHECK(open_archive(directory.archive())->definitions().properties.at("RUBATO::COMPLETE") ==
        "false: ?[2J?killed");
}

TEST_CASE("a part of an archive in its place: the anchor is named") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  const std::string anchor = directory.file("traces.otf2");
  for (const char* part : {"traces.def", "traces/0.evt", "traces/0.def"}) {
    const std::string file = directory.file(part);
    CHECK_THROWS_WITH(find_anchor(file), file + ": is a part of an archive; name " + anchor);
  }
}

// libotf2 keeps a chunk of memory for each location whose files it does not find: 300 times 16 MiB.
TEST_CASE("locations without files take no memory, whatever chunk size the anchor has") {
  constexpr int kRanks = 300;
  constexpr uint64_t kChunk = 16 << 20;
  const Directory directory;
  write_archive(Otf2Archive::of_ranks(kRanks), directory.archive());
  fs::remove_all(directory.file("traces"));
  // In the anchor file the sizes of chunks stand behind the version, in 8 bytes each.
  std::fstream anchor(directory.file("traces.otf2"),
                      std::ios::binary | std::ios::in | std::ios::out);
  std::string bytes(64, '\0');
  anchor.read(bytes.data(), 64);
  bool found = false;
  for (size_t at = 0; at + 16 <= bytes.size() && !found; ++at) {
    uint64_t events = 0, definitions = 0;
    std::memcpy(&events, &bytes[at], 8);
    std::memcpy(&definitions, &bytes[at + 8], 8);
    found = events == OTF2_CHUNK_SIZE_MIN && definitions >= OTF2_CHUNK_SIZE_MIN;
    if (!found) continue;
    std::memcpy(&bytes[at], &kChunk, 8);
    std::memcpy(&bytes[at + 8], &kChunk, 8);
  }
  REQUIRE(found);
  anchor.seekp(0).write(bytes.data(), 64).flush();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const long peak = usage.ru_maxrss;  // KiB
  CHECK(replay(directory).scenarios[0].elapsed == 0);
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss - peak < 600 * 1024);
}

TEST_CASE("local definitions that are damaged are named: without them clocks would be wrong") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  const fs::path file = directory.file("traces/1.def");
  fs::resize_file(file, fs::file_size(file) - 5);
  CHECK(refusal(directory).find("the local definitions of location 1 (rank 1)") == 0);
}

TEST_CASE("local definitions that are missing are named where other locations have some") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  fs::remove(directory.file("traces/1.def"));
  CHECK(refusal(directory) ==
        "the local definitions of location 1 (rank 1) are missing, but other locations have some");
  fs::remove(directory.file("traces/0.def"));
  CHECK(replay(directory).scenarios[0].elapsed == Approx(20e-9));
}

TEST_CASE("local definitions may be missing where no location defines anything") {
  Otf2Archive what = Otf2Archive::of_ranks(3);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    if (location.id < 2) one_message(writer, location);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  // A file without events is, byte by byte, one without definitions.
  for (const char* location : {"0", "2"})
    fs::copy_file(directory.file("traces/2.evt"),
                  directory.file("traces/" + std::string(location) + ".def"),
                  fs::copy_options::overwrite_existing);
  fs::remove(directory.file("traces/1.def"));
  CHECK(replay(directory).scenarios[0].elapsed == Approx(20e-9));
}

// Rank 0 is alive in MPI_Finalize: no record says that its thread ends. 3 and 4 records.
TEST_CASE("a thread that is not seen to end has no record more than it has") {
  Otf2Archive what = Otf2Archive::of_ranks(1);
  what.locations.push_back({uint64_t{1} << 32, 0});
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    if (location.id == 0) {
      OTF2_EvtWriter_ThreadCreate(writer, nullptr, 10, 0, 1);
      OTF2_EvtWriter_Enter(writer, nullptr, 50, kMpiFinalize);
      OTF2_EvtWriter_Leave(writer, nullptr, 60, kMpiFinalize);
      return;
    }
    OTF2_EvtWriter_ThreadBegin(writer, nullptr, 20, 0, 1);
    OTF2_EvtWriter_Enter(writer, nullptr, 30, kMpiIprobe);
    OTF2_EvtWriter_Leave(writer, nullptr, 40, kMpiIprobe);
    OTF2_EvtWriter_Enter(writer, nullptr, 45, kFunction);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  const Results results = replay(directory);
  CHECK(results.trace.calling_threads == 1);
  CHECK(results.identity->records == 7);
  CHECK(results.identity->differing == 0);
}

TEST_CASE("global definitions that end early are refused, wherever they do") {
  const Directory directory;
  write_archive(with_one_message(), directory.archive());
  const fs::path file = directory.file("traces.def");
  for (uintmax_t size = fs::file_size(file); size-- > 0;) {
    fs::resize_file(file, size);
    INFO(size);
    const std::string text = refusal(directory);
    CAPTURE(text);
    CHECK(text.find("the global definitions (.def)") == 0);
  }
}

// The file of a location is complete, whatever its definition claims: `otf2-print -Werror` accepts
// all of these. The message goes from 10 to 30.
TEST_CASE("a location with another number of records than it claims is read, and counted") {
  struct Claim {
    uint64_t of_0, of_1, of_thread;
    uint64_t wrong;
    std::string first;
  };
  const std::string thread = "location 4294967296 of rank 0, with 0 instead of 79";
  const std::vector<Claim> claims = {
      {3, 3, 0, 0, ""},
      {3, 3, 79, 1, thread},
      {5, 3, 0, 1, "location 0 of rank 0, with 3 instead of 5"},
      {3, 0, 0, 1, "location 1 of rank 1, with 3 instead of 0"},
      {2, 2, 79, 3, "location 0 of rank 0, with 3 instead of 2"},
      {UINT64_MAX / 2 + 5, UINT64_MAX / 2 + 5, 0, 2,
       "location 0 of rank 0, with 3 instead of 9223372036854775812"}};
  for (const Claim& claim : claims) {
    Otf2Archive what = with_one_message();
    what.locations.push_back({uint64_t{1} << 32, 0, claim.of_thread});
    what.locations[0].claimed_events = claim.of_0;
    what.locations[1].claimed_events = claim.of_1;
    what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
      if (location.id < 2) one_message(writer, location);
    };
    const Directory directory;
    write_archive(what, directory.archive());
    for (const int threads : {0, 1, 2, 100000}) {
      INFO(claim.first << ", threads " << threads);
      const Results results = replay(directory, threads);
      CHECK(results.trace.miscounted.count == claim.wrong);
      CHECK(results.trace.miscounted.first == claim.first);
      CHECK(results.identity->records == 6);
      CHECK(results.scenarios[0].elapsed == Approx(20e-9));
      const std::vector<std::string> warnings = warnings_about(results.trace);
      const bool says = std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
        return text.find("a different number of records than defined") != std::string::npos;
      });
      CHECK(says == (claim.wrong > 0));
    }
  }
}

TEST_CASE("a truncated file with fewer records than defined is damaged, not miscounted") {
  Otf2Archive what = with_one_message();
  what.locations[1].claimed_events = 5;
  const Directory directory;
  write_archive(what, directory.archive());
  const fs::path file = directory.file("traces/1.evt");
  fs::resize_file(file, fs::file_size(file) - 2);  // the marks of the end
  CHECK(refusal(directory).find(
            "the events of location 1 (rank 1) cannot be read beyond event 3") == 0);
}

TEST_CASE("more threads than ranks decode as well as one") {
  const Directory directory;
  write_archive(small_program({}), directory.archive());
  const Results one = replay(directory, 1);
  const Results many = replay(directory, 100000);
  CHECK(one.identity->differing == 0);
  CHECK(many.identity->records == one.identity->records);
  for (size_t i = 0; i < one.scenarios.size(); ++i)
    CHECK(many.scenarios[i].elapsed == one.scenarios[i].elapsed);
}

// A small model of a large machine: each location has an event file and a file of definitions, few
// of which may be open at a time, and a number beyond 32 bits.
TEST_CASE("an archive of more locations than files can be open") {
  constexpr uint32_t kRanks = 150;
  constexpr uint64_t kFirst = (uint64_t{1} << 62) + 7;
  constexpr uint64_t kStep = uint64_t{1} << 40;
  Otf2Archive what = Otf2Archive::of_ranks(kRanks);
  for (MadeLocation& location : what.locations) location.id = kFirst + location.id * kStep;
  for (uint64_t& rank : what.ranks) rank = kFirst + rank * kStep;
  // Each sends to the next one, at 10, and receives from the one before, until 40.
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    OTF2_EvtWriter_Enter(writer, nullptr, 10, kMpiSend);
    OTF2_EvtWriter_MpiSend(writer, nullptr, 11, (location.process + 1) % kRanks, 0, 5, 8);
    OTF2_EvtWriter_Leave(writer, nullptr, 12, kMpiSend);
    OTF2_EvtWriter_Enter(writer, nullptr, 20, kMpiRecv);
    OTF2_EvtWriter_MpiRecv(writer, nullptr, 40, (location.process + kRanks - 1) % kRanks, 0, 5, 8);
    OTF2_EvtWriter_Leave(writer, nullptr, 40, kMpiRecv);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{32, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  const Results results = replay(directory, 2);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(results.identity->records == kRanks * 6);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.messages == kRanks);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  // On perfect the message is there when the receive is posted, 8 behind the send.
  CHECK(results.scenarios[0].elapsed == Approx(30e-9));
  CHECK(results.scenarios[1].elapsed == Approx(8e-9));
}

// Rank 0 sends twice the same, at 10 and at 60010, and cancels the first: 20,000 functions later,
// when that was decoded long ago. Rank 1 gets the second.
TEST_CASE("a send that is cancelled long after it was decoded is no message") {
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    const auto isend = [&](uint64_t time, uint64_t request) {
      OTF2_EvtWriter_Enter(writer, nullptr, time, kMpiIsend);
      OTF2_EvtWriter_MpiIsend(writer, nullptr, time + 1, 1, 0, 5, 8, request);
      OTF2_EvtWriter_Leave(writer, nullptr, time + 2, kMpiIsend);
    };
    if (location.id == 1) {
      OTF2_EvtWriter_Enter(writer, nullptr, 10, kMpiRecv);
      OTF2_EvtWriter_MpiRecv(writer, nullptr, 70000, 0, 0, 5, 8);
      return void(OTF2_EvtWriter_Leave(writer, nullptr, 70000, kMpiRecv));
    }
    isend(10, 1);
    for (uint64_t i = 0; i < 20000; ++i) {
      OTF2_EvtWriter_Enter(writer, nullptr, 20 + 2 * i, kFunction);
      OTF2_EvtWriter_Leave(writer, nullptr, 21 + 2 * i, kFunction);
    }
    OTF2_EvtWriter_Enter(writer, nullptr, 60000, kMpiWait);
    OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, 60001, 1);
    OTF2_EvtWriter_Leave(writer, nullptr, 60002, kMpiWait);
    isend(60010, 2);
    OTF2_EvtWriter_Enter(writer, nullptr, 60020, kMpiWait);
    OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, 60021, 2);
    OTF2_EvtWriter_Leave(writer, nullptr, 60022, kMpiWait);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  const Results results = replay(directory);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.messages == 1);
  CHECK(results.trace.unmatched_sends == 0);
  // From 10 on; on perfect the Isend and the Wait at 60000 take no time, so that the second send is
  // entered at 60010 - 4, and nothing is behind the receive.
  CHECK(results.scenarios[1].ranks[1].end - results.scenarios[1].ranks[1].start ==
        Approx(59996e-9));
}

// MPI forbids it; if a library does it nevertheless, the rank does not disappear. On perfect rank
// 0's calls take nothing: it sends at 1000 - 10 - 10, 970 behind its first call at 10.
TEST_CASE("a send in partitions that is cancelled is no message") {
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    if (location.id == 1) {
      OTF2_EvtWriter_Enter(writer, nullptr, 10, kMpiRecv);
      OTF2_EvtWriter_MpiRecv(writer, nullptr, 1100, 0, 0, 5, 8);
      return void(OTF2_EvtWriter_Leave(writer, nullptr, 1100, kMpiRecv));
    }
    OTF2_AttributeList* mode = OTF2_AttributeList_New();
    OTF2_AttributeList_AddUint8(mode, kSendMode, 4);
    OTF2_EvtWriter_Enter(writer, nullptr, 10, kMpiIsend);
    OTF2_EvtWriter_MpiIsend(writer, mode, 11, 1, 0, 5, 8, 1);
    OTF2_EvtWriter_Leave(writer, nullptr, 20, kMpiIsend);
    OTF2_AttributeList_Delete(mode);
    OTF2_EvtWriter_Enter(writer, nullptr, 100, kMpiWait);
    OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, 105, 1);
    OTF2_EvtWriter_Leave(writer, nullptr, 110, kMpiWait);
    OTF2_EvtWriter_Enter(writer, nullptr, 1000, kMpiSend);
    OTF2_EvtWriter_MpiSend(writer, nullptr, 1001, 1, 0, 5, 8);
    OTF2_EvtWriter_Leave(writer, nullptr, 1010, kMpiSend);
  };
  const Directory directory;
  write_archive(what, directory.archive());
  const Results results = replay(directory);
  CHECK(results.identity->records == 9 + 3);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.messages == 1);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  for (const RankResult& rank : results.scenarios[1].ranks)
    CHECK(rank.end - rank.start == Approx(970e-9));
}

// Rank 1's first post is not recorded. Rank 0's start and complete do not wait for it, rank 1's
// wait matches the complete; both have left that epoch when rank 1 posts again, for the next one.
TEST_CASE("a post that is missing leaves later epochs alone") {
  Otf2Archive what = Otf2Archive::of_ranks(2);
  what.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    const auto call = [&](Region region, uint64_t from, uint64_t to) {
      OTF2_EvtWriter_Enter(writer, nullptr, from, region);
      if (region == kMpiSend)
        OTF2_EvtWriter_MpiSend(writer, nullptr, from, 1, 0, 0, 8);
      else if (region == kMpiRecv)
        OTF2_EvtWriter_MpiRecv(writer, nullptr, to, 0, 0, 0, 8);
      else
        OTF2_EvtWriter_RmaGroupSync(writer, nullptr, to, OTF2_RMA_SYNC_LEVEL_PROCESS, 0,
                                    location.id == 0 ? 3 : 2);
      OTF2_EvtWriter_Leave(writer, nullptr, to, region);
    };
    if (location.id == 0) {
      call(kMpiWinStart, 10, 20);
      call(kMpiWinComplete, 30, 100);
      call(kMpiSend, 110, 120);
      call(kMpiWinStart, 200, 210);
      call(kMpiWinComplete, 230, 320);
    } else {
      call(kMpiWinWait, 30, 105);
      call(kMpiRecv, 110, 130);
      call(kMpiWinPost, 220, 225);
      call(kMpiWinWait, 230, 330);
    }
  };
  const Directory directory;
  write_archive(what, directory.archive());
  const Results results = replay(directory);
  CHECK(results.identity->differing == 0);
  // As recorded: from 10 to 330.
  CHECK(results.scenarios[0].elapsed == Approx(320e-9));
  // Perfect, rank 0 from its start at 10: 10 of compute, the complete keeps its 70, 10 of compute:
  // sends at 100. 80 of compute, the start does not wait, 20 of compute: complete at 200. Rank 1
  // receives at 100, 90 of compute, posts at 190, 5 of compute, waits from 195 to 200.
  CHECK(results.scenarios[1].elapsed == Approx(190e-9));
  // The start, the complete and the wait of the first epoch, as recorded.
  const std::vector<std::string> warnings = warnings_about(results.trace);
  CHECK(std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
    return text.find("3 calls of MPI_Win_start, MPI_Win_complete") == 0;
  }));
}

// The recording of small_program() has consistent times: records end at their defined times.
TEST_CASE("the small program of the damage tests is replayed in full") {
  const Directory directory;
  write_archive(small_program({}), directory.archive());
  const Results results = replay(directory);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  // From the leave of MPI_Init at 100,000 to the last rank's enter of MPI_Finalize, 3 behind
  // 3,000,000 (two steps of a million behind the first million).
  CHECK(results.scenarios[0].elapsed == Approx(2900003e-9));
}
