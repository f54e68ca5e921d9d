// How fast the replay is and what memory it takes, beside the bare reading of the same archives.
//
//   rubato-bench                                   all rows; some minutes and 2 GB in $TMPDIR
//   rubato-bench WORKLOAD RANKS CALLS [CHUNK_KIB]  one row: halo, ring, alltoall or master-worker
//   rubato-bench simgrid                           only the rows beside SimGrid's replay
//
// Archives are made with a fixed seed (made_archive.h). Each measurement is a process of its own,
// the cheapest of three, in processor seconds:
//   bare     libotf2 reads every location once, one after the other, with callbacks that only count
//   1, 16, 64  contention-free replays of so many scenarios of one structure, archive included
//   engine   the replay alone of one scenario, from decoded calls as the replay holds them
// Where SimGrid is installed, its replay of two halos is measured beside ours (simgrid_peer.h).
// With the archive kept (RUBATO_BENCH_KEEP=1) its directory is printed.

#include <otf2/otf2.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cost.h"
#include "made_archive.h"
#include "models/scenario.h"
#include "replay/archive.h"
#include "replay/replay_driver.h"
#include "simgrid_peer.h"

namespace {

template <typename... Rest>
OTF2_CallbackCode count(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user, OTF2_AttributeList*,
                        Rest...) {
  ++*static_cast<uint64_t*>(user);
  return OTF2_CALLBACK_SUCCESS;
}

/// Reads every location to its end, with callbacks that only count.
void decode(const std::string& anchor, int ranks) {
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  for (int rank = 0; rank < ranks; ++rank) OTF2_Reader_SelectLocation(reader, rank);
  OTF2_Reader_OpenEvtFiles(reader);
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, count);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, count);
  uint64_t records = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, rank);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &records);
    uint64_t read = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
    OTF2_Reader_CloseEvtReader(reader, events);
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
}

std::vector<rubato::Scenario> scenarios(int lanes) {
  std::vector<rubato::Scenario> all;
  for (int i = 0; i < lanes; ++i) {
    all.push_back(
        rubato::parse_scenario("bandela:latency=" + std::to_string(i + 1) + "us,bandwidth=1GB/s"));
  }
  return all;
}

void replay(rubato::EventSource& source, int lanes) {
  const rubato::Results results = rubato::run_replay(source, scenarios(lanes), {});
  if (results.trace.unmatched_sends + results.trace.unmatched_receives > 0) std::exit(1);
}

/// Calls per second of the engine alone, through a pipe from a process of its own.
double engine_rate(const std::string& archive, double calls) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  cost_of([&] {
    const auto source = rubato::open_archive(archive);
    source->load({});
    const double start = cpu_now();
    replay(*source, 1);
    const double used = cpu_now() - start;
    if (write(ends[1], &used, sizeof used) != sizeof used) std::exit(1);
  });
  double used = 0;
  const bool got = read(ends[0], &used, sizeof used) == sizeof used;
  close(ends[0]);
  close(ends[1]);
  return got ? calls / used : 0;
}

struct Row {
  const char* name;
  MadeArchive what;
  bool lanes = false;   ///< also with 16 and 64 scenarios
  bool engine = false;  ///< also the engine alone
};

struct Result {
  double calls = 0;
  Cost bare{}, one{};
};

