#include "replays.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "bare_decode.h"
#include "models/scenario/scenario.h"
#include "replay/archive/archive.h"
#include "replay/study/run_replay.h"

namespace {

std::vector<rubato::Scenario> scenarios_of(const Machine& machine, int count) {
  std::vector<rubato::Scenario> scenarios;
  for (int i = 0; i < count; ++i) {
    const std::string text = machine.base + ':' + machine.first + std::to_string(1 + 0.01 * i) +
                             ",name=" + std::to_string(i);
    scenarios.push_back(rubato::parse_scenario(text, RUBATO_PLATFORMS));
  }
  return scenarios;
}

rubato::Results replay(rubato::EventSource& source, const Machine& machine, int scenarios,
                       bool wait_states) {
  rubato::ReplayOptions options;
  options.wait_states = wait_states;
  rubato::Results results = rubato::run_replay(source, scenarios_of(machine, scenarios), options);
  for (const rubato::ScenarioResult& result : results.scenarios) {
    if (result.deadlock.empty()) continue;
    std::fprintf(stderr, "rubato-bench: %s\n", result.deadlock.c_str());
    std::exit(1);
  }
  return results;
}

/// Results of `work` in a separate process, so that this one stays small.
template <typename T>
T told_by_child(const std::function<T()>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  cost_of([&] {
    const T found = work();
    if (write(ends[1], &found, sizeof found) != sizeof found) _exit(1);
  });
  T found{};
  if (read(ends[0], &found, sizeof found) != sizeof found) std::exit(1);
  close(ends[0]);
  close(ends[1]);
  return found;
}

/// The cost of the engine alone.
Cost engine_cost(const std::string& archive, const Machine& machine) {
  return told_by_child<Cost>([&] {
    const auto source = rubato::open_archive(archive);
    source->load({});
    const double start = cpu_now();
    replay(*source, machine, 1, false);
    return Cost{cpu_now() - start, 0};
  });
}

void print_times(const Figures& figures, const Cost& cost) {
  if (cost.seconds > 0)
    std::printf(" %6.2f", figures.times_one(cost));
  else
    std::printf(" %6s", "-");
}

}  // namespace

Machine bandela() {
  return {"bandela", "bandela", "latency=1us,bandwidth=1GB/s,latency*"};
}
Machine infiniband() {
  return {"infiniband-hdr:ppn=1", "infiniband-hdr", "ppn=1,latency*"};
}
Machine calibrated() {
  return {"calibrated", RUBATO_CALIBRATED, "latency*"};
}
Machine calibrated_network() {
  return {"calibrated:ppn=1", RUBATO_CALIBRATED, "ppn=1,latency*"};
}
Machine perfect() {
  return {"perfect", "perfect", "cpu*"};
}

void replay(const std::string& archive, const Machine& machine, int scenarios, bool wait_states,
            bool all_match) {
  const rubato::Results results =
      replay(*rubato::open_archive(archive), machine, scenarios, wait_states);
  // The scenario has the declared kind of network.
  for (const rubato::ScenarioResult& scenario : results.scenarios) {
    if (!scenario.links || scenario.links->flows > 0) continue;
    std::fprintf(stderr, "rubato-bench: no message of %s crosses the network of %s\n",
                 archive.c_str(), scenario.name.c_str());
    std::exit(1);
  }
  if (all_match && results.trace.unmatched_sends + results.trace.unmatched_receives > 0) {
    std::fprintf(stderr, "rubato-bench: messages of %s are left over\n", archive.c_str());
    std::exit(1);
  }
}

void add(Turns& turns, Figures& figures, const std::string& archive, const Machine& machine,
         const Wanted& wanted) {
  const std::string anchor = rubato::find_anchor(archive);
  const std::vector<uint64_t> locations = locations_of(anchor);
  figures.locations = locations.size();
  figures.records =
      static_cast<double>(told_by_child<uint64_t>([&] { return decode_bare(anchor, locations); }));
  if (figures.calls == 0) {
    figures.calls = static_cast<double>(
        told_by_child<uint64_t>([&] { return rubato::summarize_archive(archive, {}).mpi_calls; }));
  }
  turns.add(figures.bare, [anchor, locations] { decode_bare(anchor, locations); });
  if (wanted.load) turns.add(figures.load, [archive] { rubato::open_archive(archive)->load({}); });
  const auto add_replay = [&](bool is_wanted, Cost& cost, int scenarios, bool wait_states) {
    if (is_wanted) turns.add(cost, [=] { replay(archive, machine, scenarios, wait_states); });
  };
  add_replay(true, figures.one, 1, false);
  add_replay(wanted.sixteen, figures.sixteen, 16, false);
  add_replay(wanted.sixty_four, figures.sixty_four, 64, false);
  add_replay(wanted.one_waits, figures.one_waits, 1, true);
  add_replay(wanted.many_waits, figures.sixteen_waits, 16, true);
  add_replay(wanted.many_waits, figures.sixty_four_waits, 64, true);
  if (wanted.engine) turns.add_told(figures.engine, [=] { return engine_cost(archive, machine); });
}

void print_head() {
  std::printf("%-46s %6s %7s %6s  %7s %7s %7s %6s %7s %6s  %6s %6s %6s %6s %6s %7s\n", "", "locs",
              "Mrecord", "Mcalls", "bare s", "load s", "1 s", "x", "peak MB", "bar", "16 x", "64 x",
              "1w x", "16w x", "64w x", "engine");
}

void print_row(const Figures& f) {
  std::printf("%-46s %6llu %7.2f %6.2f ", f.name.c_str(),
              static_cast<unsigned long long>(f.locations), f.records / 1e6, f.calls / 1e6);
  std::printf(" %7.3f %7.3f %7.3f %6.2f %7.1f %6.1f ", f.bare.seconds, f.load.seconds,
              f.one.seconds, f.times_bare(), f.one.megabytes, f.megabytes_allowed());
  for (const Cost* cost :
       {&f.sixteen, &f.sixty_four, &f.one_waits, &f.sixteen_waits, &f.sixty_four_waits})
    print_times(f, *cost);
  if (f.engine.seconds > 0)
    std::printf(" %7.1f\n", f.calls / 1e6 / f.engine.seconds);
  else
    std::printf(" %7s\n", "-");
  std::fflush(stdout);
}
