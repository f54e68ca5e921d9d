#!/usr/bin/env bash
# Cross-builds Rubato for aarch64 from Debian's packages, and runs there, under user-mode emulation, the unit tests and a
# traced program with Open MPI and MPICH, whose archives this machine's rubato reads:
#
#   aarch64.sh BUILD_DIR WORK_DIR [words for rubato-unit]
#
# Needs the packages qemu-user-static, binfmt-support and g++-aarch64-linux-gnu (else exit code 77). WORK_DIR keeps the
# packages of that processor (unpacked, not installed) and the build for the next time. By hand, a quarter of an hour on
# two idle processors for the build and as much for all unit tests.
set -euo pipefail
if (($# < 2)) || [[ ! -x $1/bin/rubato ]]; then
  echo "usage: $0 BUILD_DIR WORK_DIR [words for rubato-unit]" >&2
  exit 2
fi
for needed in qemu-aarch64-static aarch64-linux-gnu-g++; do
  command -v "$needed" >/dev/null || { echo "$0: there is no $needed" >&2; exit 77; }
done
native=$(cd "$1" && pwd)/bin/rubato
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
root=$work/root libraries=usr/lib/aarch64-linux-gnu
shift 2
# shellcheck source=share/setup.sh
. "$source/share/setup.sh"

# Packages for that processor: README's without the compilers, and what tests need. (apt is told that nothing is installed.)
if [[ ! -e $root/complete ]]; then
  wanted=(catch2 libc6 bash coreutils openssh-client)
  for package in "${build_packages[@]}"; do
    [[ $package =~ ^(g\+\+|make|cmake|python3|ninja-build|ccache)$ ]] || wanted+=("$package")
  done
  mkdir -p "$work"/apt/{lists/partial,cache/archives/partial} "$root"
  : >"$work/apt/status"
  foreign=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Install-Recommends=false
    -o "Dir::State::status=$work/apt/status" -o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache")
  apt-get "${foreign[@]}" update >"$work/apt.txt"
  apt-get "${foreign[@]}" install --download-only -y "${wanted[@]}" >>"$work/apt.txt"
  for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  for folder in bin sbin lib; do
    if [[ -d $root/$folder && ! -L $root/$folder ]]; then
      cp -a "$root/$folder/." "$root/usr/$folder/"
      rm -r "${root:?}/$folder"
      ln -s "usr/$folder" "$root/$folder"
    fi
  done
  find "$root/usr" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$root$(readlink "$link")")" "$link"
  done
  touch "$root/complete"
fi
export QEMU_LD_PREFIX=$root
"$root/usr/bin/true" || {
  echo "$0: programs of aarch64 do not start; mount -t binfmt_misc none /proc/sys/fs/binfmt_misc; update-binfmts --enable" >&2
  exit 77
}

cat >"$work/toolchain.cmake" <<C
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT $root)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_\${kind} ONLY)
endforeach()
C
# What that processor's compiler wrappers would answer.
cat >"$work/mpicc.openmpi" <<C
#!/bin/sh
case \$1 in
  --showme:incdirs) echo $root/$libraries/openmpi/include ;;
  --showme:link) echo -L$root/$libraries/openmpi/lib -L$root/$libraries -lmpi ;;
  *) exit 1 ;;
esac
C
cat >"$work/mpicc.mpich" <<C
#!/bin/sh
case \$1 in
  -compile_info) echo gcc -I$root/usr/include/aarch64-linux-gnu/mpich ;;
  -link_info) echo gcc -L$root/$libraries -lmpich ;;
  *) exit 1 ;;
esac
C
chmod +x "$work"/mpicc.*
use_ninja
cmake -S "$source" -B "$work/build" -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DRUBATO_TESTS=ON \
  -DMPICC_OPENMPI="$work/mpicc.openmpi" -DMPICC_MPICH="$work/mpicc.mpich" -DMPICC_PLAIN=MPICC_PLAIN-NOTFOUND \
  >"$work/cmake.txt"
cmake --build "$work/build" --parallel "$(nproc)" --target all rubato-unit
# The emulator does not know limits of address space, and has its own resident memory.
(($#)) || set -- '~[many_seeds]~"what was not made takes no memory"~"where no memory can be mapped*"'
"$work/build/bin/rubato-unit" "$@"

# A program whose return addresses are signed, with two ranks.
cat >"$work/app.c" <<'C'
#include <mpi.h>
#include <stdio.h>
__attribute__((noinline)) void work(int rank) {
  volatile double x = 0;
  for (int i = 0; i < 20000000; ++i) x += rank + i;
  double sum = x, all;
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < 10; ++step) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 7, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    work(rank);
  }
  printf("%d of %d got %d\n", rank, ranks, got);
  MPI_Finalize();
}
C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for mpi in mpich openmpi; do
  cd "$work"
  mapfile -t words < <(if [[ $mpi == mpich ]]; then "$work/mpicc.mpich" -compile_info; "$work/mpicc.mpich" -link_info; else
    "$work/mpicc.openmpi" --showme:incdirs | sed 's/^/-I/'; "$work/mpicc.openmpi" --showme:link; fi | sed 's/^gcc //' | tr ' ' '\n')
  aarch64-linux-gnu-gcc --sysroot="$root" -O2 -g -mbranch-protection=standard app.c -o "app.$mpi" "${words[@]}"
  rm -rf "$mpi.otf2dir"
  # The launcher is this machine's: it knows nothing of the program's processor.
  "mpirun.$mpi" -n 2 "$work/build/bin/rubato" trace --call-paths -o "$mpi.otf2dir" "./app.$mpi" >"$mpi.out" 2>"$mpi.err" ||
    { cat "$mpi.out" "$mpi.err"; exit 1; }
  grep -q '^0 of 2 got 1$' "$mpi.out" || { cat "$mpi.out" "$mpi.err"; exit 1; }
  # Both read it alike, and the paths name the functions of the program.
  "$native" profile "$mpi.otf2dir" --all >"$mpi.native.txt"
  "$work/build/bin/rubato" profile "$mpi.otf2dir" --all >"$mpi.emulated.txt"
  cmp "$mpi.native.txt" "$mpi.emulated.txt"
  grep -q 'main (app.c:[0-9]*).*work (app.c:[0-9]*)' "$mpi.native.txt" || { cat "$mpi.native.txt"; exit 1; }
  "$native" replay "$mpi.otf2dir" --verify >"$mpi.replay.txt"
  echo "$mpi: an archive of aarch64 is read alike here and there"
done