/// An archive in a directory of its own, which goes with it unless it is to be kept.
class Made {
 public:
  explicit Made(const MadeArchive& what)
      : directory_(std::filesystem::temp_directory_path() / "rubato-bench-XXXXXX") {
    if (!mkdtemp(directory_.data())) {
      std::perror(directory_.c_str());
      std::exit(1);
    }
    cost_of([&] { make_archive(what, archive()); });
  }
  ~Made() {
    if (std::getenv("RUBATO_BENCH_KEEP"))
      std::printf("%s\n", archive().c_str());
    else
      std::filesystem::remove_all(directory_);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  const std::string& directory() const { return directory_; }
  std::string archive() const { return directory_ + "/made"; }

 private:
  std::string directory_;
};

Result measure(const Row& row) {
  const Made made(row.what);
  const std::string archive = made.archive();
  Result result;
  result.calls = static_cast<double>(made_calls(row.what));
  const auto run = [&](int lanes) {
    return best_of_three([&] {
      const auto source = rubato::open_archive(archive);
      replay(*source, lanes);
    });
  };
  result.bare = best_of_three([&] { decode(archive + "/traces.otf2", row.what.ranks); });
  result.one = run(1);
  std::printf("%-14s %6d %6.2f %6llu  %7.3f %7.3f  %5.2f %8.2f %8.1f %6.1f", row.name,
              row.what.ranks, result.calls / 1e6,
              static_cast<unsigned long long>(row.what.chunk >> 10), result.bare.seconds,
              result.one.seconds, result.one.seconds / result.bare.seconds,
              result.calls / 1e6 / result.one.seconds, result.one.megabytes,
              20 + row.what.ranks * 64.0 / 1024);
  std::fflush(stdout);
  if (row.lanes) {
    std::printf("  %5.2f", run(16).seconds / result.one.seconds);
    std::fflush(stdout);
    std::printf(" %5.2f", run(64).seconds / result.one.seconds);
  }
  if (row.engine)
    std::printf("  %s%.1f", row.lanes ? "" : "            ",
                engine_rate(archive, result.calls) / 1e6);
  std::printf("\n");
  return result;
}

/// A halo in SimGrid's replay and in ours, from the same archive.
void measure_beside_simgrid(int ranks, uint64_t calls) {
  const MadeArchive what{Workload::kHalo, ranks, calls};
  const Made made(what);
  cost_of([&] { write_for_simgrid(*rubato::open_archive(made.archive()), made.directory()); });
  const Cost ours = best_of_three([&] { replay(*rubato::open_archive(made.archive()), 1); });
  const double mcalls = static_cast<double>(made_calls(what)) / 1e6;
  std::printf("%-14s %6d %6.2f  %8.3f %8.1f", "halo", ranks, mcalls, mcalls / ours.seconds,
              ours.megabytes);
  for (const SimgridNetwork network : {SimgridNetwork::kFree, SimgridNetwork::kShared}) {
    const Cost theirs = cost_of([&] { become_simgrid(made.directory(), ranks, network); });
    std::printf("  %8.4f %8.1f", mcalls / theirs.seconds, theirs.megabytes);
    std::fflush(stdout);
  }
  std::printf("\n");
}

void beside_simgrid() {
  if (!simgrid_is_here()) {
    std::printf("\nNot measured beside SimGrid's replay: there is no smpirun (libsimgrid-dev).\n");
    return;
  }
  std::printf(
      "\nBeside SimGrid's replay (smpirun -replay) of the same calls as time-independent traces,\n"
      "Mcalls/s and MB: ours with opening and reading the archive; SimGrid's without contention\n"
      "(CM02, FATPIPE), as ours is, and with its default model, where links are shared.\n");
  std::printf("%-14s %6s %6s  %8s %8s  %8s %8s  %8s %8s\n", "", "ranks", "Mcalls", "Rubato", "MB",
              "SimGrid", "MB", "shared", "MB");
  measure_beside_simgrid(64, 448000);
  measure_beside_simgrid(1024, 28672);
}

bool workload_of(const char* name, Workload& workload) {
  const std::pair<const char*, Workload> all[] = {{"halo", Workload::kHalo},
                                                  {"ring", Workload::kRing},
                                                  {"alltoall", Workload::kAlltoall},
                                                  {"master-worker", Workload::kMasterWorker}};
  for (const auto& [known, value] : all) {
    if (std::strcmp(name, known) != 0) continue;
    workload = value;
    return true;
  }
  return false;
}

void print_head() {
  std::printf("%-14s %6s %6s %6s  %7s %7s  %5s %8s %8s %6s  %5s %5s  %s\n", "", "ranks", "Mcalls",
              "chunk", "bare s", "1 s", "x", "Mcalls/s", "peak MB", "bar", "16 x", "64 x",
              "engine Mcalls/s");
}

void all_rows() {
  print_head();
  const uint64_t small = 256 << 10, large = 1024 << 10;
  const Workload halo = Workload::kHalo;
  const Result h64 = measure({"halo", {halo, 64, 2000000, small}, true, true});
  measure({"halo", {halo, 64, 2000000, large}});
  measure({"halo", {halo, 1024, 2000000, small}, true, true});
  measure({"halo", {halo, 1024, 2000000, large}});
  measure({"halo", {halo, 4096, 4000000, small}});
  const Result h16k = measure({"halo", {halo, 16384, 4000000, small}});
  const Result opening = measure({"halo, 1 turn", {halo, 16384, 1, small}});
  measure({"ring", {Workload::kRing, 1000, 2000000, small}});
  measure({"alltoall", {Workload::kAlltoall, 64, 2000000, small}});
  measure({"master-worker", {Workload::kMasterWorker, 64, 2000000, small}});
  // Files of 3 and of 12 chunks, of the least size that libotf2 takes: 64 ranks, 46 B a call.
  const uint64_t chunk = 256 << 10;
  const Result three = measure({"3 chunks", {halo, 64, 64 * 3 * chunk / 46, chunk}});
  const Result twelve = measure({"12 chunks", {halo, 64, 64 * 12 * chunk / 46, chunk}});

  std::printf(
      "\nx: replay of 1 scenario / bare decode (bar 1.5 at 64 and 1024 ranks)\n"
      "16 x, 64 x: so many scenarios / one (bars 1.3, 2.5); engine alone: bar 20\n");
  const double per_call = (h16k.one.seconds - opening.one.seconds) / (h16k.calls - opening.calls);
  std::printf("16384 ranks / 64 ranks, per call, opening aside: %.2f (bar 2)\n",
              per_call / (h64.one.seconds / h64.calls));
  std::printf("peak of 12 chunks / of 3: %.3f (bar 1.05)\n",
              twelve.one.megabytes / three.one.megabytes);
  beside_simgrid();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    all_rows();
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "simgrid") == 0) {
    beside_simgrid();
    return 0;
  }
  Row row{argv[1], {}, true, true};
  if (argc < 4 || argc > 5 || !workload_of(argv[1], row.what.workload)) {
    std::fprintf(stderr,
                 "use: rubato-bench [simgrid | halo|ring|alltoall|master-worker RANKS CALLS "
                 "[CHUNK_KIB]]\n");
    return 1;
  }
  row.what.ranks = std::atoi(argv[2]);
  row.what.calls = static_cast<uint64_t>(std::atof(argv[3]));
  if (argc > 4) row.what.chunk = std::strtoull(argv[4], nullptr, 10) << 10;
  print_head();
  measure(row);
  return 0;
}
