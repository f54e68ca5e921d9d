#!/usr/bin/env bash
# Traces programs on the spot, for `rubato-bench --real`: real_archives.sh BUILD_DIR DIR [SHARE]
#
# Makes DIR/NAME.otf2dir, some 5 million records each, of
#   lammps          four ranks, a small liquid: MPI_Sendrecv, MPI_Irecv and MPI_Send of uneven sizes, collectives
#   hpcc            four ranks, the whole suite; RandomAccess polls half a million times and more
#   wavefront       sixteen ranks, small messages through a pipeline (NPB LU)
#   graph           four ranks that send to anybody and test what comes (Graph500), MPI_Irecv from any source
#   graph-pending   the same with a second receive that is open from the beginning to the end
#   threads         four ranks with two threads each that exchange halos
# The first two are Debian's packages lammps and hpcc, and are skipped if not installed; the others are in programs/.
# Existing archives are not made again. Takes two to three minutes on two idle cores; SHARE (0.1) shortens archives by
# that factor. Open MPI is configured to yield, because ranks share cores.
set -euo pipefail
if (($# < 2)) || [[ ! -x $1/bin/rubato ]]; then
  echo "usage: $0 BUILD_DIR DIR [SHARE]" >&2
  exit 2
fi
rubato=$(cd "$1" && pwd)/bin/rubato
mkdir -p "$2"
target=$(cd "$2" && pwd)
share=${3:-1}
programs=$(cd "$(dirname "$0")" && pwd)/programs
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d "${TMPDIR:-/tmp}/rubato-real.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# times COUNT: COUNT scaled by SHARE.
times() {
  awk -v count="$1" -v share="$share" 'BEGIN { n = int(count * share); print n < 1 ? 1 : n }'
}

# traced NAME RANKS COMMAND...: makes the archive, and says what is in it.
traced() {
  local name=$1 ranks=$2 began=$SECONDS
  shift 2
  [[ ! -e $target/$name.otf2dir ]] || return 0
  rm -rf draft.otf2dir
  timeout 300 mpirun.openmpi -n "$ranks" "$rubato" trace -o draft.otf2dir "$@" >log.txt 2>&1 || {
    cat log.txt >&2
    echo "$0: '$*' failed" >&2
    exit 1
  }
  mv draft.otf2dir "$target/$name.otf2dir"
  printf '%-14s %3d s  %s\n' "$name" $((SECONDS - began)) \
    "$("$rubato" info "$target/$name.otf2dir" | awk '/^(Records|MPI calls)/' | tr -s ' \n' ' ')"
}

# compiled NAME: of programs/.
compiled() {
  mpicc.openmpi -O2 -pthread -o "$1" "$programs/$1.c"
}

if command -v lmp >/dev/null; then
  cat >liquid.in <<'LAMMPS'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run ${steps}
LAMMPS
  traced lammps 4 lmp -in liquid.in -var steps "$(times 17000)" -log none
else
  echo "left out: lammps, which is not installed"
fi

if command -v hpcc >/dev/null; then
  # The table of RandomAccess takes half the memory of the matrix, and its updates are four times as many.
  cat >hpccinf.txt <<HPCC
Input of HPL as hpcc reads it: a small problem on a grid of 2 x 2
by default
HPL.out  output file name
8        device out
1        # of problem sizes
$(awk -v share="$share" 'BEGIN { n = int(650 * sqrt(share)); print n < 100 ? 100 : n }')      Ns
1        # of NBs
80       NBs
0        PMAP process mapping
1        # of process grids (P x Q)
2        Ps
2        Qs
16.0     threshold
1        # of panel fact
2        PFACTs
1        # of recursive stopping criterium
4        NBMINs
1        # of panels in recursion
2        NDIVs
1        # of recursive panel fact.
1        RFACTs
1        # of broadcast
1        BCASTs
1        # of lookahead depth
1        DEPTHs
2        SWAP
64       swapping threshold
0        L1 in transposed form
0        U in transposed form
1        Equilibration
8        memory alignment in double
##### This line (no. 32) is ignored (it serves as a separator). ######
0        Number of additional problem sizes for PTRANS
1200     values of N
0        number of additional blocking sizes for PTRANS
40       values of NB
HPCC
  traced hpcc 4 hpcc
else
  echo "left out: hpcc, which is not installed"
fi

compiled wavefront
traced wavefront 16 ./wavefront "$(times 520)"
compiled graph_search
traced graph 4 ./graph_search "$(times 16)" 5000
traced graph-pending 4 ./graph_search "$(times 16)" 5000 pending
compiled threaded_halo
traced threads 4 ./threaded_halo "$(times 35000)"
