// How fast the replay is and what memory it takes, beside the bare reading of the same archives.
//
//   rubato-bench                                   all rows; some minutes and 2 GB in $TMPDIR
//   rubato-bench WORKLOAD RANKS CALLS [CHUNK_KIB]  one row: halo, ring, alltoall or master-worker
//   rubato-bench simgrid                           only the rows beside SimGrid's replay
//
// Archives are made with a fixed seed (made_archive.h). Each measurement is a process of its own,
// in processor seconds of one core: where a second one is free, a thread decodes there, and two
// that share a core count more seconds for the same work. What is to be compared takes turns.
// Shared machines change their speed within seconds, so rounds go on until five in a row found
// nothing cheaper (sixteen at most), and the cheapest of each counts. What is measured:
//   bare     libotf2 reads every location once, one after the other, with callbacks that only count
//   load     the same, and makes packed calls of the records
//   1, 16, 64  contention-free replays of so many scenarios of one structure, archive included
//   1w ...     the same with wait states, beside 1 without
//   engine   the replay alone of one scenario, from decoded calls as the replay holds them
// So load - bare is what callbacks and packing cost, 1 - load what the engine does.
// Where SimGrid is installed, its replay of two halos is measured beside ours (simgrid_peer.h).
// With the archive kept (RUBATO_BENCH_KEEP=1) its directory is printed.

#include <otf2/otf2.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cost.h"
#include "made_archive.h"
#include "models/cost/scenario.h"
#include "replay/archive/archive.h"
#include "replay/driver.h"
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

/// From now on this process and its children run where it runs now.
void stay_on_one_core() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
}

std::vector<rubato::Scenario> scenarios(int lanes) {
  std::vector<rubato::Scenario> all;
  for (int i = 0; i < lanes; ++i) {
    all.push_back(
        rubato::parse_scenario("bandela:latency=" + std::to_string(i + 1) + "us,bandwidth=1GB/s"));
  }
  return all;
}

void replay(rubato::EventSource& source, int lanes, bool wait_states = false) {
  rubato::ReplayOptions options;
  options.wait_states = wait_states;
  const rubato::Results results = rubato::run_replay(source, scenarios(lanes), options);
  if (results.trace.unmatched_sends + results.trace.unmatched_receives > 0) std::exit(1);
}

/// What the engine alone costs; in a process of its own, which tells through a pipe.
double engine_seconds(const std::string& archive) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  cost_of([&] {
    const auto source = rubato::open_archive(archive);
    source->load({});
    const double start = cpu_now();
    replay(*source, 1);
    const double used = cpu_now() - start;
    if (write(ends[1], &used, sizeof used) != sizeof used) std::exit(1);
  });
  double used = 0;
  if (read(ends[0], &used, sizeof used) != sizeof used) std::exit(1);
  close(ends[0]);
  close(ends[1]);
  return used;
}

struct Row {
  const char* name;
  MadeArchive what;
  bool all = false;  ///< also with 16 and 64 scenarios, and the engine alone
  /// Also replayed in every round: what this one is compared with has to be of the same minute.
  std::vector<MadeArchive> beside{};
};

struct Result {
  std::string name;
  double calls = 0;
  Cost bare{}, load{}, one{};
  Cost sixteen{}, sixty_four{};                           ///< where asked for
  Cost one_waits{}, sixteen_waits{}, sixty_four_waits{};  ///< likewise, with wait states
  double engine = 0;                                      ///< seconds, likewise
  std::vector<Cost> beside{};                             ///< one scenario of each Row::beside

  double per_call() const { return one.seconds / calls; }
};

/// A ratio beside what it should be.
void print_bar(const std::string& what, double value, double bar, bool at_least = false) {
  const bool met = at_least ? value >= bar : value <= bar;
  std::printf("%-52s %7.3f  %s %5.2f  %s\n", what.c_str(), value, at_least ? ">=" : "<=", bar,
              met ? "yes" : "NO");
}

