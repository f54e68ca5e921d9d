# Finds the MPI libraries to support. Sets MPI_FLAVOURS to a list out of "openmpi" and "mpich", and for
# each MPI_INCLUDE_DIRS_<flavour>, all in the caller's scope.

# The directories of mpi.h, from a compiler wrapper: Open MPI's accept --showme:incdirs, MPICH's print the
# command that they would run.
function(mpi_include_dirs wrapper result)
  execute_process(COMMAND ${wrapper} --showme:incdirs
    OUTPUT_VARIABLE dirs RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    execute_process(COMMAND ${wrapper} -compile_info
      OUTPUT_VARIABLE command ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "-I *[^ ]+" flags "${command}")
    list(TRANSFORM flags REPLACE "^-I *" "" OUTPUT_VARIABLE dirs)
  else()
    separate_arguments(dirs)
  endif()
  set(${result} ${dirs} PARENT_SCOPE)
endfunction()

function(find_mpi_flavours)
  find_program(MPICC_OPENMPI NAMES mpicc.openmpi)
  find_program(MPICC_MPICH NAMES mpicc.mpich)
  find_program(MPICC_PLAIN NAMES mpicc)
  set(flavours "")
  foreach(wrapper IN ITEMS ${MPICC_OPENMPI} ${MPICC_MPICH} ${MPICC_PLAIN})
    if(NOT wrapper)
      continue()
    endif()
    mpi_include_dirs(${wrapper} dirs)
    find_file(header mpi.h PATHS ${dirs} NO_DEFAULT_PATH NO_CACHE)
    if(NOT header)
      continue()
    endif()
    file(STRINGS ${header} is_openmpi REGEX "define OPEN_MPI" LIMIT_COUNT 1)
    set(flavour mpich)
    if(is_openmpi)
      set(flavour openmpi)
    endif()
    unset(header)
    if(NOT flavour IN_LIST flavours)
      list(APPEND flavours ${flavour})
      set(MPI_INCLUDE_DIRS_${flavour} ${dirs} PARENT_SCOPE)
      message(STATUS "MPI ${flavour}: ${wrapper}")
    endif()
  endforeach()
  if(NOT flavours)
    message(WARNING "No MPI found: no tracer and no calibrator will be built")
  endif()
  set(MPI_FLAVOURS ${flavours} PARENT_SCOPE)
endfunction()

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
