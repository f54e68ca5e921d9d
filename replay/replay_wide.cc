// The engine for many models at once, for any processor, and the choice among the three.

#include "replay/replay_wide.h"

#include "replay/engine.h"

namespace rubato {

template class Replay<ModelRules<8>>;
template class Replay<ModelRules<16>>;
template class Replay<ModelRules<32>>;

Simd widest_simd() {
#ifdef RUBATO_HAS_SIMD
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  if (has_avx512) return Simd::kAvx512;
  if (__builtin_cpu_supports("avx2")) return Simd::kAvx2;
#endif
  return Simd::kAny;
}

Simd simd_in_use = widest_simd();

namespace {

template <int K>
ReplayOutcome run_in_use(Replay<ModelRules<K>>& replay) {
#ifdef RUBATO_HAS_SIMD
  if (simd_in_use == Simd::kAvx512) return avx512::run(replay);
  if (simd_in_use == Simd::kAvx2) return avx2::run(replay);
#endif
  return replay.run();
}

}  // namespace

ReplayOutcome run_wide(Replay<ModelRules<8>>& replay) {
  return run_in_use(replay);
}
ReplayOutcome run_wide(Replay<ModelRules<16>>& replay) {
  return run_in_use(replay);
}
ReplayOutcome run_wide(Replay<ModelRules<32>>& replay) {
  return run_in_use(replay);
}

}  // namespace rubato
