# Functions that execute README's Installation, for share/quickstart, tests/run and tests: the Debian packages and
# commands of a build, and the installation of missing packages.
# shellcheck shell=bash disable=SC2034

# The lines of the block number $1 of that section.
readme_block() {
  awk -v wanted="$1" '/^## /{ inside = /^## Installation/ } !inside { next }
    /^```/ { fences++; next } fences == 2 * wanted - 1 { sub(/ +#.*/, ""); print }' \
    "$(dirname "${BASH_SOURCE[0]}")/../README.md"
}
# The command lines to build and to install.
mapfile -t readme_lines < <(readme_block 1)
# With a tracer and a calibrator for each MPI.
mapfile -t build_packages < <(readme_block 2 | grep -o '[^ ]*')
quicker_packages=(ninja-build ccache)  # not needed
build_packages+=("${quicker_packages[@]}")
# The program that the quickstart traces.
example_packages=(lammps)
# For tests. Browser tests are skipped without a chromium, which is too large to be installed for them.
test_packages=(
  catch2 clang-format shellcheck
  otf2-tools python3-otf2 python3-six python3-jsonschema # python3-otf2 lacks this dependency
  jq python3-pandas # examples of share/doc/profile.md
  lammps hpcc netpipe-openmpi
  libsimgrid-dev # smpirun: another replay to compare with
  gfortran
  libpapi7.0 # counters of PAPI
)

# Prints those of the given packages that are not installed, one per line.
missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# apt_get AS_ROOT... -- ARGUMENTS...: while another process holds the locks of packages, as unattended upgrades do on fresh
# machines, it waits for up to 15 minutes. (apt-get itself can wait for one of the three only.)
lock_pause=5 # seconds
apt_get() {
  local as_root=() said="" turn
  while [[ $1 != -- ]]; do as_root+=("$1") && shift; done
  shift
  for ((turn = 0; ; turn++)); do
    if said=$("${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" 2>&1 >/dev/null </dev/null); then
      [[ -z $said ]] || echo "$said" >&2 # warnings
      return
    fi
    if ! grep -Eq '11: Resource temporarily unavailable|(held|locked) by (another )?process' <<<"$said" || ((turn == 180)); then
      echo "$said" >&2
      return 1
    fi
    ((turn)) || echo "Another process installs packages; waiting for it:" "$(grep -m 1 -E "unavailable|(held|locked) by" <<<"$said")"
    sleep "$lock_pause"
  done
}

# Installs missing packages of the given ones, as root or through sudo; with neither it prints the command to run and
# returns 1. Does nothing if none is missing.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu: if the build reports missing dependencies, install the equivalents" \
      "of these packages: $*"
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
      local package
      for package in "${quicker_packages[@]}"; do
        mapfile -t missing < <(printf '%s\n' "${missing[@]}" | grep -vx "$package")
      done
      ((${#missing[@]} == 0)) && return 0
      echo "These packages are missing, and installing them needs root. Run this, then start again:"
      echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      return 1
    fi
  fi
  echo "Installing: ${missing[*]}"
  apt_get "${as_root[@]}" -- update && apt_get "${as_root[@]}" -- install -y --no-install-recommends "${missing[@]}"
}

# Uses ccache, if installed, so that results are also shared between checkouts: paths below $1 are made relative, and
# file times are ignored.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}include_file_mtime,include_file_ctime
}

# Ninja starts long jobs first and compiles a library without waiting for the previous one.
use_ninja() {
  ! command -v ninja >/dev/null || export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
}

# Builds in $1 as in README, into $1/build. Further arguments are options for an initial cmake, which the build directory
# keeps. The quickstart and tests/run build with this function, and neither compiles again what the other has compiled:
# both use ccache, and both make warnings errors with Debian 12's compiler, which gives none without further flags.
build_rubato() {
  local root=$1
  shift
  (
    cd "$root" || exit
    use_ninja
    use_ccache "$root"
    # With another launcher than before everything would be compiled again.
    if [[ -e build/CMakeCache.txt ]] && ! grep -q '^CMAKE_CXX_COMPILER_LAUNCHER:.*ccache' build/CMakeCache.txt; then
      unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
    fi
    if [[ -z ${CXXFLAGS:-}${CMAKE_BUILD_TYPE:-} && $("${CXX:-c++}" --version 2>/dev/null) == *"(Debian 12."* ]]; then
      set -- -DRUBATO_WERROR=ON "$@"
    fi
    if (($#)); then cmake -S . -B build "$@" >/dev/null || exit; fi
    eval "${readme_lines[0]}"
  )
}

# Finds an Open MPI command that starts two ranks on different cores, if there are two: sets mpirun_two, and sets cores
# to the number of cores that this process may use.
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
    # Open MPI refuses to run as root, usual in containers, unless both variables are set.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
