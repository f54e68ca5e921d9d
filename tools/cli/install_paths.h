#pragma once

#include <string>

namespace rubato {

/// Paths of this installation, relative to the running executable. So an installed tree can be
/// moved, and the build tree, which has the same layout, works without installation.
std::string library_dir();    ///< PREFIX/lib/rubato, or as CMAKE_INSTALL_LIBDIR has it: the tracers
std::string libexec_dir();    ///< PREFIX/libexec/rubato: the calibrators
std::string share_dir();      ///< PREFIX/share/rubato: platforms, report template, documentation
std::string platforms_dir();  ///< PREFIX/share/rubato/platforms: platform files of common networks

}  // namespace rubato
