// Archives at the times of a scenario: each record's new time, worked out by hand; and the
// recording itself, byte by byte. One tick is one nanosecond.

#include "replay/archive/copy/archive_copy.h"
#include "replay/study/run_replay.h"

#include <fmt/core.h>
#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#include <fstream>
#include <iterator>

#include "replay/sources/input_format.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"
#include "tests/unit/toy.h"
#include "tools/files/scenario_archives.h"
#include "tools/files/whole_directory.h"

using namespace rubato;
namespace fs = std::filesystem;

namespace {

/// "LOCATION TIME WHAT ATTRIBUTES" of some kinds of records.
struct Listing {
  std::vector<std::string> lines;
  uint64_t zero = 0;  ///< that times count from

  static OTF2_CallbackCode add(void* user, OTF2_LocationRef location, OTF2_TimeStamp time,
                               const std::string& what, const OTF2_AttributeList* attributes) {
    Listing& listing = *static_cast<Listing*>(user);
    std::string line =
        std::to_string(location) + " " + std::to_string(time - listing.zero) + " " + what;
    uint8_t mode = 0;
    if (OTF2_AttributeList_TestAttributeByID(attributes, kSendMode) &&
        OTF2_AttributeList_GetUint8(attributes, kSendMode, &mode) == OTF2_SUCCESS)
      line += " mode " + std::to_string(mode);
    listing.lines.push_back(line);
    return OTF2_CALLBACK_SUCCESS;
  }
};

#define RECORD                                                          \
  OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t, void *user, \
      OTF2_AttributeList *attributes
OTF2_CallbackCode on_enter(RECORD, OTF2_RegionRef region) {
  return Listing::add(user, location, time, "enter " + std::to_string(region), attributes);
}
OTF2_CallbackCode on_leave(RECORD, OTF2_RegionRef region) {
  return Listing::add(user, location, time, "leave " + std::to_string(region), attributes);
}
OTF2_CallbackCode on_send(RECORD, uint32_t, OTF2_CommRef, uint32_t, uint64_t) {
  return Listing::add(user, location, time, "send", attributes);
}
OTF2_CallbackCode on_recv(RECORD, uint32_t, OTF2_CommRef, uint32_t, uint64_t) {
  return Listing::add(user, location, time, "recv", attributes);
}
OTF2_CallbackCode on_flush(RECORD, OTF2_TimeStamp stop) {
  return Listing::add(user, location, time, "flush for " + std::to_string(stop - time), attributes);
}

/// As they stand in the files of the locations.
std::vector<std::string> records_of(const fs::path& anchor, const std::vector<uint64_t>& locations,
                                    uint64_t zero) {
  Listing listing;
  listing.zero = zero;
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  REQUIRE(reader != nullptr);
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  for (const uint64_t location : locations) OTF2_Reader_SelectLocation(reader, location);
  REQUIRE(OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS);
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
  OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks, on_flush);
  for (const uint64_t location : locations) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
    REQUIRE(events != nullptr);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &listing);
    uint64_t read = 0;
    CHECK(OTF2_Reader_ReadAllLocalEvents(reader, events, &read) == OTF2_SUCCESS);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
  return listing.lines;
}

/// Two ranks, locations 0 and 1, and a thread of rank 0 that calls no MPI, location 7.
Otf2Archive one_message() {
  Otf2Archive archive;
  archive.locations = {{0, 0}, {1, 1}, {7, 0}};
  archive.ranks = {0, 1};
  archive.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    const auto enter = [&](uint64_t time, uint32_t region) {
      OTF2_EvtWriter_Enter(writer, nullptr, time, region);
    };
    const auto leave = [&](uint64_t time, uint32_t region) {
      OTF2_EvtWriter_Leave(writer, nullptr, time, region);
    };
    if (location.id == 7) {
      enter(35, kFunction);
      leave(50, kFunction);
      return;
    }
    enter(0, kMpiInit);
    leave(10, kMpiInit);
    if (location.id == 0) {
      enter(20, kFunction);
      leave(30, kFunction);
      enter(40, kMpiSend);
      OTF2_AttributeList* attributes = OTF2_AttributeList_New();
      OTF2_AttributeList_AddUint8(attributes, kSendMode, 3);
      OTF2_EvtWriter_MpiSend(writer, attributes, 45, 1, 0, 0, 8);
      OTF2_AttributeList_Delete(attributes);
      leave(60, kMpiSend);
    } else {
      enter(20, kMpiRecv);
      OTF2_EvtWriter_MpiRecv(writer, nullptr, 95, 0, 0, 0, 8);
      leave(100, kMpiRecv);
      OTF2_EvtWriter_BufferFlush(writer, nullptr, 105, 108);
      enter(110, kFunction);
      leave(130, kFunction);
    }
  };
  return archive;
}

