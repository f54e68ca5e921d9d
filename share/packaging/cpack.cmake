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
")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# A package for each MPI library, and one for the rest; a tarball has all (generators.cmake). The library for developers
# (find_package(Rubato)) is in no package.
set(CPACK_COMPONENTS_ALL Unspecified ${MPI_FLAVOURS})
set(CPACK_RUBATO_PACKAGING ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_RUBATO_LIBRARY_DIR ${RUBATO_LIBRARY_DIR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generators.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME rubato)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS libjs-chart.js)
# libdw is loaded when source lines are requested.
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "libdw1, rubato-openmpi | rubato-mpich")
set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(titles_openmpi "Open MPI" openmpi-bin)
set(titles_mpich MPICH mpich)
foreach(flavour IN LISTS MPI_FLAVOURS)
  string(TOUPPER ${flavour} name)
  list(GET titles_${flavour} 0 title)
  list(GET titles_${flavour} 1 launcher)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME rubato-${flavour})
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "rubato (= ${PROJECT_VERSION}-1)")
  set(CPACK_DEBIAN_${name}_PACKAGE_RECOMMENDS ${launcher})
  set(CPACK_DEBIAN_${name}_DESCRIPTION "tracer and calibrator of Rubato for ${title}
Rubato records the MPI calls of a program, without recompiling it, and replays
them on another machine.
.
This package has what differs between MPI libraries: the tracer, the
calibrator, and the parallel replay for ${title}.")
endforeach()
set(CPACK_PACKAGE_HOMEPAGE_URL ${RUBATO_HOMEPAGE})
include(CPack)
