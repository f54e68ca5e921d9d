#!/bin/sh
# Traces third-party programs: their exit code must not change, OTF2's tools, check_archive.py and ViTE must open the
# archive, and the replay must reproduce every record exactly. Prints a table; exit code 1 on failure. Takes some
# minutes; programs that are not installed are skipped with a notice.
#
#   tests/conformance/real_programs.sh [--work DIR] [--build DIR] [--only REGEX] [--check PROGRAM] [--mumps-mpich FILE]
#
#   --work DIR      where everything goes, archives too (default: $TMPDIR/rubato-real-programs)
#   --build DIR     build directory of Rubato (default: build)
#   --only REGEX    programs whose line in the table matches, such as 'mpich' or '^lammps'
#   --check PROGRAM another checker than tests/e2e/check_archive.py; gets the anchor file, its last line is shown
#   --mumps-mpich F dsimpletest of a MUMPS that was built with mpifort.mpich; Debian's is for Open MPI
#
# Debian packages: lammps hpcc mumps-test scalapack-mpi-test python3-mpi4py vite
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=${TMPDIR:-/tmp}/rubato-real-programs
build=$root/build
only=.
check=$root/tests/e2e/check_archive.py
mumps_mpich=
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 0 ;;
    --work | --build | --only | --check | --mumps-mpich) [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; } ;;
    *) echo "$0: what is $1?" >&2; exit 2 ;;
  esac
  case $1 in
    --work) work=$2 ;;
    --build) build=$2 ;;
    --only) only=$2 ;;
    --check) check=$2 ;;
    --mumps-mpich) mumps_mpich=$2 ;;
  esac
  shift 2
done
mkdir -p "$work"
cd "$work" || exit 1
build=$(cd "$root" && cd "$build" && pwd)
rubato=$build/bin/rubato
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 QT_QPA_PLATFORM=offscreen
seconds=300   # that a run may take
failed=0
format='%-22s %-8s %5s %9s %-5s %-10s %-5s %-9s %s\n'

# try NAME FLAVOUR RANKS PROGRAM ARGUMENTS...: one line of the table. Works in a directory NAME.FLAVOUR, which may
# hold the program's input already.
try() {
  name=$1 flavour=$2 ranks=$3 program=$4
  shift 3
  echo "$name $flavour" | grep -qE "$only" || return 0
  if ! command -v "$program" >/dev/null || ! command -v "mpirun.$flavour" >/dev/null; then
    echo "$name: not installed"
    return 0
  fi
  mkdir -p "$name.$flavour"
  cd "$name.$flavour" || exit 1
  rm -rf run.otf2dir
  timeout "$seconds" "mpirun.$flavour" -n "$ranks" "$@" </dev/null >plain.txt 2>&1
  plain=$?
  timeout "$seconds" "mpirun.$flavour" -n "$ranks" "$rubato" trace -o run.otf2dir "$@" </dev/null >traced.txt 2>&1
  traced=$?
  print=- checked=- vite=- identity=- words=
  [ $traced = $plain ] || words="exit code $traced, untraced $plain; "
  if [ -e run.otf2dir/traces.otf2 ]; then
    otf2-print -Werror --silent run.otf2dir/traces.otf2 >print.txt 2>&1
    print=$?
    if otf2-print -G run.otf2dir/traces.otf2 | grep -q '^INTER_COMM '; then
      echo "python3-otf2 cannot read intercommunicators" >check.txt
    else
      "$check" run.otf2dir/traces.otf2 >check.txt 2>&1 && checked=good || checked=bad
    fi
    rm -f out.svg
    if command -v vite >/dev/null; then
      vite -e out.svg run.otf2dir/traces.otf2 >vite.txt 2>&1
      [ -s out.svg ] && vite=opens || vite=fails
    fi
    "$rubato" replay --verify run.otf2dir --on measured --on perfect >replay.txt 2>&1 && identity=exact || identity=fails
    words=$words$(tail -n 1 check.txt)
  fi
  records=$("$rubato" info run.otf2dir 2>/dev/null | sed -n 's/^Records *//p')
  # shellcheck disable=SC2059
  printf "$format" "$name" "$flavour" "$ranks" "$records" "$print" "$checked" "$vite" "$identity" "$words"
  case "$traced $print $checked $vite $identity" in
    "$plain 0 good opens exact" | "$plain 0 good - exact" | "$plain 0 - opens exact" | "$plain 0 - - exact") ;;
    *) failed=1 ;;
  esac
  cd "$work" || exit 1
}

