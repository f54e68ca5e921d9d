// Definitions that the processes of a host have in common. Here threads take the part of processes.

#include "replay/archive/host_definitions.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "models/base/error.h"
#include "replay/cluster/memory_transport.h"
#include "replay/cluster/one_process.h"
#include "tests/fixture/otf2_archive.h"
#include "tests/unit/directory.h"

using namespace rubato;

namespace {

/// `work` in each of so many members of a team.
void together(int processes, const std::function<void(Team&)>& work) {
  MemoryNetwork network(processes);
  std::vector<std::jthread> threads;
  for (int self = 0; self < processes; ++self) {
    threads.emplace_back([&, self] {
      const auto transport = network.transport(self);
      Team team(*transport);
      work(team);
    });
  }
}

/// Different in some part of what an archive defines, but for lists of members.
std::vector<std::string> differing(const TraceDefinitions& a, const TraceDefinitions& b) {
  std::vector<std::string> names;
  const auto compare = [&](const char* name, bool equal) {
    if (!equal) names.emplace_back(name);
  };
  const auto equal = [](const auto& x, const auto& y, auto same) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  compare("path", a.path == b.path && a.creator == b.creator);
  compare("clock", a.ticks_per_second == b.ticks_per_second && a.one_clock == b.one_clock);
  compare("location_of_rank", a.location_of_rank.copy() == b.location_of_rank.copy());
  compare("node_of_rank", a.node_of_rank.copy() == b.node_of_rank.copy());
  compare("socket_of_rank", a.socket_of_rank.copy() == b.socket_of_rank.copy());
  compare("nodes", a.nodes.copy() == b.nodes.copy());
  compare("comms", equal(a.comms, b.comms, [](const Communicator& x, const Communicator& y) {
            return x.name == y.name && x.self_like == y.self_like && x.inter == y.inter &&
                   x.window == y.window && x.first_group == y.first_group &&
                   x.members.copy() == y.members.copy();
          }));
  compare("groups", equal(a.groups, b.groups, [](const MemberList& x, const MemberList& y) {
            return x.copy() == y.copy();
          }));
  compare("neighbours", a.neighbours.peers().copy() == b.neighbours.peers().copy() &&
                            a.neighbours.entries().size() == b.neighbours.entries().size());
  compare("world", a.world == b.world);
  compare("calls", equal(a.calls, b.calls, [](const MpiCallInfo& x, const MpiCallInfo& y) {
            return x.name == y.name && x.joins == y.joins && x.waits == y.waits &&
                   x.without_records == y.without_records;
          }));
  compare("threads", equal(a.threads, b.threads, [](const Thread& x, const Thread& y) {
            return x.location == y.location && x.rank == y.rank && x.number == y.number;
          }));
  compare("side_locations",
          equal(a.side_locations, b.side_locations, [](const SideLocation& x, const auto& y) {
            return x.id == y.id && x.rank == y.rank && x.thread == y.thread && x.stream == y.stream;
          }));
  compare("properties", a.properties == b.properties && a.warnings == b.warnings);
  compare("conventions", a.sizes == b.sizes && a.wildcards == b.wildcards &&
                             a.overhead.outside == b.overhead.outside &&
                             a.eager_limit_node == b.eager_limit_node &&
                             a.eager_limit_network == b.eager_limit_network &&
                             a.shared_cores == b.shared_cores);
  return names;
}

}  // namespace

TEST_CASE("members of a team open an archive as one process does, and have its lists in common") {
  Otf2Archive what = small_program({});
  what.properties["RUBATO::EAGER_LIMIT_NODE"] = "4096";
  what.properties["RUBATO::OVERHEAD_OUTSIDE"] = "1e-8";
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "run";
  write_archive(what, path);
  const auto alone = open_archive(path);
  // The second threads of two ranks call MPI; that of rank 0 does not (otf2_archive.h).
  REQUIRE(alone->definitions().threads.size() == 2);
  REQUIRE(alone->definitions().side_locations.size() == 1);
  for (const int processes : {1, 2, 3, 7}) {
    std::vector<std::vector<std::string>> differences(processes);
    std::vector<const int*> nodes(processes);
    std::vector<std::unique_ptr<EventSource>> parts(processes);
    together(processes, [&](Team& team) {
      auto& part = parts[team.self()];
      part = open_archive(path, {.team = &team});
      differences[team.self()] = differing(alone->definitions(), part->definitions());
      nodes[team.self()] = part->definitions().node_of_rank.data();
    });
    for (int self = 0; self < processes; ++self) {
      CHECK(differences[self].empty());
      CHECK(nodes[self] == nodes[0]);
    }
    // All can be read by each, though it has looked at some locations only.
    alone->rewind();
    alone->load({});
    parts.back()->load({});
    CHECK(parts.back()->counts().records == alone->counts().records);
  }
}

