#include "tracer/report/step_records.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <utility>

#include "tracer/layout/send_mode.h"
#include "tracer/report/run_tables.h"

namespace rubato {
inline namespace tracing {

bool StepRecords::wants(uint64_t number, uint64_t stride) {
  constexpr uint64_t kAnyNumber = 5;
  return (mixed(number, kAnyNumber) & (stride - 1)) == 0;
}

uint64_t StepRecords::end_of(size_t step) const {
  return step + 1 < steps_.size() ? steps_[step + 1].first : words_.size();
}

void StepRecords::set_ranks(int ranks) {
  most_ = std::min(kMostOfAll / static_cast<size_t>(std::max(1, ranks)), kMostWords);
  off_ = most_ < kLeastWords;
}

void StepRecords::begin(uint64_t time, uint64_t posted) {
  if (off_) return;
  began_ = last_ = time;
  lost_ = tracer_ = 0;
  size_ = 0;
  present_ = {};
  const auto keep = [&] {
    return wants(number_, stride_) && steps_.push({number_, posted, words_.size(), 0, 0});
  };
  kept_ = keep();
  if (kept_ || !wants(number_, stride_)) return;
  thin();
  kept_ = keep();
}

void StepRecords::end(uint64_t time) {
  if (began_ == 0) return;
  if (kept_) {
    Step& step = steps_[steps_.size() - 1];
    step.length = std::max<uint64_t>(1, time - began_);
    step.rest = time - std::min(time, last_ + tracer_);
  }
  if (is_large(size_)) {
    present_.number = number_;
    present_.length = time - began_;
    off_ = off_ || !left_out_.push(present_);
  }
  while (words_.size() > most_) thin();
  ++number_;
  began_ = 0;
}

void StepRecords::leave_out() {
  kept_ = false;
  if (steps_.size() == 0) return;
  words_.shrink(steps_[steps_.size() - 1].first);
  steps_.shrink(steps_.size() - 1);
}

void StepRecords::thin() {
  for (const size_t before = steps_.size(); steps_.size() == before && before > 0;) {
    stride_ *= 2;
    size_t steps = 0, words = 0;
    for (size_t i = 0; i < before; ++i) {
      Step step = steps_[i];
      if (!wants(step.number, stride_)) {
        if (step.length == 0) kept_ = false;
        continue;
      }
      const uint64_t end = end_of(i);
      const uint64_t first = std::exchange(step.first, words);
      for (uint64_t at = first; at < end; ++at) words_[words++] = words_[at];
      steps_[steps++] = step;
    }
    steps_.shrink(steps);
    words_.shrink(words);
  }
}

bool StepRecords::put(uint64_t word) {
  while (kept_ && !words_.push(word)) {
    const size_t before = words_.size();
    thin();
    if (kept_ && words_.size() == before) leave_out();  // there is no memory
  }
  return kept_;
}

void StepRecords::call(const record::Record& r, const TimeSums::Booked& booked, uint64_t with_core,
                       const FlatArray<uint64_t>& keys) {
  if (began_ == 0) return;
  size_ += kHead + r.items.words() + keys.size();
  present_.mpi += with_core;
  ++present_.calls;
  if (kept_ && is_large(size_)) leave_out();
  if (kept_) keep(r, booked, keys);
  last_ = r.leave;
  lost_ = tracer_ = 0;
}

void StepRecords::keep(const record::Record& r, const TimeSums::Booked& booked,
                       const FlatArray<uint64_t>& keys) {
  const uint64_t gap = r.enter - std::min(r.enter, last_);
  const uint64_t head[kHead] = {r.id | uint64_t{r.items.words()} << 32,
                                gap - std::min(gap, tracer_),
                                booked.ticks,
                                lost_,
                                booked.stolen,
                                keys.size()};
  for (const uint64_t word : head) {
    if (!put(word)) return;
  }
  for (size_t i = 0; i < r.items.words(); ++i) {
    if (!put(r.items.data()[i])) return;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!put(keys[i])) return;
  }
}

namespace {

/// As models/collective/collectives.h has it; null: another operation.
const char* operation_name(unsigned op) {
  static constexpr std::pair<unsigned, const char*> kNames[] = {
      {OTF2_COLLECTIVE_OP_BARRIER, "barrier"},
      {OTF2_COLLECTIVE_OP_BCAST, "bcast"},
      {OTF2_COLLECTIVE_OP_GATHER, "gather"},
      {OTF2_COLLECTIVE_OP_GATHERV, "gatherv"},
      {OTF2_COLLECTIVE_OP_SCATTER, "scatter"},
      {OTF2_COLLECTIVE_OP_SCATTERV, "scatterv"},
      {OTF2_COLLECTIVE_OP_ALLGATHER, "allgather"},
      {OTF2_COLLECTIVE_OP_ALLGATHERV, "allgatherv"},
      {OTF2_COLLECTIVE_OP_ALLTOALL, "alltoall"},
      {OTF2_COLLECTIVE_OP_ALLTOALLV, "alltoallv"},
      {OTF2_COLLECTIVE_OP_ALLTOALLW, "alltoallw"},
      {OTF2_COLLECTIVE_OP_ALLREDUCE, "allreduce"},
      {OTF2_COLLECTIVE_OP_REDUCE, "reduce"},
      {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, "reduce_scatter"},
      {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, "reduce_scatter_block"},
      {OTF2_COLLECTIVE_OP_SCAN, "scan"},
      {OTF2_COLLECTIVE_OP_EXSCAN, "exscan"},
      {OTF2_COLLECTIVE_OP_CREATE_HANDLE, "create_handle"},
  };
  for (const auto& [number, name] : kNames) {
    if (op == number) return name;
  }
  return nullptr;
}

/// Writes the steps of a rank.
class StepText {
 public:
  StepText(double ticks_per_second, const LocalObjects& objects)
      : nanoseconds_(1e9 / ticks_per_second), objects_(objects) {}

