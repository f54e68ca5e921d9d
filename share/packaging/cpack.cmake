# Packages: `cpack -G DEB` and `cpack -G TGZ` in the build directory. deb.cmake and tarball.cmake change the installed
# tree before it is packed. The addresses are placeholders; `release` lists all files with such addresses.
set(RUBATO_CONTACT "Rubato maintainers <maintainers@rubato.example.org>" CACHE STRING "maintainer named in packages")
set(RUBATO_HOMEPAGE "https://rubato.example.org" CACHE STRING "homepage named in packages")
set(CPACK_PACKAGE_NAME rubato)
set(CPACK_PACKAGE_VENDOR Rubato)
set(CPACK_PACKAGE_CONTACT ${RUBATO_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trace MPI programs and replay them on other machines")
set(CPACK_PACKAGE_DESCRIPTION "Rubato records the MPI calls of a program, without recompiling it, and replays
them on another machine: a perfect interconnect, a faster network, another
placement of ranks, or the same machine without the cost of recording. Traces
are OTF2 archives in the conventions of Score-P.
.
A tracer and a calibrator are included for each MPI library of this system.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_RUBATO_PACKAGING ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_RUBATO_LIBRARY_DIR ${RUBATO_LIBRARY_DIR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generators.cmake)

# The library for developers (find_package(Rubato)) is in the tarball only.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libjs-chart.js)
# libdw is loaded when source lines are requested.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdw1, openmpi-bin | mpich")
set(CPACK_PACKAGE_HOMEPAGE_URL ${RUBATO_HOMEPAGE})
include(CPack)
