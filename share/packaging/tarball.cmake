# Before cpack builds a tarball of the installed tree, copies libraries that a machine may lack to the RPATH of the
# programs. Libraries of the system, of compilers and of MPI are not included, nor is hwloc, which MPI needs, too.
file(GLOB trees ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/bin ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/bin)
foreach(bin IN LISTS trees)
  cmake_path(GET bin PARENT_PATH prefix)
  file(GLOB programs ${prefix}/bin/rubato ${prefix}/libexec/rubato/*)
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs}
    RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
    PRE_INCLUDE_REGEXES "libpugixml" "libtomlplusplus" "libboost" "libfmt" "open-trace-format2" "libotf2"
    PRE_EXCLUDE_REGEXES ".*")
  if(NOT libraries)
    message(FATAL_ERROR "which libraries does ${bin}/rubato need? (missing: ${missing})")
  endif()
  foreach(library IN LISTS libraries)
    file(COPY ${library} DESTINATION ${prefix}/${CPACK_RUBATO_LIBRARY_DIR}/shared FOLLOW_SYMLINK_CHAIN)
  endforeach()
endforeach()
