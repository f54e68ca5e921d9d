// Stores of calls in tests: a trace for them, and what they hold, for comparison.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "replay/store/call_store.h"

namespace rubato {

/// Four ranks with one communicator and these MPI calls, numbered in that order; behind them, as in
/// every trace, what is outside of calls.
inline TraceDefinitions four_ranks_with(std::initializer_list<const char*> calls) {
  TraceDefinitions trace;
  trace.location_of_rank = {0, 1, 2, 3};
  trace.comms.emplace_back();
  trace.comms[0].set_members({0, 1, 2, 3});
  for (const char* name : calls) trace.calls.push_back(mpi_call_info(name));
  trace.calls.push_back(mpi_call_info("(outside MPI calls)"));
  return trace;
}

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
    action.has_request = false;
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