TEST_CASE("one process per host reads definitions, and shared lists of members stay shared") {
  std::atomic<int> reads = 0;
  const auto read = [&] {
    ++reads;
    Archive archive;
    archive.anchor = "made up";
    // MPI_COMM_WORLD, a copy of it, and an intercommunicator of {2, 0} and {1, 3}.
    for (const char* name : {"world", "copy", "inter"}) {
      archive.definitions.comms.emplace_back().name = name;
      archive.definitions.comms.back().set_members({0, 1, 2, 3});
    }
    archive.definitions.comms[1].members = archive.definitions.comms[0].members;
    archive.definitions.comms[2].set_members({2, 0});
    archive.index.remote_group[2] = MemberList({1, 3});
    archive.index.comm_of_ref.set(5, 1);
    archive.index.comm_of_ref.set(1 << 20, 2);
    archive.index.functions.emplace_back(9, FunctionName{"solve", "app.c", 41});
    archive.index.events = std::vector<LocationEvents>{{3, 30}, {7, 70}};
    archive.definitions.neighbours =
        NeighbourTable({{{1, 0}, {{0, 2}, {3}}}, {{1, 2}, {{}, {1}}}, {{2, 0}, {{1}, {}}}});
    archive.definitions.nodes = FixedTexts({"a", "", "node12"});
    return archive;
  };
  std::vector<Archive> archives(3);
  together(3, [&](Team& team) { archives[team.self()] = read_once_per_host(team, read); });
  CHECK(reads == 1);
  for (const Archive& archive : archives) {
    const std::vector<Communicator>& comms = archive.definitions.comms;
    REQUIRE(comms.size() == 3);
    CHECK(comms[0].members.ranks().data() == comms[1].members.ranks().data());
    CHECK(comms[0].members.ranks().data() ==
          archives[0].definitions.comms[0].members.ranks().data());
    CHECK(comms[2].local_rank(2) == 0);
    CHECK(comms[2].local_rank(0) == 1);
    CHECK(comms[2].local_rank(1) == -1);
    CHECK(archive.index.remote_group.at(2).copy() == std::vector<int32_t>{1, 3});
    CHECK(archive.index.comm_of_ref.get(5) == 1);
    CHECK(archive.index.comm_of_ref.get(1 << 20) == 2);
    CHECK_FALSE(archive.index.comm_of_ref.get(4));
    CHECK(archive.index.functions.at(0).second.place() == "solve (app.c:41)");
    CHECK(archive.index.events_of(3) == 30);
    CHECK(archive.index.events_of(7) == 70);
    CHECK(archive.definitions.nodes.copy() == std::vector<std::string>{"a", "", "node12"});
    const auto found = archive.definitions.neighbours.find(1, 0);
    REQUIRE(found);
    CHECK(std::vector<int32_t>(found->sources.begin(), found->sources.end()) ==
          std::vector<int32_t>{0, 2});
    CHECK(found->destinations[0] == 3);
    CHECK(archive.definitions.neighbours.find(1, 2)->sources.empty());
    CHECK_FALSE(archive.definitions.neighbours.find(1, 1));
    CHECK_FALSE(archive.definitions.neighbours.find(3, 0));
  }
}

TEST_CASE("where definitions cannot be read, all members of a team learn of it") {
  std::atomic<int> refused = 0;
  together(3, [&](Team& team) {
    try {
      read_once_per_host(team, []() -> Archive { throw InputError("damaged"); });
    } catch (const NeedsOneProcess& needs) {
      refused += needs.why == OneProcess::kFailed ? 1 : 0;
    }
  });
  CHECK(refused == 3);
}

TEST_CASE("lists in bytes begin where their type may") {
  for (int before = 0; before < 9; ++before) {
    ByteWriter writer;
    for (int i = 0; i < before; ++i) writer.number(1);
    writer.list<uint64_t>(std::vector<uint64_t>{1, uint64_t{1} << 60});
    writer.list<int32_t>(std::vector<int32_t>{});
    writer.number(7);
    const Bytes bytes = writer.take();
    ByteReader reader(bytes);
    for (int i = 0; i < before; ++i) reader.number();
    const FixedList<uint64_t> list = reader.list<uint64_t>(nullptr);
    CHECK(reinterpret_cast<uintptr_t>(list.data()) % alignof(uint64_t) == 0);
    CHECK(list.copy() == std::vector<uint64_t>{1, uint64_t{1} << 60});
    CHECK(reader.list<int32_t>(nullptr).empty());
    CHECK(reader.number() == 7);
    // Cut within the list.
    ByteReader cut(bytes.data(), bytes.data() + before + 8);
    for (int i = 0; i < before; ++i) cut.number();
    CHECK_THROWS_AS(cut.list<uint64_t>(nullptr), std::logic_error);
  }
}
