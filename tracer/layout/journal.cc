#include "tracer/layout/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tracer/base/clock.h"
#include "tracer/base/file_limit.h"
#include "tracer/base/settings.h"

namespace rubato {
inline namespace tracing {
namespace {

constexpr char kMagic[] = "Rubato journal 2\n";
constexpr size_t kMagicSize = sizeof kMagic - 1;

/// Set in the process that records. A lock on the file shows that the process is alive; the kernel
/// releases it when the process ends in any way.
int journal_file = -1;
std::string path;
/// An entry was written only in part: later entries would be read as the rest of it.
std::atomic<bool> torn{false};

/// An entry that names what an earlier one made.
template <class Report>
void rename(std::vector<Report>& reports, Unpacker& from) {
  const uint64_t id = from.value();
  const std::string name = from.text();
  for (Report& report : reports) {
    if (report.id == id) report.name = name;
  }
}

// A damaged journal may hold anything. The following functions check the values that readers use as
// indices and sizes.

/// Ranks, each once.
bool are_ranks(std::vector<int> list, int size) {
  std::sort(list.begin(), list.end());
  return list.empty() || (list.front() >= 0 && list.back() < size &&
                          std::adjacent_find(list.begin(), list.end()) == list.end());
}

/// The first communicator is the world.
bool sound(const ProcessFacts& facts, const ProcessReport& report) {
  const auto& communicators = report.communicators;
  constexpr uint64_t kLastTick = UINT64_MAX / 4;  // times count on from there
  return facts.rank >= 0 && facts.rank < facts.size && facts.zero < kLastTick &&
         !communicators.empty() &&
         communicators[0].members.size() == static_cast<size_t>(facts.size);
}

bool sound(const CommunicatorReport& c, int size) {
  return c.self_like || !c.recordable ||
         (!c.members.empty() && are_ranks(c.members, size) && are_ranks(c.remote_members, size));
}

bool sound(const Topology& t) {
  return t.periods.size() == t.dimensions.size() && t.coordinates.size() == t.dimensions.size();
}

/// Drops invalid entries. Local numbers are consecutive, so in a file of `bytes` all are smaller.
void sift(Journal& journal, size_t bytes) {
  const int size = journal.facts.size;
  ProcessReport& report = journal.report;
  journal.damaged += std::erase_if(report.communicators, [&](const CommunicatorReport& c) {
    return c.id >= bytes || !sound(c, size);
  });
  journal.damaged +=
      std::erase_if(report.windows, [&](const WindowReport& w) { return w.id >= bytes; });
  journal.damaged +=
      std::erase_if(report.topologies, [](const TopologyReport& t) { return !sound(t.topology); });
  journal.damaged += std::erase_if(journal.clock_samples, [](const ClockSample& s) {
    return !std::isfinite(s.deviation) || s.deviation < 0;
  });
  for (std::vector<int>& group : report.groups) {  // known by their places
    if (are_ranks(group, size)) continue;
    group.clear();
    ++journal.damaged;
  }
}

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

std::string ProcessFacts::pack() const {
  Packer packer;
  packer.put(job);
  packer.put(rank);
  packer.put(size);
  packer.put(pid);
  packer.put(host);
  packer.put(boot);
  packer.put(output);
  packer.put(command);
  packer.put(mpi_library);
  packer.put(tsc);
  packer.put(zero);
  packer.put(first_ticks);
  packer.put(first_monotonic);
  packer.put(start_ticks);
  packer.put(start_realtime);
  overhead.pack(packer);
  packer.put(processors.affinity_cores);
  packer.put(processors.cores_on_node);
  packer.put(eager_limits.node);
  packer.put(eager_limits.network);
  packer.put(call_names.size());
  for (size_t i = 0; i < call_names.size(); ++i) {
    packer.put(call_names[i]);
    packer.put(call_roles[i]);
  }
  packer.put(call_sites);
  packer.put(function_filter);
  packer.put(processors.affinity_list);
  packer.put(static_cast<uint64_t>(processors.socket + 1));
  packer.put(function_hooks);
  packer.put(counters);
  packer.put(call_paths);
  packer.put(sample_period);
  return packer.bytes();
}

ProcessFacts ProcessFacts::unpack(const std::string& bytes) {
  ProcessFacts facts;
  Unpacker from(bytes);
  facts.job = from.value();
  facts.rank = static_cast<int>(from.value());
  facts.size = static_cast<int>(from.value());
  facts.pid = from.value();
  facts.host = from.text();
  facts.boot = from.text();
  facts.output = from.text();
  facts.command = from.text();
  facts.mpi_library = from.text();
  facts.tsc = from.value() != 0;
  facts.zero = from.value();
  facts.first_ticks = from.value();
  facts.first_monotonic = from.value();
  facts.start_ticks = from.value();
  facts.start_realtime = from.value();
  facts.overhead = Overhead::unpack(from);
  facts.processors.affinity_cores = from.value();
  facts.processors.cores_on_node = from.value();
  facts.eager_limits.node = from.value();
  facts.eager_limits.network = from.value();
  for (uint64_t count = from.value(); count > 0 && !from.done(); --count) {
    facts.call_names.push_back(from.text());
    facts.call_roles.push_back(static_cast<unsigned>(from.value()));
  }
  facts.call_sites = from.value() != 0;
  facts.function_filter = from.text();
  facts.processors.affinity_list = from.text();
  facts.processors.socket = static_cast<int>(from.value()) - 1;
  facts.function_hooks = static_cast<uint32_t>(std::min(from.value(), uint64_t{3}));
  facts.counters = from.text();
  facts.call_paths = from.value() != 0;
  facts.sample_period = from.value();
  return facts;
}

namespace journal {

std::string file_name(const std::string& directory, int rank) {
  return directory + "/" + std::to_string(rank) + ".journal";
}

bool open(const std::string& directory, int rank) {
  const NoFileSizeSignal quiet;
  path = file_name(directory, rank);
  journal_file =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (journal_file < 0) return false;
  struct flock lock = whole_file(F_WRLCK);
  fcntl(journal_file, F_SETLK, &lock);
  return write(journal_file, kMagic, kMagicSize) == static_cast<ssize_t>(kMagicSize);
}

void append(JournalEntry kind, const std::string& bytes) {
  if (journal_file < 0 || torn) return;
  const uint32_t head[2] = {static_cast<uint32_t>(kind), static_cast<uint32_t>(bytes.size())};
  std::string entry(reinterpret_cast<const char*>(head), sizeof head);
  entry += bytes;
  const NoFileSizeSignal quiet;
  // On a full disk the entry is lost or torn; readers stop at a torn one.
  const ssize_t written = write(journal_file, entry.data(), entry.size());
  if (written > 0 && written != static_cast<ssize_t>(entry.size())) torn = true;
}

void communicator(const CommunicatorReport& report) {
  Packer packer;
  report.pack(packer);
  append(JournalEntry::kCommunicator, packer.bytes());
}

void communicator_name(uint32_t id, const std::string& name) {
  Packer packer;
  packer.put(id);
  packer.put(name);
  append(JournalEntry::kCommunicatorName, packer.bytes());
}

void topology(const TopologyReport& report) {
  Packer packer;
  report.pack(packer);
  append(JournalEntry::kTopology, packer.bytes());
}

void window(const WindowReport& report) {
  Packer packer;
  report.pack(packer);
  append(JournalEntry::kWindow, packer.bytes());
}

void window_name(uint32_t id, const std::string& name) {
  Packer packer;
  packer.put(id);
  packer.put(name);
  append(JournalEntry::kWindowName, packer.bytes());
}

void group(const std::vector<int>& world_ranks) {
  Packer packer;
  packer.put(world_ranks);
  append(JournalEntry::kGroup, packer.bytes());
}

void module(const Module& module) {
  Packer packer;
  module.pack(packer);
  append(JournalEntry::kModule, packer.bytes());
}

void clock_sample(int parent, const std::vector<ClockSample>& samples) {
  if (samples.empty()) return;
  Packer packer;
  packer.put(parent);
  packer.put(samples.back().own);
  packer.put(samples.back().parent);
  packer.put(samples.back().deviation);
  append(JournalEntry::kClockSample, packer.bytes());
}

void sessions(bool open) {
  Packer packer;
  packer.put(open);
  append(JournalEntry::kSessions, packer.bytes());
}

void ended(bool early, int error) {
  Packer packer;
  packer.put(early);
  packer.put(error);
  append(JournalEntry::kEnded, packer.bytes());
}

void remove() {
  if (journal_file < 0) return;
  unlink(path.c_str());
  close(journal_file);
  journal_file = -1;
}

}  // namespace journal

bool still_runs(const Journal& journal) {
  if (journal.alive) return true;
  if (journal.facts.boot != boot_id() || journal.facts.command.empty()) return false;
  return command_line("/proc/" + std::to_string(journal.facts.pid)) == journal.facts.command;
}

bool read_journal(const std::string& name, Journal& journal, std::string& reason) {
  std::ifstream in(name, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open()) {
    reason = std::strerror(errno);
    return false;
  }
  if (bytes.compare(0, kMagicSize, kMagic) != 0) {
    reason = "no journal of this version of rubato";
    return false;
  }
  bool facts_seen = false;
  for (size_t at = kMagicSize; at + 8 <= bytes.size();) {
    uint32_t head[2];
    std::memcpy(head, bytes.data() + at, sizeof head);
    at += sizeof head;
    if (head[0] == 0 || head[0] > static_cast<uint32_t>(JournalEntry::kLast)) {
      ++journal.damaged;
      break;
    }
    if (head[1] > bytes.size() - at) break;  // torn
    const std::string entry = bytes.substr(at, head[1]);
    at += head[1];
    Unpacker from(entry);
    switch (static_cast<JournalEntry>(head[0])) {
      case JournalEntry::kProcess:
        journal.facts = ProcessFacts::unpack(entry);
        facts_seen = true;
        break;
      case JournalEntry::kCommunicator:
        journal.report.communicators.push_back(CommunicatorReport::unpack(from));
        break;
      case JournalEntry::kCommunicatorName:
        rename(journal.report.communicators, from);
        break;
      case JournalEntry::kTopology:
        journal.report.topologies.push_back(TopologyReport::unpack(from));
        break;
      case JournalEntry::kWindow:
        journal.report.windows.push_back(WindowReport::unpack(from));
        break;
      case JournalEntry::kWindowName:
        rename(journal.report.windows, from);
        break;
      case JournalEntry::kGroup:
        journal.report.groups.push_back(from.list());
        break;
      case JournalEntry::kModule:
        journal.modules.push_back(Module::unpack(from));
        break;
      case JournalEntry::kSessions:
        journal.sessions = true;
        journal.sessions_closed = from.value() == 0;
        break;
      case JournalEntry::kEnded:
        journal.ended = true;
        journal.ended_early = from.value() != 0;
        journal.ended_error = static_cast<int>(from.value());
        break;
      case JournalEntry::kClockSample: {
        journal.clock_parent = static_cast<int>(from.value());
        ClockSample sample;
        sample.own = from.value();
        sample.parent = from.value();
        sample.deviation = from.number();
        journal.clock_samples.push_back(sample);
        break;
      }
    }
  }
  if (!facts_seen) {
    reason = "the process died before it had started to record";
    return false;
  }
  if (!sound(journal.facts, journal.report)) {
    reason = "it is damaged";
    return false;
  }
  sift(journal, bytes.size());
  const int lock_file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (lock_file >= 0) {
    struct flock lock = whole_file(F_WRLCK);
    journal.alive = fcntl(lock_file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(lock_file);
  }
  return true;
}

}  // namespace tracing
}  // namespace rubato