  void left_out(uint64_t step, uint64_t length, uint64_t mpi, uint64_t calls) {
    text_ += "left";
    for (const uint64_t value : {step, time(length), time(mpi), calls})
      text_ += ' ' + std::to_string(value);
    text_ += '\n';
  }
  void step(uint64_t number, uint64_t length, uint64_t rest, uint64_t posted) {
    posted_ = posted;
    text_ += "step " + std::to_string(number) + ' ' + std::to_string(time(length)) + ' ' +
             std::to_string(time(rest)) + '\n';
  }
  /// `keys`: of the messages.
  void call(const std::string& name, const uint64_t* head, record::Reader items,
            record::Reader keys);

  std::string text() { return std::move(text_); }

 private:
  uint64_t time(uint64_t ticks) const {
    return static_cast<uint64_t>(std::llround(static_cast<double>(ticks) * nanoseconds_));
  }
  /// " s:1,2,3"; of a collective " c:bcast,1,2,3"
  void put(char kind, std::initializer_list<uint64_t> values, const char* operation = nullptr) {
    line_ += ' ';
    line_ += kind;
    char before = ':';
    if (operation != nullptr) line_ += std::exchange(before, ',') + std::string(operation);
    for (const uint64_t value : values) {
      line_ += std::exchange(before, ',');
      line_ += std::to_string(value);
    }
  }
  CommunicatorView view(uint32_t id);
  void message(Item kind, record::Reader& items);
  void collective(record::Reader& items);
  void parts(record::Reader& items);

