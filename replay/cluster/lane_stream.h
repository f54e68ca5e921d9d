#pragma once

#include "models/base/lanes.h"
#include "replay/cluster/byte_stream.h"

namespace rubato {

template <int K>
void put_lanes(ByteWriter& to, const Lanes<K>& lanes) {
  to.raw(lanes.data(), K * sizeof(double));
}
template <int K>
void take_lanes(ByteReader& from, Lanes<K>& lanes) {
  from.raw(lanes.data(), K * sizeof(double));
}

}  // namespace rubato
