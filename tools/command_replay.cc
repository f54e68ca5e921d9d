#include "models/error.h"
#include "tools/commands.h"

namespace rubato {

int command_replay(const Arguments&) { throw InputError("rubato replay: on its way"); }

}  // namespace rubato
