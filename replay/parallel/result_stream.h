#pragma once

#include "replay/cluster/byte_stream.h"
#include "replay/observe/results.h"

namespace rubato {

/// What a process found out about a scenario, for another one.
void put_result(ByteWriter& to, const ScenarioResult& result);
ScenarioResult take_result(ByteReader& from);

}  // namespace rubato
