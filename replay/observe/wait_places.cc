#include "replay/observe/wait_places.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace rubato {
namespace {

constexpr size_t kRecent = 256;
constexpr size_t kFewLooks = 8;
/// Remainder of a gap due to rounding.
constexpr double kNothing = 1e-6;

/// For each entry the first one with the same key.
template <typename Entry, typename KeyOf>
std::vector<uint32_t> first_alike(const std::vector<Entry>& entries, KeyOf key_of) {
  std::map<decltype(key_of(entries[0])), uint32_t> first;
  std::vector<uint32_t> alike;
  for (uint32_t i = 0; i < entries.size(); ++i)
    alike.push_back(first.emplace(key_of(entries[i]), i).first->second);
  return alike;
}

}  // namespace

FunctionSum& FunctionSum::operator+=(const FunctionSum& other) {
  compute += other.compute;
  mpi += other.mpi;
  waits += other.waits;
  return *this;
}

WaitPlaces::WaitPlaces(const EventSource& source, KeptLosses kept, double probe)
    : source_(&source),
      trace_(&source.definitions()),
      kept_(kept),
      probe_(probe),
      same_function_(first_alike(source.functions(),
                                 [](const FunctionName& function) {
                                   return std::tuple(function.name, function.file, function.line);
                                 })),
      same_site_(first_alike(source.call_sites(),
                             [sites = source.call_sites()](const CallSite& site) {
                               const bool is_called = site.caller < sites.size();
                               return std::tuple(
                                   site.file, site.line,
                                   is_called ? sites[site.caller].function : kNoPlace);
                             })),
      timelines_(trace_->timelines()),
      ranks_(trace_->ranks()),
      recent_(kRecent),
      by_name_(trace_->calls.size()),
      recent_waits_(kRecent),
      recent_delays_(kRecent) {
  places_.push_back({});  // number 0, also for timelines that have not begun
}

