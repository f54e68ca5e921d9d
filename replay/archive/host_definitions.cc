// The definitions of an archive as one block of bytes, which the processes of a host share: lists
// by rank, by location or of members stay in the block, the rest is copied. So a process needs
// little memory for the ranks of others, and the file system serves one reader per host.

#include "replay/archive/host_definitions.h"

#include <boost/crc.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "replay/cluster/member_stream.h"
#include "replay/cluster/one_process.h"

namespace rubato {

template <>
inline constexpr bool kGoesAsItIs<CallSemantics> = true;
template <>
inline constexpr bool kGoesAsItIs<RecordingOverhead> = true;

template <typename Visit>
static void visit(FixedTexts& x, Visit each) {
  FixedList<uint64_t> ends = x.ends();
  FixedList<char> text = x.text();
  each(ends, text);
  x = {std::move(ends), std::move(text)};
}
/// (Lists of members are stored separately: many communicators may have the same.)
template <typename Visit>
static void visit(MemberList&, Visit) {}
template <typename Visit>
static void visit(NeighbourTable& x, Visit each) {
  FixedList<NeighbourTable::Entry> entries = x.entries();
  FixedList<int32_t> peers = x.peers();
  each(entries, peers);
  x = {std::move(entries), std::move(peers)};
}
template <typename Value, typename Visit>
static void visit(ReferenceTable<Value>& x, Visit each) {
  x.list_parts(each);
}
template <typename Visit>
static void visit(Communicator& x, Visit each) {
  static_assert(members<Communicator>() == 6);
  each(x.name, x.members, x.self_like, x.inter, x.window, x.first_group);
}
template <typename Visit>
static void visit(MpiCallInfo& x, Visit each) {
  static_assert(members<MpiCallInfo>() == 3);
  each(static_cast<CallSemantics&>(x), x.name, x.joins);
}
template <typename Visit>
static void visit(FunctionName& x, Visit each) {
  static_assert(members<FunctionName>() == 3);
  each(x.name, x.file, x.line);
}
template <typename Visit>
static void visit(CallSite& x, Visit each) {
  static_assert(members<CallSite>() == 4);
  each(x.file, x.line, x.function, x.caller);
}
template <typename Visit>
static void visit(TraceDefinitions& x, Visit each) {
  static_assert(members<TraceDefinitions>() == 24);
  each(x.path, x.creator, x.ticks_per_second, x.location_of_rank, x.node_of_rank, x.socket_of_rank,
       x.nodes, x.comms, x.groups, x.neighbours, x.world, x.calls, x.threads, x.side_locations,
       x.sizes, x.wildcards, x.knows_probes, x.overhead, x.eager_limit_node, x.eager_limit_network,
       x.shared_cores, x.properties, x.one_clock, x.warnings);
}
template <typename Visit>
static void visit(ArchiveIndex& x, Visit each) {
  static_assert(members<ArchiveIndex>() == 42);
  each(x.call_of_region, x.comm_of_ref, x.window_of_ref, x.group_of_ref, x.remote_group, x.events,
       x.both_groups, x.global_offset, x.functions, x.number_of_function, x.joins,
       x.chosen_functions, x.has_attributes);
  each(x.posted_source, x.posted_tag, x.send_mode, x.comm, x.bytes_sent, x.bytes_received,
       x.request, x.request_start, x.request_end, x.request_ready, x.found_source, x.found_tag,
       x.part_sent, x.part_peers, x.init_order, x.stolen, x.in_place, x.block, x.own_work,
       x.callback);
  each(x.call_site, x.call_path, x.call_sites, x.number_of_site, x.number_of_context,
       x.sample_ticks, x.has_enters, x.periods, x.ticks_per_nanosecond);
}
template <typename Visit>
static void visit(Archive& x, Visit each) {
  static_assert(members<Archive>() == 3);
  each(x.anchor, x.definitions, x.index);
}

namespace {

/// In the same order in each process.
template <typename Do>
void for_each_list(Archive& archive, Do what) {
  for (Communicator& comm : archive.definitions.comms) what(comm.members);
  for (MemberList& group : archive.definitions.groups) what(group);
  for (auto& [comm, group] : archive.index.remote_group) what(group);
}

/// Stores each distinct list once.
class PutLists {
 public:
  explicit PutLists(ByteWriter& to) : to_(&to) {}

  void operator()(const MemberList& list) {
    const auto [known, is_new] =
        known_.try_emplace({list.ranks().data(), list.size()}, known_.size());
    to_->number(known->second);
    if (!is_new) return;
    to_->list<int32_t>(list.ranks());
    to_->list<int32_t>(list.by_world_rank());
  }

 private:
  ByteWriter* to_;
  std::map<std::pair<const int32_t*, size_t>, uint64_t> known_;  ///< numbers of the stored lists
};

Bytes as_bytes(Archive archive) {
  ByteWriter writer;
  PutMembers{writer}(archive);
  PutLists put(writer);
  for_each_list(archive, [&](MemberList& list) { put(list); });
  Bytes bytes = writer.take();
  bytes.shrink_to_fit();  // they stay
  return bytes;
}

Archive from_bytes(FixedList<std::byte> bytes) {
  // (MPI libraries do not guarantee the alignment of a window.)
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) != 0)
    bytes = bytes.copy();
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  Archive archive;
  TakeMembers{reader, bytes.owner()}(archive);
  std::vector<MemberList> lists;
  for_each_list(archive, [&](MemberList& list) {
    const uint64_t number = reader.number();
    if (number == lists.size()) {
      auto ranks = reader.list<int32_t>(bytes.owner());
      lists.emplace_back(std::move(ranks), reader.list<int32_t>(bytes.owner()));
    }
    list = lists.at(number);
  });
  return archive;
}

/// Equal for equal archives.
uint64_t fingerprint(const Archive& archive) {
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, ~uint64_t{0}, ~uint64_t{0}, true, true> crc;
  const auto add = [&](auto list) { crc.process_bytes(list.data(), list.size_bytes()); };
  add(std::span(archive.definitions.location_of_rank));
  add(std::span(archive.definitions.node_of_rank));
  add(std::span(archive.definitions.nodes.text()));
  add(std::span(archive.index.events));
  return crc.checksum();
}

}  // namespace

Archive read_once_per_host(Team& team, const std::function<Archive()>& read) {
  const FixedList<std::byte> bytes = team.once_per_host([&]() -> Bytes {
    try {
      return as_bytes(read());
    } catch (const std::exception&) {
      return {};  // process 0, which then runs alone, meets and reports the same error
    }
  });
  if (!team.all(!bytes.empty())) throw NeedsOneProcess{OneProcess::kFailed};
  Archive archive = from_bytes(bytes);
  const uint64_t mine = fingerprint(archive);
  ByteWriter writer;
  writer.value(mine);
  const Bytes shared = team.share(writer.take());
  uint64_t first = 0;
  ByteReader(shared).value(first);
  if (!team.all(mine == first)) throw NeedsOneProcess{OneProcess::kTwoArchives};
  return archive;
}

}  // namespace rubato