# A five-point Laplacian on a square of 60 x 60, as MUMPS' example programs read it.
laplacian() {
  awk -v n=60 'BEGIN {
    print n * n, ":N"
    print 5 * n * n - 4 * n, ":NZ"
    for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) {
      at = i * n + j + 1
      print at, at, 4.0
      if (i > 0) print at, at - n, -1.0
      if (i < n - 1) print at, at + n, -1.0
      if (j > 0) print at, at - 1, -1.0
      if (j < n - 1) print at, at + 1, -1.0
    }
    for (i = 0; i < n * n; ++i) print 1.0
  }'
}

# hpcc: the example of the package, made small.
hpcc_input() {
  sed -e 's/^1000  *Ns/200 Ns/' -e 's/^2  *Ps/2 Ps/' -e 's/^2  *Qs/2 Qs/' -e 's/^1200 /100 /' \
    /usr/share/doc/hpcc/examples/_hpccinf.txt
}

# A pool of workers, to which a thread of rank 0 distributes tasks on request.
pool() {
  cat <<'PYTHON'
from mpi4py.futures import MPIPoolExecutor

def square(x):
    return x * x

if __name__ == '__main__':
    with MPIPoolExecutor() as pool:
        assert list(pool.map(square, range(500))) == [x * x for x in range(500)]
PYTHON
}

scalapack=/usr/lib/x86_64-linux-gnu/scalapack
# shellcheck disable=SC2059
printf "$format" Program MPI Ranks Records print check ViTE identity 'last line of the check'
for flavour in openmpi mpich; do
  tests=$scalapack/$flavour-tests
  mkdir -p "scalapack-lu.$flavour" "blacs-fortran.$flavour" "mumps.$flavour"
  # Fewer sizes and blocks of matrices than in the package, and grids of 2 x 2 and 1 x 4.
  sed -e 's/^4\(.*number of problems\)/2\1/' -e 's/^3\(.*number of\|.*Number of\)/1\1/' \
    -e 's/^4\(.*process grids\)/2\1/' -e 's/^1 2 1 4 2/2 1/' -e 's/^1 2 4 1 3/2 4/' \
    /usr/share/scalapack/LU.dat >"scalapack-lu.$flavour/LU.dat" 2>/dev/null
  try scalapack-lu $flavour 4 "$tests/xdlu"
  cp "$tests"/BLACS/*.dat "blacs-fortran.$flavour" 2>/dev/null
  # One precision of five, and not the part that ends with MPI_Abort.
  sed -i -e 's/^5\(.*Number of precisions\)/1\1/' -e "s/^'I' 'S'/'D' 'S'/" -e "s/^'T'\(.*Run AUX\)/'F'\1/" "blacs-fortran.$flavour/bt.dat" 2>/dev/null
  try blacs-fortran $flavour 4 "$tests/BLACS/xFbtest"
  laplacian >"mumps.$flavour/matrix"
done
# MPICH's launcher loses large standard input: rank 0 reads the file itself.
[ ! -e /usr/lib/mumps/dsimpletest ] || try mumps openmpi 4 sh -c 'exec /usr/lib/mumps/dsimpletest <matrix'
[ -z "$mumps_mpich" ] || try mumps mpich 4 sh -c "exec '$mumps_mpich' <matrix"
mkdir -p lammps.openmpi
sed 's/^run .*/run 50/' "$root/share/examples/melt.in" >lammps.openmpi/melt.in
try lammps openmpi 4 lmp -in melt.in -log none
mkdir -p hpcc.openmpi hpcc-2-threads.openmpi
hpcc_input >hpcc.openmpi/hpccinf.txt
hpcc_input | sed -e 's/^2 Ps/1 Ps/' >hpcc-2-threads.openmpi/hpccinf.txt
try hpcc openmpi 4 hpcc
OMP_NUM_THREADS=2
try hpcc-2-threads openmpi 2 hpcc
OMP_NUM_THREADS=1
mkdir -p mpi4py-pool.openmpi
pool >mpi4py-pool.openmpi/pool.py
try mpi4py-pool openmpi 4 /usr/bin/python3 -m mpi4py.futures pool.py
exit $failed
