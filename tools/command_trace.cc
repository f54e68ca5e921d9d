#include "models/error.h"
#include "tools/commands.h"

namespace rubato {

int command_trace(const Arguments&) { throw InputError("rubato trace: on its way"); }

}  // namespace rubato
