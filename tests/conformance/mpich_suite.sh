#!/bin/sh
# MPICH's own test suite as a test of the tracer: each of its tests without and with the tracer, which
# must not change what it says; every archive must please otf2-print. Takes an hour or more; what is
# done already (download, build, results) is not done again.
#
#   tests/conformance/mpich_suite.sh [--work DIR] [--build DIR] [--flavour mpich|openmpi]
#                                    [--folders "pt2pt coll ..."] [options of mpich_suite.py]
#
#   --work DIR      where everything goes (default: $TMPDIR/rubato-mpich-suite)
#   --build DIR     build directory of Rubato (default: build)
#   --flavour MPI   the MPI to test with; openmpi as far as the suite compiles (default: mpich)
#   --folders LIST  folders of the suite (default: pt2pt coll comm topo rma part threads f77 f90 f08;
#                   there are also datatype io init group attr errhan info errors); `all` for both
#   --build-only    run no test
#   --report        print the table from the results so far
#   --modes LIST    plain, traced or both
#   --only REGEX    tests whose line matches
#   --identity      also replay every archive as measured; it must equal the recording
#   --records       also check that records fit together (tests/e2e/check_archive.py); programs that
#                   leave messages unreceived are named, too
#   --keep          keep all archives (in WORK/MPI/runs), not only faulty ones
#   --jobs N, --timeout SECONDS, --maxnp N, --max-memory GB, --trace-memory SIZE, --lists NAMES
#
# Results with the tracer are those of one build of it: a new build runs them again. To repeat the
# runs without it remove WORK/MPI/results. Needs apt's sources of Debian, perl, make, gcc, gfortran.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${TMPDIR:-/tmp}/rubato-mpich-suite
build=$root/build
flavour=mpich
main_folders='pt2pt coll comm topo rma part threads f77 f90 f08'
more_folders='datatype io init group attr errhan info errors'
folders=$main_folders
build_only=false

# The options of the Python part stay in "$@".
count=$#
while [ "$count" -gt 0 ]; do
  option=$1
  shift
  count=$((count - 1))
  case $option in
    --work | --build | --flavour | --folders)
      [ "$count" -gt 0 ] || { echo "$0: $option needs a value" >&2; exit 2; }
      case $option in
        --work) work=$1 ;;
        --build) build=$1 ;;
        --flavour) flavour=$1 ;;
        --folders) folders=$1 ;;
      esac
      shift
      count=$((count - 1))
      ;;
    --build-only) build_only=true ;;
    --help | -h) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) set -- "$@" "$option" ;;
  esac
done
[ "$folders" != all ] || folders="$main_folders $more_folders"
case $flavour in
  mpich)
    configure=''
    cflags=''
    ;;
  # Without MPICH's own extensions. Open MPI's mpi.h makes the use of what MPI-3 removed an error of the
  # compiler, by _Static_assert in C11 and by an attribute else; the library still has it.
  openmpi)
    configure='--enable-strictmpi'
    cflags='-std=gnu99 -D__error__=__deprecated__'
    ;;
  *) echo "$0: --flavour is mpich or openmpi" >&2; exit 2 ;;
esac

mkdir -p "$work/source" "$work/$flavour/log" "$work/$flavour/done"
work=$(cd "$work" && pwd)
build=$(cd "$build" && pwd)
suite=$work/$flavour/mpi
log=$work/$flavour/log
finished=$work/$flavour/done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

# once NAME COMMAND...: unless it succeeded before.
once() {
  name=$1
  shift
  [ ! -e "$finished/$name" ] || return 0
  echo "$flavour: $name"
  "$@" >"$log/$name.log" 2>&1 || { echo "$0: $name failed, see $log/$name.log" >&2; exit 1; }
  touch "$finished/$name"
}

# Debian's source package, by lists of our own: the system's stay as they are.
download() {
  cd "$work/source"
  mkdir -p lists/partial cache
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  echo "deb-src ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $release main" >sources.list
  set -- -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache"
  [ "$(id -u)" != 0 ] || set -- "$@" -o APT::Sandbox::User=root
  apt-get "$@" update
  apt-get "$@" source --download-only mpich
}

unpack() {
  cd "$work/$flavour"
  rm -rf mpi
  tar xf "$work"/source/mpich_*.orig.tar.* --strip-components=2 --wildcards 'mpich-*/test/mpi'
  # Its tests of the mpi_f08 module are for MPICH's own build only, for no reason that holds here.
  sed -i 's/"\$enable_f08" = "yes" -a "\$FROM_MPICH" = "yes"/"$enable_f08" = "yes"/' mpi/configure
}

configure_suite() {
  cd "$suite"
  # shellcheck disable=SC2086
  ./configure --disable-cxx --disable-spawn --enable-fortran=all --enable-threads=multiple $configure \
    MPICC="mpicc.$flavour" MPIF77="mpifort.$flavour" MPIFC="mpifort.$flavour" \
    CFLAGS="-g -O1 -w $cflags" FFLAGS=-fallow-argument-mismatch FCFLAGS=-fallow-argument-mismatch \
    CC=gcc F77=gfortran FC=gfortran MPI_SIZEOF_AINT=8 MPI_SIZEOF_OFFSET=8
}

build_common() {
  make -C "$suite/util" && make -C "$suite/dtpools"
}

# Tests that do not compile are skipped and counted in the results.
build_folder() {
  make -k -j2 -C "$suite/$1" all || echo "$1: not all compiled"
}

# See the file.
build_yield() {
  cc -O2 -shared -fPIC -o "$work/$flavour/yield.so" "$root/tests/conformance/mpich_over_ucx.c" -ldl
}

[ -n "$(find "$work/source" -name 'mpich_*.orig.tar.*')" ] || once download download
once unpack unpack
once configure configure_suite
once build-common build_common
once build-yield build_yield
for folder in $folders; do
  [ -d "$suite/$folder" ] || { echo "$0: the suite has no folder $folder" >&2; exit 2; }
  once "build-$folder" build_folder "$folder"
done
[ $build_only = false ] || exit 0

tracer=$build/lib/rubato/librubato-trace-$flavour.so
[ -e "$tracer" ] || { echo "$0: there is no $tracer" >&2; exit 1; }
export SUITE_PRELOAD="$work/$flavour/yield.so"
exec python3 "$root/tests/conformance/mpich_suite.py" --suite "$suite" --work "$work/$flavour" \
  --results "$work/$flavour/results" --rubato "$build/bin/rubato" --tracer "$tracer" \
  --mpiexec "mpirun.$flavour" --folders "$folders" "$@"
