#include "replay/store/call_store.h"

#include <algorithm>
#include <stdexcept>

namespace rubato {
namespace {

constexpr size_t kCallsAtOnce = 8;
constexpr size_t kRoom = 24 << 10;      ///< bytes in memory, for each timeline
constexpr size_t kLeastRoom = 1 << 20;  ///< for all of them
constexpr size_t kMostRoom = 64 << 20;

}  // namespace

size_t CallStore::capacity_for(size_t timelines) {
  return std::clamp(kRoom * timelines, kLeastRoom, kMostRoom);
}

void CallStore::append(int timeline, const Block& block, const LateActions& late) {
  Writing& writing = this->writing(timeline);
  CallPacker& packer = writing.packer;
  auto open = late.open.begin();
  for (size_t i = 0; i < block.calls.size(); ++i) {
    const Call& call = block.calls[i];
    const uint32_t end = call.first_action + call.actions;
    if (open == late.open.end() || open->action >= end) {
      packer.add(block, i);
      if (call.actions == 0) i += packer.add_alike(block, i);
    } else {
      const uint32_t first = packer.add_alone(block, i);
      for (; open != late.open.end() && open->action < end; ++open)
        writing.open_in_piece[open->number] = first + (open->action - call.first_action);
    }
    if (packer.full()) write(timelines_[timeline]);
  }
  for (const LateActions::Settled& settled : late.settled) settle_action(writing, settled);
}

CallStore::Writing& CallStore::writing(int timeline) {
  Timeline& t = timelines_[timeline];
  if (!t.writing) t.writing = std::make_unique<Writing>(with_records_);
  return *t.writing;
}

CallPacker& CallStore::packer(int timeline) {
  return writing(timeline).packer;
}

void CallStore::settle(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.writing->packer.full()) write(t);
}

void CallStore::close(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.writing && !t.writing->packer.empty()) write(t);
  if (t.writing && !t.writing->open_in_file.empty())
    throw std::logic_error("CallStore: a released action is not settled");
  t.writing.reset();
}

void CallStore::forget(int timeline) {
  timelines_[timeline].pieces.clear();
  timelines_[timeline].writing.reset();
}

void CallStore::write(Timeline& timeline) {
  Writing& writing = *timeline.writing;
  const PackedPiece piece = writing.packer.take();
  const std::lock_guard lock(writing_);
  const uint64_t offset = file_.append(piece.bytes);
  timeline.pieces.push_back({offset, static_cast<uint32_t>(piece.head),
                             static_cast<uint32_t>(piece.bytes.size() - piece.head)});
  for (const auto& [number, action] : writing.open_in_piece)
    writing.open_in_file[number] = offset + writing.packer.place_of_action(action);
  writing.open_in_piece.clear();
  writing.packer.add_to(uses_);
}

void CallStore::settle_action(Writing& writing, const LateActions::Settled& settled) {
  const Action& action = settled.action;
  if (const auto open = writing.open_in_piece.find(settled.number);
      open != writing.open_in_piece.end()) {
    writing.packer.action(open->second) = action;
    writing.open_in_piece.erase(open);
    return;
  }
  const auto open = writing.open_in_file.find(settled.number);
  if (open == writing.open_in_file.end())
    throw std::logic_error("CallStore: an action is settled that was not released");
  const std::lock_guard lock(writing_);
  file_.overwrite(open->second, std::as_bytes(std::span(&action, 1)));
  if (action.kind == ActionKind::kSend && action.flags & kSynchronous)
    uses_.synchronous_sends = true;
  writing.open_in_file.erase(open);
}

bool CallStore::read(int timeline, Block& block) {
  Timeline& t = timelines_[timeline];
  if (!t.unpacker) t.unpacker = std::make_unique<CallUnpacker>(file_, shapes_, with_records_);
  while (!t.unpacker->read(block, kCallsAtOnce)) {
    if (t.next_piece == t.pieces.size()) {
      t.unpacker.reset();
      return false;
    }
    t.unpacker->start(t.pieces[t.next_piece++]);
  }
  return true;
}

void CallStore::rewind() {
  for (const auto [first, end] : timelines_.made()) {
    for (size_t i = first; i < end; ++i) {
      timelines_[i].next_piece = 0;
      timelines_[i].unpacker.reset();
    }
  }
}

}  // namespace rubato
