#pragma once

// Replays of many scenarios at once, on what the processor has for it.
//
// The engine for 8 lanes and more is compiled three times: for any processor, for AVX2 and for
// AVX-512 (replay_simd.cc). Each lane's numbers are the same, bit for bit, as no operation is
// contracted or reordered.

#include <cstdint>

#include "replay/model_rules.h"
#include "replay/replay.h"

namespace rubato {

/// Instructions that the engine is compiled for.
enum class Simd : uint8_t { kAny, kAvx2, kAvx512 };
/// The widest that this processor has.
Simd widest_simd();
/// What run_wide() takes; tests try all up to the widest.
extern Simd simd_in_use;

/// Runs a replay with the instructions in use.
ReplayOutcome run_wide(Replay<ModelRules<8>>& replay);
ReplayOutcome run_wide(Replay<ModelRules<16>>& replay);
ReplayOutcome run_wide(Replay<ModelRules<32>>& replay);

/// Runs it with AVX2, which the processor must have.
namespace avx2 {
ReplayOutcome run(Replay<ModelRules<8>>& replay);
ReplayOutcome run(Replay<ModelRules<16>>& replay);
ReplayOutcome run(Replay<ModelRules<32>>& replay);
}  // namespace avx2

/// Likewise with AVX-512 (F, DQ and VL).
namespace avx512 {
ReplayOutcome run(Replay<ModelRules<8>>& replay);
ReplayOutcome run(Replay<ModelRules<16>>& replay);
ReplayOutcome run(Replay<ModelRules<32>>& replay);
}  // namespace avx512

}  // namespace rubato
