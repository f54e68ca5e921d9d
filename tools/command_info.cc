#include "models/error.h"
#include "tools/commands.h"

namespace rubato {

int command_info(const Arguments&) { throw InputError("rubato info: on its way"); }

}  // namespace rubato
