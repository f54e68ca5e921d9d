#pragma once

#include <cstdint>
#include <string>

#include "tracer/base/packing.h"

namespace rubato {
inline namespace tracing {

/// Executable memory, and the file it is from.
struct Module {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;    ///< of `begin` in the file
  uint64_t bytes = 0;     ///< size of the file ...
  uint64_t modified = 0;  ///< ... and when it was changed: it may be another one by now
  std::string file;       ///< empty if unknown

  void pack(Packer& packer) const {
    for (const uint64_t value : {begin, end, offset, bytes, modified}) packer.put(value);
    packer.put(file);
  }
  static Module unpack(Unpacker& from) {
    Module module;
    for (uint64_t* value :
         {&module.begin, &module.end, &module.offset, &module.bytes, &module.modified}) {
      *value = from.value();
    }
    module.file = from.text();
    return module;
  }
};

}  // namespace tracing
}  // namespace rubato
