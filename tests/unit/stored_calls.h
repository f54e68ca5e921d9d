// What a store holds, for comparison.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "replay/store/call_store.h"

namespace rubato {

/// A call with all that it does, as words.
inline std::vector<uint64_t> words_of(Block& block, const Call& call) {
  block.take_up(call);
  std::vector<uint64_t> words = {call.event,
                                 call.actions,
                                 call.function_records,
                                 call.name,
                                 static_cast<uint64_t>(call.role),
                                 call.spinning};
  for (const double time : {call.enter, call.leave}) words.push_back(std::bit_cast<uint64_t>(time));
  for (Action action : block.actions_of(call)) {
    action.request = RequestField::kNone;
    uint64_t bits[4];
    std::memcpy(bits, &action, sizeof bits);
    words.insert(words.end(), bits, bits + 4);
  }
  return words;
}

/// All calls of a timeline, in order.
inline std::vector<std::vector<uint64_t>> stored_calls(CallStore& store, int timeline) {
  std::vector<std::vector<uint64_t>> all;
  Block block;
  while (store.read(timeline, block)) {
    for (const Call& call : block.calls) all.push_back(words_of(block, call));
  }
  return all;
}

}  // namespace rubato