/// What holds for every row, and, where they were measured, for many scenarios and the engine.
void print_bars(const Result& r) {
  print_bar(r.name + ": 1 scenario / bare decode", r.one.seconds / r.bare.seconds, 1.5);
  if (r.engine == 0) return;
  print_bar(r.name + ": 16 scenarios / 1", r.sixteen.seconds / r.one.seconds, 1.3);
  print_bar(r.name + ": 64 scenarios / 1", r.sixty_four.seconds / r.one.seconds, 2.5);
  print_bar(r.name + ": 16 with wait states / 1", r.sixteen_waits.seconds / r.one.seconds, 2);
  print_bar(r.name + ": 64 with wait states / 1", r.sixty_four_waits.seconds / r.one.seconds, 5);
  print_bar(r.name + ": engine alone, Mcalls/s", r.calls / 1e6 / r.engine, 20, true);
}

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
  constexpr int kFewRounds = 5;
  constexpr int kMostRounds = 16;
  constexpr double kCheaper = 0.99;  // less than that is no news
  const Made made(row.what);
  const std::string archive = made.archive();
  Result result;
  result.name = std::string(row.name) + ", " + std::to_string(row.what.ranks) + " ranks, " +
                std::to_string(row.what.chunk >> 10) + " KiB";
  result.calls = static_cast<double>(made_calls(row.what));
  std::deque<Made> beside;
  for (const MadeArchive& other : row.beside) beside.emplace_back(other);
  result.beside.resize(beside.size());
  int without_news = 0;
  const auto keep_cheaper = [&](Cost& best, const std::function<void()>& work) {
    const Cost cost = cost_of(work);
    if (best.seconds == 0 || cost.seconds < kCheaper * best.seconds) without_news = -1;
    if (best.seconds == 0 || cost.seconds < best.seconds) best = cost;
  };
  const auto run = [&](Cost& best, int lanes, bool wait_states = false) {
    keep_cheaper(best, [&] { replay(*rubato::open_archive(archive), lanes, wait_states); });
  };
  for (int round = 0; round < kMostRounds && without_news < kFewRounds; ++round, ++without_news) {
    keep_cheaper(result.bare, [&] { decode(archive + "/traces.otf2", row.what.ranks); });
    keep_cheaper(result.load, [&] { rubato::open_archive(archive)->load({}); });
    run(result.one, 1);
    for (size_t i = 0; i < beside.size(); ++i) {
      keep_cheaper(result.beside[i],
                   [&] { replay(*rubato::open_archive(beside[i].archive()), 1); });
    }
    if (!row.all) continue;
    run(result.sixteen, 16);
    run(result.sixty_four, 64);
    run(result.one_waits, 1, true);
    run(result.sixteen_waits, 16, true);
    run(result.sixty_four_waits, 64, true);
    const double engine = engine_seconds(archive);
    if (round == 0 || engine < kCheaper * result.engine) without_news = -1;
    if (round == 0 || engine < result.engine) result.engine = engine;
  }
  std::printf("%-14s %6d %6.2f %6llu  %7.3f %7.3f %7.3f  %5.2f %8.2f %8.1f %6.1f", row.name,
              row.what.ranks, result.calls / 1e6,
              static_cast<unsigned long long>(row.what.chunk >> 10), result.bare.seconds,
              result.load.seconds, result.one.seconds, result.one.seconds / result.bare.seconds,
              1e-6 / result.per_call(), result.one.megabytes, 20 + row.what.ranks * 64.0 / 1024);
  if (row.all) {
    const auto times_one = [&](const Cost& cost) { return cost.seconds / result.one.seconds; };
    std::printf("  %5.2f %5.2f  %5.2f %5.2f %5.2f  %.1f", times_one(result.sixteen),
                times_one(result.sixty_four), times_one(result.one_waits),
                times_one(result.sixteen_waits), times_one(result.sixty_four_waits),
                result.calls / 1e6 / result.engine);
  }
  std::printf("\n");
  return result;
}

/// How much slower a call is among many ranks than among 64.
struct Slowdown {
  std::string name;
  double times;
};

/// A halo of so many ranks beside one of 64. To open the files is left aside: one turn of each,
/// mostly that, is taken out.
Slowdown measure_slowdown(int ranks) {
  const auto halo = [](int among, uint64_t calls) {
    return MadeArchive{Workload::kHalo, among, calls, 256 << 10};
  };
  enum Beside : size_t { kOneTurn, kFew, kFewOneTurn };
  const Row row{
      "halo", halo(ranks, 4000000), false, {halo(ranks, 1), halo(64, 2000000), halo(64, 1)}};
  const Result result = measure(row);
  const auto seconds = [&](Beside which) { return result.beside[which].seconds; };
  const auto calls = [&](Beside which) {
    return static_cast<double>(made_calls(row.beside[which]));
  };
  const double many = (result.one.seconds - seconds(kOneTurn)) / (result.calls - calls(kOneTurn));
  const double few = (seconds(kFew) - seconds(kFewOneTurn)) / (calls(kFew) - calls(kFewOneTurn));
  return {result.name + ": a call / one of 64 ranks", many / few};
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
  std::printf("%-14s %6s %6s %6s  %7s %7s %7s  %5s %8s %8s %6s  %5s %5s  %5s %5s %5s  %s\n", "",
              "ranks", "Mcalls", "chunk", "bare s", "load s", "1 s", "x", "Mcalls/s", "peak MB",
              "bar", "16 x", "64 x", "1w x", "16w x", "64w x", "engine Mcalls/s");
}

void all_rows() {
  print_head();
  const uint64_t small = 256 << 10, large = 1024 << 10;
  const Workload halo = Workload::kHalo;
  const Result h64 = measure({"halo", {halo, 64, 2000000, small}, true});
  const Result h64_large = measure({"halo", {halo, 64, 2000000, large}});
  const Result h1k = measure({"halo", {halo, 1024, 2000000, small}, true});
  const Result h1k_large = measure({"halo", {halo, 1024, 2000000, large}});
  const Slowdown of_many[] = {measure_slowdown(4096), measure_slowdown(16384)};
  measure({"ring", {Workload::kRing, 1000, 2000000, small}});
  measure({"alltoall", {Workload::kAlltoall, 64, 2000000, small}});
  measure({"master-worker", {Workload::kMasterWorker, 64, 2000000, small}});
  // Files of 3 and of 12 chunks, of the least size that libotf2 takes: 64 ranks, 46 B a call.
  const uint64_t chunk = 256 << 10;
  const Result three = measure({"3 chunks", {halo, 64, 64 * 3 * chunk / 46, chunk}});
  const Result twelve = measure({"12 chunks", {halo, 64, 64 * 12 * chunk / 46, chunk}});
  std::printf("\nBars (peak MB has its own beside it):\n");
  for (const Result* result : {&h64, &h64_large, &h1k, &h1k_large}) print_bars(*result);
  for (const Slowdown& slowdown : of_many) print_bar(slowdown.name, slowdown.times, 2);
  print_bar("peak of files of 12 chunks / of 3", twelve.one.megabytes / three.one.megabytes, 1.05);
  beside_simgrid();
}

}  // namespace

int main(int argc, char** argv) {
  stay_on_one_core();
  if (argc == 1) {
    all_rows();
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "simgrid") == 0) {
    beside_simgrid();
    return 0;
  }
  Row row{argv[1], {}, true};
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
  print_bars(measure(row));
  return 0;
}
