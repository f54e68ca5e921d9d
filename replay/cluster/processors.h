#pragma once

namespace rubato {

/// The number of processors available to this process, one of `processes` on this host.
int available_processors(int processes = 1);

}  // namespace rubato
