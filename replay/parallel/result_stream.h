#pragma once

#include "replay/cluster/byte_stream.h"
#include "replay/observe/results.h"

namespace rubato {

/// Serialises a scenario's result for another process.
void put_result(ByteWriter& to, const ScenarioResult& result);
ScenarioResult take_result(ByteReader& from);

}  // namespace rubato
