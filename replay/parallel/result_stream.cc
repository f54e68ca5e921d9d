// Each struct lists its members once (cluster/member_stream.h).

#include "replay/parallel/result_stream.h"

#include "replay/cluster/member_stream.h"

namespace rubato {

template <typename Visit>
static void visit(CallTotals& x, Visit each) {
  static_assert(members<CallTotals>() == 5);
  each(x.time, x.own_work, x.calls, x.bytes_sent, x.bytes_received);
}
template <typename Visit>
static void visit(RankResult& x, Visit each) {
  static_assert(members<RankResult>() == 13);
  each(x.start, x.end, x.compute, x.mpi, x.own_work, x.calls, x.waits, x.flushing, x.not_recorded,
       x.lost_core, x.before, x.after, x.threads);
}
template <typename Visit>
static void visit(LevelTraffic& x, Visit each) {
  static_assert(members<LevelTraffic>() == 2);
  each(x.messages, x.bytes);
}
template <typename Visit>
static void visit(CollectiveUse& x, Visit each) {
  static_assert(members<CollectiveUse>() == 6);
  each(x.operation, x.members, x.algorithm, x.guessed, x.smallest, x.largest);
}
template <typename Visit>
static void visit(DegradationFit& x, Visit each) {
  static_assert(members<DegradationFit>() == 4);
  each(x.ratio, x.measured, x.least, x.most);
}
template <typename Visit>
static void visit(ContentionCost& x, Visit each) {
  static_assert(members<ContentionCost>() == 3);
  each(x.elapsed_alone, x.mpi, x.by_call);
}
template <typename Visit>
static void visit(TopologyDrawing::Vertex& x, Visit each) {
  static_assert(members<TopologyDrawing::Vertex>() == 4);
  each(x.x, x.y, x.name, x.is_node);
}
template <typename Visit>
static void visit(TopologyDrawing::Cable& x, Visit each) {
  static_assert(members<TopologyDrawing::Cable>() == 5);
  each(x.from, x.to, x.there, x.back, x.bends);
}
template <typename Visit>
static void visit(TopologyDrawing& x, Visit each) {
  static_assert(members<TopologyDrawing>() == 3);
  each(x.vertices, x.cables, x.is_round);
}
template <typename Visit>
static void visit(LinkLoads::Drawing::Busy& x, Visit each) {
  static_assert(members<LinkLoads::Drawing::Busy>() == 3);
  each(x.there, x.back, x.load);
}
template <typename Visit>
static void visit(LinkLoads::Drawing& x, Visit each) {
  static_assert(members<LinkLoads::Drawing>() == 3);
  each(x.shape, x.busy, x.cables);
}
template <typename Visit>
static void visit(LinkLoads::Kind& x, Visit each) {
  static_assert(members<LinkLoads::Kind>() == 6);
  each(x.name, x.links, x.bytes, x.capacity, x.by_bin, x.load);
}
template <typename Visit>
static void visit(LinkLoads::Hot& x, Visit each) {
  static_assert(members<LinkLoads::Hot>() == 4);
  each(x.name, x.bytes, x.capacity, x.load);
}
template <typename Visit>
static void visit(LinkLoads& x, Visit each) {
  static_assert(members<LinkLoads>() == 9);
  each(x.begin, x.bin, x.span, x.kinds, x.drawing, x.hottest, x.flows, x.slowed, x.delay);
}
template <typename Visit>
static void visit(OtherJobResult& x, Visit each) {
  static_assert(members<OtherJobResult>() == 6);
  each(x.path, x.ranks, x.nodes, x.start, x.begin, x.elapsed);
}
template <typename Visit>
static void visit(ScenarioResult& x, Visit each) {
  static_assert(members<ScenarioResult>() == 38);
  each(x.name, x.base, x.changes, x.from_recording, x.start, x.elapsed, x.elapsed_with_init,
       x.deadlock, x.ranks, x.callbacks, x.has_waits, x.network_unused, x.own_machine, x.grade,
       x.measured_nodes, x.traffic, x.links, x.contention, x.jobs, x.elapsed_without_jobs,
       x.collectives, x.contradicted_outcomes, x.contradicted_time, x.wildcard_receives,
       x.rematched_receives, x.wildcard_matching, x.took_first, x.took_recorded, x.degradation_fit,
       x.clipped_overheads, x.clipped_time, x.overhead_unknown, x.sockets_unused, x.changes_compute,
       x.no_ports, x.changes_nothing, x.priced_as, x.absent_collectives);
}

void put_result(ByteWriter& to, const ScenarioResult& result) {
  ScenarioResult copy = result;
  PutMembers{to}(copy);
}

ScenarioResult take_result(ByteReader& from) {
  ScenarioResult result;
  TakeMembers{from}(result);
  return result;
}

}  // namespace rubato
