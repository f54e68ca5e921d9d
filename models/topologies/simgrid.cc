// Networks from SimGrid's platform files (simgrid_zones.h).

#include "models/base/error.h"
#include "models/topologies/simgrid_zones.h"

namespace rubato {
namespace {

const std::shared_ptr<const Topology>& topology(const ContentionSetting& setting,
                                                const Placement& placement) {
  if (!setting.loaded)
    throw InputError("topology \"simgrid\" needs 'file', a platform of SimGrid's");
  check_nodes("platform of SimGrid's", placement, setting.loaded->nodes());
  return setting.loaded;
}

std::shared_ptr<const Topology> load(const std::string& path) {
  return simgrid::topology_of(simgrid::read_platform(path));
}

}  // namespace

extern const NetworkModel simgrid_model;
const NetworkModel simgrid_model = {
    "simgrid",
    "hosts, links and routes of a platform file of SimGrid's, shared fairly",
    with_sharing_keys({{"file", NetworkKey::Kind::kFile, "of SimGrid's, XML"}}),
    make_own_links<topology>,
    make_latencies<topology>,
    count_nodes<topology>,
    load,
    true,
};

}  // namespace rubato