/// Writes copies of the archive in `directory`/archive to `directory`/copies.
void copy(const fs::path& directory, const std::vector<Scenario>& scenarios, bool repair = false) {
  ReplayOptions options;
  options.repair = repair;
  const auto source = open_trace(directory / "archive");
  source->keep_records(true);
  const Results results = run_replay(*source, scenarios, options);
  fs::create_directory(directory / "copies");
  write_scenario_archives(*source, scenarios, results, options, directory / "copies");
}

std::string bytes_of(const fs::path& file) {
  std::ifstream from(file, std::ios::binary);
  REQUIRE(from);
  return {std::istreambuf_iterator<char>(from), {}};
}

/// All calls, what they do, and the times of all records.
std::string all_calls(const fs::path& archive) {
  const auto source = open_trace(archive);
  source->keep_records(true);
  std::string text;
  Block block;
  for (int timeline = 0; timeline < source->definitions().timelines(); ++timeline) {
    while (source->read(timeline, block)) {
      for (const Call& call : block.calls) {
        text += fmt::format("{} {} {} {} {}\n", timeline, call.name, call.enter, call.leave,
                            call.event);
        block.take_up(call);
        for (const Action& action : block.actions_of(call))
          text.append(reinterpret_cast<const char*>(&action), sizeof action);
      }
      for (const Record& record : block.records) text += fmt::format("{}\n", record.time);
    }
  }
  for (const SideLocation& side : source->definitions().side_locations) {
    for (const double time : source->side_records(side)) text += fmt::format("{}\n", time);
  }
  return text;
}

std::string region(const char* what, uint32_t number) {
  return std::string(what) + " " + std::to_string(number);
}

}  // namespace

TEST_CASE("every record of a copy is at its time in the scenario") {
  const TemporaryDirectory directory;
  write_archive(one_message(), directory.path() / "archive");
  copy(directory.path(), {on("measured"), on("perfect"), on("perfect:cpu*2,name=fast")});
  // All locations have clocks that are 1000 behind. In the copy this is made good.
  const auto listed = [&](const char* scenario) {
    return records_of(directory.path() / "copies" / scenario / "traces.otf2", {0, 1, 7}, 1000);
  };
  CHECK(listed("measured") ==
        records_of(directory.path() / "archive" / "traces.otf2", {0, 1, 7}, 0));

  // Perfect: the send takes nothing, at 40, and its record is there. The receive ends at 40, too;
  // its record was 5 before the end, but the message did not exist then. There is no flush (nor its
  // record), so 2 of compute are between 45 and the function, which takes 20. The other thread lies
  // between records of rank 0: 35 is where it was; 50 lies between 45 and 60, which are both at 40.
  const std::string init = region("enter", kMpiInit), inited = region("leave", kMpiInit);
  const std::string work = region("enter", kFunction), worked = region("leave", kFunction);
  const std::string sends = region("enter", kMpiSend), sent = region("leave", kMpiSend);
  const std::string receives = region("enter", kMpiRecv), received = region("leave", kMpiRecv);
  using Lines = std::vector<std::string>;
  CHECK(listed("perfect") ==
        Lines{"0 0 " + init, "0 10 " + inited, "0 20 " + work, "0 30 " + worked, "0 40 " + sends,
              "0 40 send mode 3", "0 40 " + sent, "1 0 " + init, "1 10 " + inited,
              "1 20 " + receives, "1 40 recv", "1 40 " + received, "1 47 " + work, "1 67 " + worked,
              "7 35 " + work, "7 40 " + worked});
  // Compute in half the time: from 10 on 20, 30 and 40 become 15, 20 and 25; the receive is entered
  // at 15. After it 5 become 2.5, to where the flush was; 2 more become 1: 28.5 (29), and 20
  // become 10: 38.5 (39). The other thread: 35 is half way from 30 to 40, so from 20 to 25 (22).
  CHECK(listed("fast") == Lines{"0 0 " + init, "0 10 " + inited, "0 15 " + work, "0 20 " + worked,
                                "0 25 " + sends, "0 25 send mode 3", "0 25 " + sent, "1 0 " + init,
                                "1 10 " + inited, "1 15 " + receives, "1 25 recv",
                                "1 25 " + received, "1 29 " + work, "1 39 " + worked,
                                "7 22 " + work, "7 25 " + worked});
}