  double nanoseconds_;  ///< of a tick
  LocalObjects objects_;
  uint64_t posted_ = 0;
  bool kept_ = false;                      ///< the present call keeps its time
  record::Reader keys_{nullptr, nullptr};  ///< of its further messages
  std::set<uint32_t> defined_;             ///< communicators
  std::string text_, line_;                ///< line_: of the present call
};

/// Defines a communicator before the line that names it.
CommunicatorView StepText::view(uint32_t id) {
  const CommunicatorView members = objects_.communicator(id);
  if (!defined_.insert(id).second) return members;
  char identity[24];
  std::snprintf(identity, sizeof identity, " %016llx",
                static_cast<unsigned long long>(members.identity));
  text_ += "comm " + std::to_string(id) + identity;
  if (!members.member.inter && members.member.rank == 0) {
    for (int i = 0; i < members.size; ++i) text_ += ' ' + std::to_string(members.peers[i]);
  }
  text_ += '\n';
  return members;
}

void StepText::message(Item kind, record::Reader& items) {
  const Message m = items.message();
  uint64_t request = 0, mode = 0;
  if (kind == Item::kIsend || kind == Item::kIrecvRequest) {
    request = ++posted_;
  } else if (kind == Item::kIrecv || kind == Item::kIsendStart || kind == Item::kIrecvStart) {
    const uint64_t word = items.word();
    request = word & 0xffffffffffffff;
    mode = kind == Item::kIrecv ? 0 : word >> 56;
  }
  if (static_cast<SendMode>(mode) == SendMode::kPartitioned) {
    kept_ = true;
    return;
  }
  if (kind == Item::kIrecvRequest || kind == Item::kIrecvStart) return put('p', {request});
  const uint64_t whole = keys_.word(), key = (whole ^ whole >> 32) & 0xffffffff;
  const int peer = view(m.communicator).world_rank(m.peer);
  kept_ = kept_ || peer < 0;
  if (peer < 0) return;
  const auto other = static_cast<uint64_t>(peer), tag = uint64_t{static_cast<uint32_t>(m.tag)};
  if (kind == Item::kSend || kind == Item::kRecv) {
    put(kind == Item::kSend ? 's' : 'r', {m.communicator, other, tag, m.bytes, key});
  } else if (kind == Item::kIrecv) {
    put('g', {m.communicator, other, tag, m.bytes, key, request});
  } else {
    put('i', {m.communicator, other, tag, m.bytes, key, request, mode});
  }
}

void StepText::collective(record::Reader& items) {
  const bool completes = items.item() == Item::kCollectiveComplete;
  uint64_t request = 0;
  CollectiveItem what{};
  if (completes) {
    request = items.value();
    const uint64_t word = items.word(), sent = items.word();
    what = CollectiveItem::of(word, sent, items.word());
  } else {
    what = items.collective();
  }
  const Membership member = view(what.communicator).member;
  const char* const name = operation_name(what.op & ~kCollectiveInPlace);
  kept_ = kept_ || member.inter || name == nullptr;
  if (member.inter || member.peers < 2 || name == nullptr) return;
  const auto members = static_cast<uint32_t>(member.peers);
  const uint64_t root = what.root == OTF2_COLLECTIVE_ROOT_SELF ? static_cast<uint32_t>(member.rank)
                        : what.root < members                  ? what.root
                                                               : 0;
  const uint64_t in_place = (what.op & kCollectiveInPlace) != 0;
  if (completes)
    put('e', {what.communicator, root, what.sent, what.received, in_place, request}, name);
  else
    put('c', {what.communicator, root, what.sent, what.received, in_place}, name);
}

void StepText::parts(record::Reader& items) {
  const PartsHead head = PartsHead::of(items.value());
  if (head.has_request) items.word();
  for (size_t i = 0; i < head.runs && !items.done(); ++i) {
    const PartRun run = PartRun::of(items.word());
    if (!head.has_request) put('v', {run.bytes, run.peers});
  }
}

void StepText::call(const std::string& name, const uint64_t* head, record::Reader items,
                    record::Reader keys) {
  keys_ = keys;
  line_ = name;
  for (int i = 1; i <= 4; ++i) line_ += ' ' + std::to_string(i <= 2 ? time(head[i]) : head[i]);
  while (!items.done()) {
    switch (const Item kind = items.item()) {
      case Item::kSend:
      case Item::kRecv:
      case Item::kIsend:
      case Item::kIrecvRequest:
      case Item::kIrecv:
      case Item::kIsendStart:
      case Item::kIrecvStart:
        message(kind, items);
        break;
      case Item::kIsendComplete:
        put('d', {items.value()});
        break;
      case Item::kRequestCancelled:
        put('x', {items.value()});
        break;
      case Item::kCollective:
      case Item::kSmallCollective:
      case Item::kTinyCollective:
      case Item::kCollectiveComplete:
        collective(items);
        break;
      case Item::kParts:
        parts(items);
        break;
      case Item::kCollectiveRequest:
        items.value();
        put('b', {++posted_, 0});
        break;
      case Item::kCollectiveStart: {
        const uint64_t request = items.value();
        put('b', {request, items.word() >> 32});
        break;
      }
      case Item::kNeighboursPosted:
        ++posted_;
        kept_ = true;
        items.pass();
        break;
      case Item::kOwnWork:
        items.value();
        put('o', {time(items.word())});
        break;
      case Item::kStolen:
      case Item::kCounters:
      case Item::kAsked:
      case Item::kBlock:
      case Item::kProbed:
      case Item::kCommCreate:
      case Item::kCommDestroy:
        items.pass();
        break;
      default:  // one-sided, partitioned, among neighbours
        kept_ = true;
        items.pass();
        break;
    }
  }
  text_ += line_ + (std::exchange(kept_, false) ? " k:\n" : "\n");
  line_.clear();
}

}  // namespace

std::string StepRecords::text(uint64_t stride, double ticks_per_second, const LocalObjects& objects,
                              const char* (*name)(unsigned)) const {
  StepText text(ticks_per_second, objects);
  if (off_) return "";
  for (size_t i = 0; i < left_out_.size(); ++i) {
    const Sums& step = left_out_[i];
    text.left_out(step.number, step.length, step.mpi, step.calls);
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (!counts(i, stride)) continue;
    text.step(step.number, step.length, step.rest, step.posted);
    const uint64_t end = end_of(i);
    for (uint64_t at = step.first; at + kHead <= end;) {
      const uint64_t* const head = &words_[at];
      const uint64_t* const items = head + kHead;
      const uint64_t* const keys = items + (head[kCall] >> 32);
      at += kHead + (head[kCall] >> 32) + head[kKeys];
      text.call(name(head[kCall] & 0xffffffff), head, record::Reader(items, keys),
                record::Reader(keys, keys + head[kKeys]));
    }
  }
  return text.text();
}

}  // namespace tracing
}  // namespace rubato
