#include "models/platform/platform.h"

namespace rubato {

Protocol LevelModel::protocol_at(double bytes) const {
  Protocol protocol = Protocol::kEager;
  for (const ProtocolSegment& segment : protocols) {
    if (bytes >= segment.from) protocol = segment.protocol;
  }
  return protocol;
}

}  // namespace rubato
