#pragma once

#include <string>

namespace rubato {

/// Where the parts of this installation lie, found from the place of the running executable, so
/// that an installed tree can be moved and the build tree (which has the same shape) works
/// uninstalled.
std::string library_dir();    ///< PREFIX/lib/rubato: the tracers
std::string libexec_dir();    ///< PREFIX/libexec/rubato: the calibrators
std::string share_dir();      ///< PREFIX/share/rubato: platforms, report template, documentation
std::string platforms_dir();  ///< PREFIX/share/rubato/platforms: platform files of common networks

}  // namespace rubato
