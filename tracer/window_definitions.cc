#include "tracer/window_definitions.h"

#include <algorithm>
#include <map>

#include "tracer/gather.h"
#include "tracer/windows.h"

namespace rubato {
namespace {

/// What one rank says about its windows and groups.
struct WindowReport {
  struct Own {
    uint64_t identity;
    uint32_t communicator;  ///< global number
    std::string name;
  };
  std::vector<std::string> alone;  ///< names of windows with one member
  std::vector<Own> own;            ///< windows of which this rank is the first member
  std::vector<std::vector<int>> groups;

  std::string pack() const {
    Packer packer;
    packer.put(alone.size());
    for (const std::string& name : alone) packer.put(name);
    packer.put(own.size());
    for (const Own& window : own) {
      packer.put(window.identity);
      packer.put(window.communicator);
      packer.put(window.name);
    }
    packer.put(groups.size());
    for (const auto& group : groups) packer.put(group);
    return packer.bytes();
  }

  static WindowReport unpack(const std::string& bytes) {
    Unpacker from(bytes);
    WindowReport report;
    report.alone.resize(from.value());
    for (std::string& name : report.alone) name = from.text();
    report.own.resize(from.value());
    for (Own& window : report.own) {
      window.identity = from.value();
      window.communicator = static_cast<uint32_t>(from.value());
      window.name = from.text();
    }
    report.groups.resize(from.value());
    for (auto& group : report.groups) group = from.list();
    return report;
  }
};

WindowReport report_windows(const Definitions& definitions) {
  WindowReport report;
  for (const Window* window : windows::all()) {
    if (!window->recordable) continue;
    const uint32_t communicator = definitions.global_id[window->communicator];
    if (window->alone && communicators::by_id(window->communicator)->self_like()) {
      report.alone.push_back(window->name);
    } else if (window->first && communicator != kNone) {
      report.own.push_back({window->identity, communicator, window->name});
    }
  }
  for (const windows::Group* group : windows::all_groups()) {
    report.groups.push_back(group->world_ranks);
  }
  return report;
}

}  // namespace

void unify_windows(MPI_Comm comm, Definitions& definitions) {
  int rank;
  PMPI(Comm_rank)(comm, &rank);
  const WindowReport mine = report_windows(definitions);
  const auto parts = gather(comm, mine.pack());

  // Rank 0 numbers everything; the answer names windows by identity and groups by their members.
  Packer agreed;
  if (rank == 0) {
    std::vector<WindowReport> reports;
    for (const std::string& part : parts) reports.push_back(WindowReport::unpack(part));
    for (const WindowReport& report : reports) {
      for (size_t i = 0; i < report.alone.size(); ++i) {
        if (i < definitions.windows.size()) continue;
        definitions.windows.push_back({report.alone[i], communicators::kSelf});
      }
    }
    agreed.put(definitions.windows.size());
    std::vector<uint64_t> identities;
    for (const WindowReport& report : reports) {
      for (const WindowReport::Own& window : report.own) {
        identities.push_back(window.identity);
        definitions.windows.push_back({window.name, window.communicator});
      }
    }
    agreed.put(identities.size());
    for (const uint64_t identity : identities) agreed.put(identity);

    std::map<std::vector<int>, uint32_t> numbers;
    for (uint32_t i = kSelfGroup + 1; i < definitions.groups.size(); ++i) {
      numbers.try_emplace(definitions.groups[i], i);
    }
    std::map<std::vector<int>, uint32_t> named;
    for (const WindowReport& report : reports) {
      for (const auto& group : report.groups) {
        const auto next = static_cast<uint32_t>(definitions.groups.size());
        const auto [place, is_new] = numbers.try_emplace(group, next);
        if (is_new) definitions.groups.push_back(group);
        named.insert(*place);
      }
    }
    agreed.put(named.size());
    for (const auto& [members, number] : named) {
      agreed.put(members);
      agreed.put(number);
    }
  }
  const std::string bytes = broadcast(comm, agreed.bytes());
  Unpacker from(bytes);

  const auto shared = static_cast<uint32_t>(from.value());
  std::map<uint64_t, uint32_t> number;
  const size_t others = from.value();
  for (uint32_t i = 0; i < others; ++i) number.try_emplace(from.value(), shared + i);
  uint32_t alone = 0;
  for (const Window* window : windows::all()) {
    uint32_t id = kNone;
    if (window->recordable) {
      if (window->alone && communicators::by_id(window->communicator)->self_like()) {
        id = alone++;
      } else if (const auto found = number.find(window->identity); found != number.end()) {
        id = found->second;
      }
    }
    definitions.global_window.push_back(id);
  }
  std::map<std::vector<int>, uint32_t> groups;
  for (size_t left = from.value(); left > 0; --left) {
    auto members = from.list();
    groups[std::move(members)] = static_cast<uint32_t>(from.value());
  }
  for (const auto& members : mine.groups) definitions.global_group.push_back(groups[members]);
}

}  // namespace rubato
