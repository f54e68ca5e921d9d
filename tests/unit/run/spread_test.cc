// Scenarios that several processes share out give what one of them finds, byte by byte; here
// threads take the part of processes.

#include "replay/parallel/spread_run.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>
#include <exception>
#include <optional>
#include <thread>

#include "models/base/error.h"
#include "replay/cluster/memory_transport.h"
#include "replay/cluster/one_process.h"
#include "tests/unit/forwarding_source.h"
#include "tests/unit/on_network.h"
#include "tools/report/report_json.h"

using namespace rubato;

namespace {

/// A file that some process cannot read.
class Unreadable : public ForwardingSource {
 public:
  Unreadable(const std::string& text, bool fails) : ForwardingSource(text), fails_(fails) {}
  void load(const std::function<void(double)>&) override {
    if (fails_) throw InputError("traces/0.evt cannot be read");
  }

 private:
  bool fails_;
};

/// For each process, all results of the run; none if it was refused.
std::vector<std::optional<std::string>> spread(const std::string& text,
                                               const std::vector<Scenario>& scenarios,
                                               int processes, int failing = -1) {
  MemoryNetwork network(processes);
  std::vector<std::optional<std::string>> found(processes);
  std::vector<std::exception_ptr> errors(processes);
  {
    std::vector<std::jthread> threads;
    for (int self = 0; self < processes; ++self) {
      threads.emplace_back([&, self] {
        try {
          Unreadable source(text, self == failing);
          const auto transport = network.transport(self);
          Team team(*transport);
          ReplayOptions options;
          options.spread = &team;
          const Results results = run_replay(source, scenarios, options);
          found[self] = report_json(results) + report_csv(results);
        } catch (const NeedsOneProcess&) {
        } catch (...) {
          errors[self] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return found;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> made = {parse_scenario("measured"), parse_scenario("perfect"),
                                  contended(""), degraded(2)};
    for (const char* keys : {"model = \"crossbar\"", "model = \"fat-tree\"\ndown = [2, 2]",
                             "model = \"torus\"\ndimensions = [2, 2]"})
      made.push_back(on_network(keys));
    return made;
  }();
  return all;
}

const std::string kTrace =
    traffic(4, {{0, 1, 1000}, {2, 1, 2000}, {3, 0, 500}, {1, 0, 3000}, {2, 3, 6000}});

}  // namespace

TEST_CASE("shared out scenarios give the bytes of one process") {
  const auto source = parse_text_trace(kTrace);
  const Results results = run_replay(*source, scenarios(), {});
  const std::string alone = report_json(results) + report_csv(results);
  for (const int processes : {1, 2, 3, 9}) {
    INFO(processes << " processes");
    CHECK(spread(kTrace, scenarios(), processes)[0] == alone);
  }
}

TEST_CASE("a file that one process cannot read stops all of them") {
  for (const int failing : {0, 1, 2}) {
    for (const auto& found : spread(kTrace, scenarios(), 3, failing)) CHECK(!found);
  }
}
