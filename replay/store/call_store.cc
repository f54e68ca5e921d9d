#include "replay/store/call_store.h"

#include <algorithm>

namespace rubato {
namespace {

constexpr size_t kCallsAtOnce = 8;
constexpr size_t kRoom = 24 << 10;      ///< bytes in memory, for each timeline
constexpr size_t kLeastRoom = 1 << 20;  ///< for all of them
constexpr size_t kMostRoom = 64 << 20;

}  // namespace

size_t CallStore::room_for(int timelines) {
  return std::clamp(kRoom * static_cast<size_t>(timelines), kLeastRoom, kMostRoom);
}

void CallStore::append(int timeline, const Block& block) {
  CallPacker& packer = this->packer(timeline);
  for (size_t i = 0; i < block.calls.size(); ++i) {
    packer.add(block, i);
    if (packer.full()) write(timelines_[timeline]);
  }
}

CallPacker& CallStore::packer(int timeline) {
  Timeline& t = timelines_[timeline];
  if (!t.packer) t.packer = std::make_unique<CallPacker>(with_records_);
  return *t.packer;
}

void CallStore::settle(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.packer->full()) write(t);
}

void CallStore::close(int timeline) {
  Timeline& t = timelines_[timeline];
  if (t.packer && !t.packer->empty()) write(t);
  t.packer.reset();
}

void CallStore::forget(int timeline) {
  timelines_[timeline].pieces.clear();
  timelines_[timeline].packer.reset();
}

void CallStore::write(Timeline& timeline) {
  const PackedPiece piece = timeline.packer->take();
  const std::lock_guard lock(writing_);
  timeline.pieces.push_back({file_.append(piece.bytes), static_cast<uint32_t>(piece.head),
                             static_cast<uint32_t>(piece.bytes.size() - piece.head)});
  timeline.packer->tell(uses_);
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
  for (Timeline& timeline : timelines_) {
    timeline.next_piece = 0;
    timeline.unpacker.reset();
  }
}

}  // namespace rubato
