# What a C program of ours is linked with for one MPI: MPI_LINK_FLAGS_<flavour>, in the caller's scope.
# Needs the wrappers that find_mpi_flavours() found. Open MPI's answer --showme:link; MPICH's print the
# command they would run, compiler first.
function(find_mpi_link_flags flavour)
  string(TOUPPER ${flavour} name)
  set(wrapper ${MPICC_${name}})
  if(NOT wrapper)
    set(wrapper ${MPICC_PLAIN})
  endif()
  execute_process(COMMAND ${wrapper} --showme:link
    OUTPUT_VARIABLE flags RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    execute_process(COMMAND ${wrapper} -link_info
      OUTPUT_VARIABLE command ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(flags UNIX_COMMAND "${command}")
    list(FILTER flags INCLUDE REGEX "^-(L|l|Wl,)")
  else()
    separate_arguments(flags UNIX_COMMAND "${flags}")
  endif()
  set(MPI_LINK_FLAGS_${flavour} ${flags} PARENT_SCOPE)
endfunction()
