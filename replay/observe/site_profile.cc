#include "replay/observe/site_profile.h"

#include <algorithm>

#include "replay/observe/collective_share.h"

namespace rubato {

void SiteSum::add_message(uint64_t bytes_of_message, bool sends) {
  ++messages;
  bytes += bytes_of_message;
  smallest = std::min(smallest, bytes_of_message);
  largest = std::max(largest, bytes_of_message);
  if (!sends) return;
  ++sent;
  bytes_sent += bytes_of_message;
}

SiteProfile::SiteProfile(const EventSource& source, KeptLosses kept)
    : source_(&source), trace_(&source.definitions()), kept_(kept) {
  begin();
}

void SiteProfile::begin() {
  timelines_.clear();
  timelines_.resize(trace_->timelines());
  sites_.clear();
}

void SiteProfile::waited(int number, const Call&, const Waited& waited) {
  timelines_[number].wait = waited.kept * waited.wait;
}

void SiteProfile::polled(int number, std::span<const PolledWait> polls, double /*begin*/,
                         const Waited&) {
  Timeline& timeline = timelines_[number];
  for (const PolledWait& each : polls) {
    const auto found = timeline.latest.find(each.call);
    if (!timeline.over && found != timeline.latest.end()) found->second->waits += each.ticks;
  }
}

void SiteProfile::add_collective(SiteSum& sum, int rank, const Action& action) const {
  const int me = trace_->comms[action.comm].local_rank(rank);
  const CollectiveShare share = collective_share(*trace_, action, me);
  if (share.sends) sum.add_message(share.bytes_sent, true);
  if (share.receives) sum.add_message(share.bytes_received, false);
}

void SiteProfile::call(int number, const Call& call, const Block& block, const Lanes<1>&, double,
                       const Lanes<1>& enter, const Lanes<1>& leave) {
  Timeline& timeline = timelines_[number];
  if (call.role == CallRole::kBegin) return;
  const double wait = std::exchange(timeline.wait, 0);
  if (call.role == CallRole::kFinalize) timeline.over = true;
  if (call.role == CallRole::kInit) {  // before the window
    for (auto& [name, sum] : timeline.latest) sum->waits = 0;
  }
  if (call.role != CallRole::kMpi || timeline.over) return;
  if (!timeline.reader) {
    const CallPlaces* const places = source_->call_places();
    if (!places) return;
    timeline.reader.emplace(*places, number);
  }
  const CallPlace& place = timeline.reader->at(call.event);
  const int rank = trace_->rank_of(number);
  const double inside = std::max(0.0, leave[0] - enter[0] - kept_.in(call, block));
  SiteSum& sum = sites_[{call.name, place.function, place.site}];
  timeline.latest[call.name] = &sum;
  sum.least = sum.count == 0 ? inside : std::min(sum.least, inside);
  sum.most = std::max(sum.most, inside);
  ++sum.count;
  sum.time += inside;
  sum.waits += std::min(wait, inside);
  sum.by_rank.resize(trace_->ranks(), -1);
  sum.by_rank[rank] = std::max(0.0, sum.by_rank[rank]) + inside;
  for (const Action& action : block.actions_of(call)) {
    if (action.kind == ActionKind::kSend || action.kind == ActionKind::kPost) {
      sum.add_message(action.message.bytes, action.kind == ActionKind::kSend);
    } else if (action.kind == ActionKind::kCollective ||
               action.kind == ActionKind::kWaitCollective) {
      add_collective(sum, rank, action);
    } else if (action.kind == ActionKind::kOneSided || action.kind == ActionKind::kFetch) {
      if (action.one_sided.bytes == 0 && action.flags & kFetches) continue;  // MPI_Get
      sum.add_message(action.one_sided.bytes, true);
    }
  }
}

}  // namespace rubato
