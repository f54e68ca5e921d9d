#include "replay/compare/call_log.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "replay/observe/collective_share.h"

namespace rubato {
namespace {

constexpr size_t kLogRoom = 8 << 20;  ///< bytes of a log that stay in memory

/// FNV-1a, word by word: the same for the same words in every archive.
uint64_t mix(uint64_t hash, uint64_t word) {
  hash ^= word;
  hash *= 0x100000001b3;
  return hash ^ (hash >> 29);
}
constexpr uint64_t kSeed = 0xcbf29ce484222325;

uint64_t hash_of(std::string_view text) {
  uint64_t hash = kSeed;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

/// Communicators have other numbers in another archive, but the same members.
uint64_t hash_of(const Communicator& comm) {
  uint64_t hash = mix(mix(kSeed, comm.self_like), comm.window);
  hash = mix(hash, static_cast<uint64_t>(comm.first_group));
  for (const int32_t member : comm.members) hash = mix(hash, static_cast<uint64_t>(member));
  return hash;
}

}  // namespace

CallLog::CallLog(const TraceDefinitions& trace, Placement placement, KeptLosses kept)
    : trace_(&trace),
      placement_(std::move(placement)),
      kept_(kept),
      ticks_per_second_(trace.ticks_per_second),
      timelines_(trace.timelines()),
      targets_(trace.ranks()),
      file_(kLogRoom) {
  for (const MpiCallInfo& call : trace.calls) name_hashes_.push_back(hash_of(call.name));
  for (const Communicator& comm : trace.comms) {
    comm_hashes_.push_back(hash_of(comm));
    comm_levels_.push_back(level_of(comm));
  }
}

uint8_t CallLog::level_of(const Communicator& comm) const {
  if (comm.size() <= 1) return kNoLevel;
  Level widest = Level::kSelf;
  for (const int32_t member : comm.members)
    widest = std::max(widest, placement_.level(comm.members[0], member));
  return static_cast<uint8_t>(widest);
}

void CallLog::begin() {
  file_.clear();
  timelines_.assign(trace_->timelines(), {});
  targets_.assign(trace_->ranks(), {});
}

void CallLog::call(int timeline, const Call& call, const Block& block, const Lanes<1>&,
                   double /*recorded_before*/, const Lanes<1>& enter, const Lanes<1>& leave) {
  Timeline& log = timelines_[timeline];
  if (call.role == CallRole::kInit) log.window_begin = log.chunks.size() * kChunk + log.open.size();
  const bool may_lose = call.role == CallRole::kMpi || call.role == CallRole::kThread;
  if (may_lose && call.spinning & kLoses) {
    // Losses are not part of the call; they are logged before it, as their position is unknown.
    const Lost lost = lost_in(block.actions_of(call));
    LoggedCall before;
    before.event = call.event;
    before.name = call.name;
    double now = enter[0];
    const auto lose = [&](CallRole role, double ticks) {
      const double part = std::clamp(ticks, 0.0, leave[0] - now);
      if (!(part > 0)) return;
      before.role = role;
      before.enter = now / ticks_per_second_;
      before.leave = (now += part) / ticks_per_second_;
      note(log, before);
    };
    lose(CallRole::kFlush, kept_.flushes ? lost.flushing : 0);
    lose(CallRole::kStolen, kept_.stolen ? lost.stolen : 0);
    if (now > enter[0]) return note(log, logged(timeline, call, block, now, leave[0]));
  }
  note(log, logged(timeline, call, block, enter[0], leave[0]));
}

void CallLog::note(Timeline& log, const LoggedCall& call) {
  log.open.push_back(call);
  if (log.open.size() < kChunk) return;
  log.chunks.push_back(file_.append(std::as_bytes(std::span(log.open))));
  log.open.clear();
}

LoggedCall CallLog::logged(int timeline, const Call& call, const Block& block, double enter,
                           double leave) {
  LoggedCall logged;
  logged.enter = enter / ticks_per_second_;
  logged.leave = leave / ticks_per_second_;
  logged.event = call.event;
  logged.name = call.name;
  logged.role = call.role;
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  if (is_mpi) describe(logged, trace_->rank_of(timeline), call, block.actions_of(call));
  return logged;
}

void CallLog::describe(LoggedCall& logged, int rank, const Call& call,
                       std::span<const Action> actions) {
  logged.what = name_hashes_[call.name];
  const auto farthest = [&](uint8_t level) {
    if (level == kNoLevel) return;
    logged.level = logged.level == kNoLevel ? level : std::max(logged.level, level);
  };
  for (const Action& action : actions) {
    switch (action.kind) {
      case ActionKind::kSend:
      case ActionKind::kPost:
        describe_message(logged, rank, action, action.message);
        farthest(static_cast<uint8_t>(placement_.level(rank, action.message.peer)));
        break;
      case ActionKind::kOneSided:
        describe_message(logged, rank, action,
                         {.peer = action.one_sided.target, .bytes = action.one_sided.bytes});
        farthest(static_cast<uint8_t>(placement_.level(rank, action.one_sided.target)));
        break;
      case ActionKind::kWaitSend:
      case ActionKind::kWaitReceive: {
        const auto target = targets_[rank].find(action.request.slot);
        if (target == targets_[rank].end()) break;
        farthest(target->second.level);
        if (logged.peer_kind != PeerKind::kNone) break;
        logged.peer = target->second.peer;
        logged.peer_kind = target->second.kind;
        break;
      }
      case ActionKind::kCollective:
      case ActionKind::kStartCollective: {
        const bool starts = action.kind == ActionKind::kStartCollective;
        const int32_t root = starts ? action.start.root : action.collective.root;
        logged.what = mix(logged.what, static_cast<uint64_t>(action.op));
        logged.what = mix(logged.what, static_cast<uint64_t>(root));
        logged.what = mix(logged.what, comm_hashes_[action.comm]);
        if (!starts) {
          const int me = trace_->comms[action.comm].local_rank(rank);
          logged.bytes = std::max(logged.bytes, collective_share(*trace_, action, me).size);
          logged.what = mix(mix(logged.what, action.collective.sent), action.collective.received);
        }
        if (root >= 0 && logged.peer_kind == PeerKind::kNone) {
          logged.peer = root;
          logged.peer_kind = PeerKind::kRoot;
        }
        farthest(comm_levels_[action.comm]);
        break;
      }
      default:
        break;
    }
  }
}

void CallLog::describe_message(LoggedCall& logged, int rank, const Action& action,
                               const MessageAction& message) {
  const bool receives = action.kind == ActionKind::kPost;
  const bool is_first = logged.peer_kind == PeerKind::kNone;
  const PeerKind kind = receives ? PeerKind::kFrom : PeerKind::kTo;
  if (is_first) {
    logged.peer = message.peer;
    logged.tag = message.tag;
    logged.peer_kind = kind;
  }
  logged.bytes = std::max(logged.bytes, message.bytes);
  const bool any_peer = receives && (action.flags & kAnySource) != 0;
  const bool any_tag = receives && (action.flags & kAnyTag) != 0;
  logged.what = mix(logged.what, static_cast<uint64_t>(action.kind));
  logged.what = mix(logged.what, any_peer ? UINT64_MAX : static_cast<uint64_t>(message.peer));
  logged.what = mix(logged.what, any_tag ? UINT64_MAX : message.tag);
  logged.what = mix(logged.what, comm_hashes_[action.comm]);
  if (!any_peer && !any_tag) logged.what = mix(logged.what, message.bytes);
  const bool completes_later = (action.flags & kBlocking) == 0 && message.slot != kNoSlot;
  if (completes_later) {
    const auto level = static_cast<uint8_t>(placement_.level(rank, message.peer));
    targets_[rank].insert_or_assign(message.slot, Target{message.peer, level, kind});
  }
}

bool CallLog::Reader::next(LoggedCall& call) {
  if (timeline_ < 0) return false;
  const Timeline& log = log_->timelines_[timeline_];
  const uint64_t number = next_ / kChunk;
  if (number >= log.chunks.size()) {
    const uint64_t at = next_ - log.chunks.size() * kChunk;
    if (at >= log.open.size()) return false;
    call = log.open[at];
  } else {
    if (number != chunk_number_) {
      chunk_.resize(kChunk);
      const std::span<std::byte> to = std::as_writable_bytes(std::span(chunk_));
      const std::byte* kept = log_->file_.kept_at(log.chunks[number]);
      if (kept)
        std::copy_n(kept, to.size(), to.begin());
      else
        log_->file_.read(log.chunks[number], to);
      chunk_number_ = number;
    }
    call = chunk_[next_ % kChunk];
  }
  ++next_;
  return true;
}

}  // namespace rubato
