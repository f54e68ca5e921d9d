// Each struct lists its members once, and both directions visit them in that order. The assertions
// fail when a struct gets a member that nobody lists.

#include "replay/result_stream.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace rubato {
namespace {

/// Anything that a value of any type can be made of.
struct Any {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Members>
concept MadeOf = requires {
  T{Members{}...};
};
/// How many members an aggregate has, up to so many.
template <typename T, typename... Members>
constexpr size_t members() {
  if constexpr (MadeOf<T, Members..., Any>)
    return members<T, Members..., Any>();
  else
    return sizeof...(Members);
}

template <typename Visit>
void visit(CallTotals& x, Visit each) {
  static_assert(members<CallTotals>() == 4);
  each(x.time, x.calls, x.bytes_sent, x.bytes_received);
}
template <typename Visit>
void visit(RankResult& x, Visit each) {
  static_assert(members<RankResult>() == 12);
  each(x.start, x.end, x.compute, x.mpi, x.calls, x.waits, x.flushing, x.not_recorded, x.lost_core,
       x.before, x.after, x.threads);
}
template <typename Visit>
void visit(LevelTraffic& x, Visit each) {
  static_assert(members<LevelTraffic>() == 2);
  each(x.messages, x.bytes);
}
template <typename Visit>
void visit(CollectiveUse& x, Visit each) {
  static_assert(members<CollectiveUse>() == 5);
  each(x.operation, x.members, x.algorithm, x.smallest, x.largest);
}
template <typename Visit>
void visit(DegradationFit& x, Visit each) {
  static_assert(members<DegradationFit>() == 4);
  each(x.ratio, x.measured, x.least, x.most);
}
template <typename Visit>
void visit(ContentionCost& x, Visit each) {
  static_assert(members<ContentionCost>() == 3);
  each(x.elapsed_alone, x.mpi, x.by_call);
}
template <typename Visit>
void visit(TopologyDrawing::Vertex& x, Visit each) {
  static_assert(members<TopologyDrawing::Vertex>() == 4);
  each(x.x, x.y, x.name, x.is_node);
}
template <typename Visit>
void visit(TopologyDrawing::Cable& x, Visit each) {
  static_assert(members<TopologyDrawing::Cable>() == 5);
  each(x.from, x.to, x.there, x.back, x.bends);
}
template <typename Visit>
void visit(TopologyDrawing& x, Visit each) {
  static_assert(members<TopologyDrawing>() == 3);
  each(x.vertices, x.cables, x.is_round);
}
template <typename Visit>
void visit(LinkLoads::Drawing::Busy& x, Visit each) {
  static_assert(members<LinkLoads::Drawing::Busy>() == 3);
  each(x.there, x.back, x.load);
}
template <typename Visit>
void visit(LinkLoads::Drawing& x, Visit each) {
  static_assert(members<LinkLoads::Drawing>() == 3);
  each(x.shape, x.busy, x.cables);
}
template <typename Visit>
void visit(LinkLoads::Kind& x, Visit each) {
  static_assert(members<LinkLoads::Kind>() == 6);
  each(x.name, x.links, x.bytes, x.capacity, x.by_bin, x.load);
}
template <typename Visit>
void visit(LinkLoads::Hot& x, Visit each) {
  static_assert(members<LinkLoads::Hot>() == 4);
  each(x.name, x.bytes, x.capacity, x.load);
}
template <typename Visit>
void visit(LinkLoads& x, Visit each) {
  static_assert(members<LinkLoads>() == 9);
  each(x.begin, x.bin, x.span, x.kinds, x.drawing, x.hottest, x.flows, x.slowed, x.delay);
}
template <typename Visit>
void visit(OtherJobResult& x, Visit each) {
  static_assert(members<OtherJobResult>() == 6);
  each(x.path, x.ranks, x.nodes, x.start, x.begin, x.elapsed);
}
template <typename Visit>
void visit(ScenarioResult& x, Visit each) {
  static_assert(members<ScenarioResult>() == 31);
  each(x.name, x.base, x.changes, x.from_recording, x.start, x.elapsed, x.elapsed_with_init,
       x.deadlock, x.ranks, x.has_waits, x.network_unused, x.own_machine, x.traffic, x.links,
       x.contention, x.jobs, x.elapsed_without_jobs, x.collectives, x.contradicted_outcomes,
       x.contradicted_time, x.wildcard_receives, x.rematched_receives, x.wildcard_matching,
       x.degradation_fit, x.clipped_overheads, x.clipped_time, x.overhead_unknown, x.sockets_unused,
       x.changes_compute, x.changes_nothing, x.absent_collectives);
}

/// Puts values of any of these types.
struct Put {
  ByteWriter& to;

  template <typename... T>
  void operator()(T&... values) const {
    (put(values), ...);
  }
  template <typename T>
  void put(T& value) const {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      to.value(value);
    else
      visit(value, *this);
  }
  void put(std::string& text) const { to.text(text); }
  template <typename T>
  void put(std::vector<T>& values) const {
    to.number(values.size());
    for (T& value : values) put(value);
  }
  template <typename T, size_t n>
  void put(std::array<T, n>& values) const {
    for (T& value : values) put(value);
  }
  template <typename T>
  void put(std::optional<T>& value) const {
    to.number(value ? 1 : 0);
    if (value) put(*value);
  }
};

/// Takes them again.
struct Take {
  ByteReader& from;

  template <typename... T>
  void operator()(T&... values) const {
    (take(values), ...);
  }
  template <typename T>
  void take(T& value) const {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      from.value(value);
    else
      visit(value, *this);
  }
  void take(std::string& text) const { text = from.text(); }
  template <typename T>
  void take(std::vector<T>& values) const {
    values.clear();
    // One by one: a file may claim more than it has.
    for (uint64_t left = from.number(); left > 0; --left) take(values.emplace_back());
  }
  template <typename T, size_t n>
  void take(std::array<T, n>& values) const {
    for (T& value : values) take(value);
  }
  template <typename T>
  void take(std::optional<T>& value) const {
    value.reset();
    if (from.number() != 0) take(value.emplace());
  }
};

}  // namespace

void put_result(ByteWriter& to, const ScenarioResult& result) {
  ScenarioResult copy = result;
  Put{to}(copy);
}

ScenarioResult take_result(ByteReader& from) {
  ScenarioResult result;
  Take{from}(result);
  return result;
}

}  // namespace rubato
