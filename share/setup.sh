# What README's Installation says, run by share/quickstart, tests/run and tests: which Debian packages a build
# needs, and how it goes; and how missing packages get installed.
# shellcheck shell=bash disable=SC2034

# The lines of the block number $1 of that section.
readme_block() {
  awk -v wanted="$1" '/^## /{ inside = /^## Installation/ } !inside { next }
    /^```/ { fences++; next } fences == 2 * wanted - 1 { sub(/ +#.*/, ""); print }' \
    "$(dirname "${BASH_SOURCE[0]}")/../README.md"
}
# How it is built, and installed: one command line each.
mapfile -t readme_lines < <(readme_block 1)
# With a tracer and a calibrator for each MPI.
mapfile -t build_packages < <(readme_block 2 | grep -o '[^ ]*')
build_packages+=(ninja-build)  # quicker than make, not needed
# The program that the quickstart traces.
example_packages=(lammps)
# To test. Browser tests run where a chromium is, and are skipped elsewhere: it is too big to be
# installed for them.
test_packages=(
  catch2 ccache clang-format shellcheck
  otf2-tools python3-otf2 python3-six python3-jsonschema # python3-otf2 forgets that it needs six
  jq python3-pandas # examples of share/doc/profile.md
  lammps hpcc netpipe-openmpi
  libsimgrid-dev # smpirun: another replay to compare with
  gfortran
)

# Those of the given packages that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# Installs those of the given packages that are missing; touches nothing when none is. As root, or
# through sudo; with neither it prints the line to run and returns 1.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian or Ubuntu: install what corresponds to these packages if the build" \
      "misses something: $*"
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0

  local as_root=()
  if ((EUID != 0)); then
    # Without a terminal sudo cannot ask for a password.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      echo "These packages are missing, and installing them needs root. Run this, then start again:"
      echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      return 1
    fi
  fi
  echo "Installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}

# Where there is a ccache, what was compiled before is taken from its store, also what another checkout than $1 compiled:
# paths below $1 are made relative, and times of files do not count.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}include_file_mtime,include_file_ctime
}

# Ninja starts what takes long first, and never waits for a library to be whole before it compiles the next.
use_ninja() {
  ! command -v ninja >/dev/null || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
}

# Builds in $1 as README says, into $1/build. Further words are options that cmake gets first; a build directory keeps
# them.
build_rubato() {
  local root=$1
  shift
  (
    cd "$root" || exit
    use_ninja
    if (($#)); then cmake -S . -B build "$@" >/dev/null || exit; fi
    eval "${readme_lines[0]}"
  )
}

# How Open MPI starts two ranks here without putting them on one core if there are two: sets
# mpirun_two, and cores to the number of cores this process may use.
find_mpirun() {
  local physical
  cores=$(nproc)
  physical=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  mpirun_two=(mpirun.openmpi -n 2)
  command -v mpirun.openmpi >/dev/null || mpirun_two=(mpirun -n 2)
  if ((cores < 2)); then
    mpirun_two+=(--oversubscribe)
  elif ((physical == 1)); then
    mpirun_two+=(--use-hwthread-cpus)
  fi
  if ((EUID == 0)); then
    # Open MPI refuses to run as root, which is all there is in a container, unless told twice.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