uint32_t WaitPlaces::number_of(const Place& place) {
  // Places that do not fit would only share a number with others.
  constexpr uint64_t kBits = (1 << 23) - 1;
  const uint32_t last = place.caller == kNoPlace ? place.site : place.caller;  // never both
  const uint64_t packed = uint64_t{place.call} << 46 | (place.function & kBits) << 23 |
                          (last & kBits) | static_cast<uint64_t>(place.kind) << 62;
  Recent& recent = recent_[(packed * 0x9E3779B97F4A7C15u) >> 56];
  if (recent.packed == packed) return recent.number;
  const auto [entry, is_new] = numbers_.emplace(packed, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  recent = {packed, entry->second};
  return entry->second;
}

FunctionSum& WaitPlaces::sum_of(Timeline& timeline, uint32_t function) {
  Timeline::RecentSum& recent = timeline.recent_sums[function % kRecentSums];
  if (!recent.sum || recent.function != function)
    recent = {function, &timeline.functions[function]};
  return *recent.sum;
}

void WaitPlaces::begin() {
  std::fill(timelines_.begin(), timelines_.end(), Timeline());
  std::fill(ranks_.begin(), ranks_.end(), Rank());
  recent_waits_.assign(kRecent, {});
  recent_delays_.assign(kRecent, {});
}

void WaitPlaces::begin(int number, double time) {
  Timeline& timeline = timelines_[number];
  timeline = Timeline();
  timeline.until = time;
  call_places_ = source_->call_places();
  if (call_places_) timeline.reader.emplace(*call_places_, number);
}

void WaitPlaces::add_part(Timeline& timeline, double end, int32_t root, uint32_t place) {
  if (!(end > timeline.until)) return;
  std::vector<Part>& past = timeline.past;
  if (past.empty() || past.back().root != root || past.back().place != place)
    past.push_back({timeline.until, root, place});
  timeline.until = end;
  if (past.size() > timeline.most_past) forget_past(timeline);
}

void WaitPlaces::forget_past(Timeline& timeline) {
  double least = std::numeric_limits<double>::infinity();
  for (const Timeline& each : timelines_) {
    if (!each.ended) least = std::min(least, each.until);
  }
  if (timeline.in_loop) least = std::min(least, timeline.loop_begin);
  std::vector<Part>& past = timeline.past;
  const auto needed = std::partition_point(past.begin(), past.end(),
                                           [&](const Part& part) { return part.begin <= least; });
  if (needed != past.begin()) past.erase(past.begin(), needed - 1);
  if (past.size() > kMostParts / 2)
    past.erase(past.begin(), past.end() - static_cast<std::ptrdiff_t>(kMostParts / 2));
  timeline.most_past = std::max(kFewParts, 2 * past.size());
}

void WaitPlaces::add_gap(Timeline& timeline, int rank, const Call& call, double clock_before,
                         double recorded_before, double enter) {
  const double gap = enter - clock_before;
  const bool is_call = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                       call.role == CallRole::kFinalize;
  if (!timeline.reader && is_call) {
    auto& [here, before] = by_name_[call.name];
    if (here == 0) {
      here = number_of({Place::Kind::kCall, call.name, kNoPlace, kNoPlace});
      before = number_of({Place::Kind::kCompute, call.name, kNoPlace, kNoPlace});
    }
    add_part(timeline, enter, rank, before);
    timeline.here = here;
    return;
  }
  uint32_t function = kNoPlace, site = kNoPlace;
  const bool counts = !timeline.over && !same_function_.empty();
  double left = gap;
  if (timeline.reader) {
    const CallPlace& place = timeline.reader->at(call.event);
    function = known(place.function);
    if (place.site < same_site_.size()) site = same_site_[place.site];
    const auto costs = [&](const FunctionPart& part) {
      return std::min(part.ticks, probe_ * static_cast<double>(part.probes));
    };
    double parts = 0, all = call.enter - recorded_before;
    for (const FunctionPart& part : place.before) {
      parts += part.ticks - costs(part);
      all -= costs(part);
    }
    all = std::max(all, parts);
    for (const FunctionPart& part : place.before) {
      if (!(gap > 0 && all > 0)) break;
      double ticks = gap * (part.ticks - costs(part)) / all;
      left -= ticks;
      if (&part == &place.before.back() && left < kNothing * gap) ticks += left, left = 0;
      const uint32_t in = known(part.function);
      if (counts) sum_of(timeline, in).compute += ticks;
      Place computes{.kind = Place::Kind::kCompute};
      computes.function = in;
      computes.caller = known(timeline.reader->caller_of(part));
      add_part(timeline, left == 0 ? enter : timeline.until + ticks, rank, number_of(computes));
    }
  }
  if (left > 0) {
    if (counts) sum_of(timeline, kNoPlace).compute += left;
    Place computes{.kind = Place::Kind::kCompute};
    if (is_call) computes.call = call.name, computes.site = site;
    add_part(timeline, enter, rank, number_of(computes));
  }
  Place here{.kind = is_call ? Place::Kind::kCall : Place::Kind::kLost};
  if (is_call) here = {Place::Kind::kCall, call.name, function, site};
  if (call.role == CallRole::kEnd || call.role == CallRole::kThread)
    here = {Place::Kind::kCompute, Place::kNoCall, function, kNoPlace};
  timeline.here = number_of(here);
}

void WaitPlaces::add_gap_or_loop(Timeline& timeline, int rank, const Call& call,
                                 double clock_before, double recorded_before, double enter) {
  if (timeline.in_loop && call.spinning & kSpinningBefore)
    add_part(timeline, enter, rank, timeline.loop);
  add_gap(timeline, rank, call, clock_before, recorded_before, enter);
  if (!(call.spinning & kSpinning)) return;
  if (!timeline.in_loop) {
    timeline.in_loop = true;
    timeline.loop_begin = enter;
    timeline.loop = timeline.here;
  }
  timeline.here = timeline.loop;
}

void WaitPlaces::entered(int number, const Call& call, const Lanes<1>& clock_before,
                         double recorded_before, const Lanes<1>& enter) {
  if (call.role == CallRole::kBegin) return;
  Timeline& timeline = timelines_[number];
  add_gap_or_loop(timeline, trace_->rank_of(number), call, clock_before[0], recorded_before,
                  enter[0]);
  timeline.in_call = true;
}

void WaitPlaces::waited(int number, const Call& /*call*/, const Waited& waited) {
  Timeline& timeline = timelines_[number];
  timeline.by = waited.timeline;
  timeline.comm = waited.comm;
  timeline.wait = waited.wait;
  timeline.kept = waited.kept;
}

// Replaces the past of the loop: up to the cause it was a wait, at the place of the first poll.
void WaitPlaces::polled(int number, std::span<const PolledWait> polls, double begin,
                        const Waited& waited) {
  Timeline& timeline = timelines_[number];
  if (timeline.over) return;
  std::vector<Part>& past = timeline.past;
  const auto first = std::partition_point(past.begin(), past.end(),
                                          [&](const Part& part) { return part.begin <= begin; });
  const double end = std::min(waited.cause, timeline.until);
  if (first == past.begin() || !(end > begin)) return;
  double ticks = 0;
  for (const PolledWait& each : polls) ticks += each.ticks;

  const int rank = trace_->rank_of(number);
  const uint32_t place = std::prev(first)->place;
  WaitSum& sum = wait_of(rank, place, waited.comm);
  ++sum.count;
  sum.ticks += ticks;
  if (!same_function_.empty()) sum_of(timeline, places_[place].function).waits += ticks;

  std::vector<Part> behind(std::prev(first), past.end());
  behind.push_back({timeline.until, 0, 0});
  past.erase(std::prev(first)->begin < begin ? first : std::prev(first), past.end());
  timeline.until = begin;
  const uint32_t here = std::exchange(timeline.here, place);
  timeline.by = waited.timeline;
  timeline.wait = end - begin;
  add_wait(timeline, rank, ticks / timeline.wait);
  timeline.here = here;
  timeline.wait = 0;
  add_part(timeline, end, rank, place);
  for (size_t i = 0; i + 1 < behind.size(); ++i)
    add_part(timeline, behind[i + 1].begin, behind[i].root, behind[i].place);
}

void WaitPlaces::call(int number, const Call& call, const Block& block,
                      const Lanes<1>& clock_before, double recorded_before, const Lanes<1>& enter,
                      const Lanes<1>& leave) {
  if (call.role == CallRole::kBegin) return begin(number, enter[0]);
  Timeline& timeline = timelines_[number];
  const int rank = trace_->rank_of(number);
  if (!std::exchange(timeline.in_call, false))
    add_gap_or_loop(timeline, rank, call, clock_before[0], recorded_before, enter[0]);
  const double wait = std::exchange(timeline.wait, 0);
  add_part(timeline, enter[0], rank, timeline.here);  // delayed before it began
  if (call.role == CallRole::kFinalize) timeline.over = true;
  if (call.role == CallRole::kEnd) timeline.ended = true;
  if (call.role == CallRole::kMpi && !timeline.over) {
    const double inside = std::max(0.0, leave[0] - enter[0] - kept_.in(call, block));
    const double counts = std::min(timeline.kept * wait, inside);
    if (!same_function_.empty()) {
      FunctionSum& sum = sum_of(timeline, places_[timeline.here].function);
      sum.mpi += inside;
      sum.waits += counts;
    }
    if (counts > 0) {
      WaitSum& sum = wait_of(rank, timeline.here, timeline.comm);
      ++sum.count;
      sum.ticks += counts;
      timeline.wait = wait;
      add_wait(timeline, rank, counts / wait);
      timeline.wait = 0;
    }
  }
  if (call.role == CallRole::kThread && !timeline.over && !same_function_.empty())
    sum_of(timeline, places_[timeline.here].function).compute += leave[0] - enter[0];
  add_part(timeline, leave[0], rank, timeline.here);
  if (call.role == CallRole::kMpi && !call.is_kept()) timeline.in_loop = false;
  if (call.role == CallRole::kInit) {
    ranks_[rank].waits.clear();
    recent_waits_.assign(kRecent, {});
    for (auto& [function, sum] : timeline.functions) sum = {};
  }
}

WaitSum& WaitPlaces::wait_of(int rank, uint32_t place, uint32_t comm) {
  RecentWait& recent = recent_waits_[(static_cast<uint32_t>(rank) * 31 + place) % kRecent];
  if (recent.rank != rank || recent.key != PlaceOnComm(place, comm))
    recent = {rank, {place, comm}, &ranks_[rank].waits[{place, comm}]};
  return *recent.sum;
}

void WaitPlaces::add_delay(const Piece& piece, uint32_t waiting, double part) {
  const uint32_t hash = (static_cast<uint32_t>(piece.root) * 31 + piece.place) * 31 + waiting;
  RecentDelay& recent = recent_delays_[hash % kRecent];
  const CauseAndWait key(piece.place, waiting);
  if (recent.rank != piece.root || recent.key != key)
    recent = {piece.root, key, &ranks_[piece.root].delays[key]};
  *recent.ticks += part * piece.ticks;
}

void WaitPlaces::add_wait(Timeline& timeline, int rank, double part) {
  if (timeline.by < 0) return;
  const double begin = timeline.until, end = begin + timeline.wait;
  const Timeline& theirs = timelines_[timeline.by];
  if (&theirs == &timeline)
    pieces_ = {{rank, timeline.here, end - begin}};
  else
    find_pieces(theirs, trace_->rank_of(timeline.by), begin, end);
  if (pieces_.size() == 1) {
    add_delay(pieces_[0], timeline.here, part);
    return add_part(timeline, end, pieces_[0].root, pieces_[0].place);
  }
  summed_.clear();
  for (const Piece& piece : pieces_) {
    const auto same = std::find_if(summed_.begin(), summed_.end(), [&](const Piece& each) {
      return each.root == piece.root && each.place == piece.place;
    });
    if (same == summed_.end())
      summed_.push_back(piece);
    else
      same->ticks += piece.ticks;
  }
  for (const Piece& piece : summed_) add_delay(piece, timeline.here, part);
  add_pieces(timeline, begin, end);
}

void WaitPlaces::find_pieces(const Timeline& theirs, int32_t rank, double begin, double end) {
  pieces_.clear();
  double done = begin;
  const auto add = [&](double until, int32_t root, uint32_t place) {
    const double to = std::min(until, end);
    if (!(to > done)) return;
    pieces_.push_back({root, place, to - done});
    done = to;
  };
  const std::vector<Part>& past = theirs.past;
  const auto is_before = [&](const Part& each) { return each.begin <= begin; };
  // It is mostly among the last ones.
  size_t at = past.size();
  for (size_t looks = 0; at > 0 && looks < kFewLooks && !is_before(past[at - 1]); ++looks) --at;
  if (at > 0 && !is_before(past[at - 1])) {
    const auto end_of_search = past.begin() + static_cast<std::ptrdiff_t>(at);
    at = static_cast<size_t>(std::partition_point(past.begin(), end_of_search, is_before) -
                             past.begin());
  }
  if (at == 0)  // dropped, or before the first part
    add(past.empty() ? theirs.until : past[0].begin, rank, number_of(Place()));
  else
    --at;
  for (; at < past.size() && done < end; ++at)
    add(at + 1 < past.size() ? past[at + 1].begin : theirs.until, past[at].root, past[at].place);
  add(end, rank, theirs.here);
}

void WaitPlaces::add_pieces(Timeline& to, double begin, double end) {
  const bool all = pieces_.size() <= kMostPieces;
  const double least = all ? 0 : (end - begin) / static_cast<double>(kMostPieces);
  double done = begin, since = begin;
  const Piece* longest = nullptr;  // longest piece after `since`
  for (const Piece& piece : pieces_) {
    const bool is_last = &piece == &pieces_.back();
    done = is_last ? end : done + piece.ticks;
    if (!longest || piece.ticks > longest->ticks) longest = &piece;
    if (done - since < least && !is_last) continue;
    add_part(to, done, longest->root, longest->place);
    since = done;
    longest = nullptr;
  }
}

}  // namespace rubato