// The message is received at 30, 10 before its send, so the receive of rank 1 is moved. Rank 0 does
// not move at all, nor does the record of its send in its call, at 45. That of the receive, 2
// before the end of its call, is not before it.
TEST_CASE("where clocks are repaired, records keep their places in calls that do not move") {
  Otf2Archive archive = one_message();
  archive.locations.pop_back();
  archive.events = [](OTF2_EvtWriter* writer, const MadeLocation& location) {
    const bool sends = location.id == 0;
    OTF2_EvtWriter_Enter(writer, nullptr, sends ? 40 : 20, sends ? kMpiSend : kMpiRecv);
    if (sends)
      OTF2_EvtWriter_MpiSend(writer, nullptr, 45, 1, 0, 0, 8);
    else
      OTF2_EvtWriter_MpiRecv(writer, nullptr, 28, 0, 0, 0, 8);
    OTF2_EvtWriter_Leave(writer, nullptr, sends ? 60 : 30, sends ? kMpiSend : kMpiRecv);
  };
  const TemporaryDirectory directory;
  write_archive(archive, directory.path() / "archive");
  copy(directory.path(), {on("measured")}, true);
  const fs::path copied = directory.path() / "copies" / "measured" / "traces.otf2";
  CHECK(records_of(copied, {0}, 1000) ==
        records_of(directory.path() / "archive" / "traces.otf2", {0}, 0));
  const std::vector<std::string> receiver = records_of(copied, {1}, 1000);
  CHECK(receiver == std::vector<std::string>{"1 20 " + region("enter", kMpiRecv), "1 45 recv",
                                             "1 47 " + region("leave", kMpiRecv)});
}

TEST_CASE("the copy of the recording is the recording") {
  const TemporaryDirectory directory;
  const fs::path original = directory.path() / "archive";
  const fs::path copied = directory.path() / "copies" / "measured";
  write_archive(small_program({}), original);
  copy(directory.path(), {on("measured")});
  CHECK((bytes_of(copied / "traces.def") == bytes_of(original / "traces.def")));
  CHECK((all_calls(copied) == all_calls(original)));
  // The locations of the archive have clocks of their own. Those of the copy have one, so that a
  // copy of it is the same byte by byte.
  const TemporaryDirectory again;
  fs::rename(copied, again.path() / "archive");
  copy(again.path(), {on("measured")});
  int locations = 0;
  for (const auto& file : fs::directory_iterator(again.path() / "archive" / "traces")) {
    INFO(file.path());
    CHECK((bytes_of(again.path() / "copies" / "measured" / "traces" / file.path().filename()) ==
           bytes_of(file.path())));
    locations += file.path().extension() == ".evt";
  }
  CHECK(locations == 7);  // four ranks, two threads that call MPI, one that does not
}

TEST_CASE("a copy can be replayed and names the scenario of its times") {
  const TemporaryDirectory directory;
  write_archive(one_message(), directory.path() / "archive");
  copy(directory.path(), {on("perfect")});
  const auto source = open_trace(directory.path() / "copies" / "perfect");
  CHECK(source->definitions().properties.at("RUBATO::SCENARIO") == "perfect");
  // Rank 0's window ends at 40, rank 1's at 67; both began at 10.
  CHECK(run_replay(*source, {on("measured")}, {}).scenarios[0].elapsed ==
        Approx(57e-9).epsilon(1e-9));
}

TEST_CASE("an existing directory is not changed, and a failed copy leaves nothing") {
  const TemporaryDirectory directory;
  const std::string name = directory.path() / "new";
  {
    const WholeDirectory dropped(name);
    CHECK(fs::exists(dropped.path()));
    CHECK_FALSE(fs::exists(name));
  }
  CHECK(fs::is_empty(directory.path()));
  {
    WholeDirectory kept(name);
    kept.commit();
  }
  CHECK(fs::exists(name));
  CHECK_THROWS_WITH(WholeDirectory(name), Catch::Contains("exists; choose another name"));
  CHECK_THROWS_WITH(WholeDirectory(directory.path() / "missing" / "new"),
                    Catch::Contains("cannot be written"));
}

TEST_CASE("an archive that cannot be written is an error") {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler not_freed;  // libotf2 does not free an archive that it cannot close
#endif
  const TemporaryDirectory directory;
  write_archive(one_message(), directory.path() / "archive");
  const auto source = open_trace(directory.path() / "archive");
  source->keep_records(true);
  const std::vector<Scenario> scenarios = {on("measured")};
  const Results results = run_replay(*source, scenarios, {});
  // A file with the name of its directory.
  const std::string file = directory.write("file", "");
  CHECK_THROWS_WITH(write_scenario_archives(*source, scenarios, results, {}, file),
                    Catch::Contains("cannot be written"));
  const std::string text = directory.write("run.txt", "0: 0 begin\n");
  CHECK_THROWS_WITH(refuse_other_formats(text), Catch::Contains("not an OTF2 archive"));
}

TEST_CASE("scenarios have directories with unique safe names") {
  std::vector<Scenario> scenarios(5);
  scenarios[0].name = "measured:region=solve*0.5";
  scenarios[1].name = "../a/b.toml";
  scenarios[2].name = "measured:region=solve/0.5";
  scenarios[3].name = "measured";
  scenarios[4].name = "";
  CHECK(directory_names(scenarios) ==
        std::vector<std::string>{"measured_region=solve_0.5", "_.._a_b.toml",
                                 "measured_region=solve_0.5-2", "measured", "_"});
}
