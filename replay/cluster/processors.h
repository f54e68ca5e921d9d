#pragma once

namespace rubato {

/// How many processors this process may use, one of so many `processes` on this host.
int available_processors(int processes = 1);

}  // namespace rubato
