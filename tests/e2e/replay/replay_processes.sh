#!/bin/sh
# A replay on several processes started by mpirun, or on threads, gives the same bytes as on one process: text, JSON and
# CSV. If it cannot be divided, one process replays alone, with a notice; errors are printed once.
. "$(dirname "$0")/../lib.sh"

build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  enum { kLarge = 1 << 18 };
  int rank, size, x = 1, y[4], all[4];
  MPI_Request r[4];
  MPI_Comm half;
  char *in = malloc(kLarge), *out = calloc(1, kLarge);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < 40; ++i) {
    usleep(100 * ((rank + i) % size));
    MPI_Irecv(in, kLarge, MPI_CHAR, before, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, kLarge, MPI_CHAR, next, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(y, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&x, 1, MPI_INT, before, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0) MPI_Ssend(&x, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    else MPI_Recv(y, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&x, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    MPI_Reduce(&x, y, 1, MPI_INT, MPI_MAX, i % size, MPI_COMM_WORLD);
    MPI_Scan(&x, y, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&x, y, 1, MPI_INT, MPI_MAX, half);
    MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
C
trace 4 ./app 2>trace.txt || fail "trace: $(cat trace.txt)"

# same WHAT PROCESSES OPTIONS...: alone.* and several.* are equal.
same() {
  what=$1
  processes=$2
  shift 2
  "$rubato" replay run.otf2dir "$@" --json alone.json --csv alone.csv >alone.txt 2>alone.err ||
    fail "$what: $(cat alone.err)"
  run "$processes" "$rubato" replay run.otf2dir "$@" --json several.json --csv several.csv >several.txt 2>several.err ||
    fail "$what on $processes processes: $(cat several.err)"
  for kind in json csv txt; do
    cmp -s alone.$kind several.$kind || fail "$what on $processes processes: the $kind differs"
  done
  same_threads "$@"
}

# same_threads OPTIONS...: threads without mpirun find alone.*, and are not spoken of.
same_threads() {
  "$rubato" replay run.otf2dir "$@" --threads 3 --json threads.json --csv threads.csv >threads.txt 2>threads.err ||
    fail "$what on threads: $(cat threads.err)"
  for kind in json csv txt err; do
    cmp -s alone.$kind threads.$kind || fail "$what on threads: the $kind differs: $(cat threads.err)"
  done
}

# MPICH's processes poll: more of them than cores take long, and what they do is the same.
many="2 3 4" some="2 3"
[ "$flavour" = openmpi ] || many=2 some=2
for processes in $many; do
  same "the usual" $processes --on infiniband-hdr
  # It did divide that.
  ! grep -q 'one process' several.err || fail "it says: $(cat several.err)"
  same "several scenarios" $processes --on ethernet-10g --on infiniband-hdr:cpu*2 --on bandela:latency=2us,bandwidth=1GB/s \
    --on infiniband-hdr:placement=roundrobin:2 --all
  ! grep -q 'one process' several.err || fail "it says: $(cat several.err)"
done

# Definitions are read once a host. MPICH can take the processes of one host for those of two.
if [ "$flavour" = mpich ]; then
  export MPIR_CVAR_ODD_EVEN_CLIQUES=1
  same "two hosts" 3 --on infiniband-hdr
  ! grep -q 'one process' several.err || fail "two hosts: it says: $(cat several.err)"
  unset MPIR_CVAR_ODD_EVEN_CLIQUES
  # Hosts with different archives under the same name: that of process 0 counts.
  mkdir -p host1
  cat >on_host.sh <<'END'
#!/bin/sh
[ "$PMI_RANK" = 0 ] || cd "host$PMI_RANK"
exec "$@"
END
  chmod +x on_host.sh
  mv run.otf2dir first.otf2dir
  trace 2 ./app 2>trace.txt || fail "trace: $(cat trace.txt)"
  mv run.otf2dir host1
  mv first.otf2dir run.otf2dir
  "$rubato" replay run.otf2dir --csv alone.csv >alone.txt 2>alone.err || fail "$(cat alone.err)"
  MPIR_CVAR_NOLOCAL=1 run 2 ./on_host.sh "$rubato" replay run.otf2dir --csv several.csv >several.txt 2>several.err ||
    fail "two archives: $(cat several.err)"
  grep -q 'one process replays everything: hosts see different archives' several.err || fail "two archives: $(cat several.err)"
  cmp -s alone.csv several.csv || fail "two archives: the csv differs"
else
  # Open MPI may be configured without windows in shared memory.
  export OMPI_MCA_osc='^sm'
  same "no windows" 2 --on infiniband-hdr
  unset OMPI_MCA_osc
fi
# If a host has no space for the data shared by its processes, each has a copy: 12 MB of shared memory are enough for
# MPI, but not for that (mpi_transport.cc leaves 16 MB to others).
little='mount -t tmpfs -o size=12m none /dev/shm && exec "$@"'
if unshare -m sh -c "$little" sh true 2>/dev/null; then
  "$rubato" replay run.otf2dir --on infiniband-hdr --json alone.json >alone.txt 2>alone.err ||
    fail "$(cat alone.err)"
  unshare -m sh -c "$little" sh "mpirun.$flavour" -n 2 "$rubato" replay run.otf2dir --on infiniband-hdr \
    --json several.json >several.txt 2>several.err || fail "little shared memory: $(cat several.err)"
  ! grep -q 'one process' several.err || fail "little shared memory: it says: $(cat several.err)"
  cmp -s alone.json several.json || fail "little shared memory: the json differs"
else
  echo "a host with little shared memory: not tried, as nothing can be mounted here"
fi

# Scenarios are shared out where ranks cannot be.
for processes in $some; do
  same "contention" $processes --on infiniband-hdr:dr=3 --on infiniband-hdr --on bandela:latency=2us,bandwidth=1GB/s,ppn=1,network=fat-tree \
    --on bandela:latency=1us,bandwidth=1GB/s,ppn=1,network=torus-3d
  [ "$(grep -c 'each process replays some of the scenarios.*: contention' several.err)" = 1 ] || fail "contention: $(cat several.err)"
done
same "verification" 2 --verify
! grep -q 'one process' several.err || fail "verification: it says: $(cat several.err)"

# One process draws, and writes archives, from what several found.
pictures() {
  set -- --on infiniband-hdr --html page.html --perfetto slices.json --otf2 machines --json results.json
  "$rubato" replay run.otf2dir "$@" >alone.txt 2>alone.err || fail "pictures: $(cat alone.err)"
  mkdir alone
  mv page.html slices.json machines results.json alone
  run 2 "$rubato" replay run.otf2dir "$@" >several.txt 2>several.err || fail "pictures on processes: $(cat several.err)"
  ! grep -q 'one process' several.err || fail "pictures: it says: $(cat several.err)"
  cmp -s alone.txt several.txt || fail "pictures: the text differs"
  for file in page.html slices.json machines results.json; do
    diff -rq "alone/$file" "$file" >differ.txt || fail "pictures of processes: $(cat differ.txt)"
  done
  # On threads, that share out scenarios.
  "$rubato" replay run.otf2dir --on infiniband-hdr --threads 3 --html page.html >several.txt || fail "a page on threads"
  "$rubato" replay run.otf2dir --on infiniband-hdr --threads 1 --html alone/page.html >alone.txt || fail "a page"
  sed -i 's/--threads [13]//; s,alone/page,page,' page.html alone/page.html
  cmp -s page.html alone/page.html || fail "a page on threads differs"
}
pictures

# Progress lines without a terminal.
RUBATO_PROGRESS=1 run 2 "$rubato" replay run.otf2dir >several.txt 2>several.err || fail "progress: $(cat several.err)"
grep -q '^rubato: replaying: 100 %' several.err || fail "progress: $(cat several.err)"

# Processes with different arguments run separate commands.
run 1 "$rubato" replay run.otf2dir --csv one.csv : -n 1 "$rubato" replay run.otf2dir --csv other.csv >several.txt 2>&1 ||
  fail "two replays: $(cat several.txt)"
cmp -s one.csv other.csv || fail "two replays under one mpirun differ"

# Tasks of srun that are separate jobs for MPI (no matching PMI): the first replays, with a notice.
if [ "$flavour" = openmpi ]; then
  cat >slurmstepd <<'END'
#!/bin/sh
for task in 0 1; do
  SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=$task PMIX_RANK=$task "$@" >task$task.txt 2>task$task.err || exit
done
END
  chmod +x slurmstepd
  "$rubato" replay run.otf2dir >alone.txt || fail "alone"
  ./slurmstepd "$rubato" replay run.otf2dir || fail "separate tasks: $(cat task0.err task1.err)"
  line="rubato: one process replays everything: Open MPI connects only 1 of the 2 started processes"
  [ "$(cat task0.err task1.err)" = "$line" ] || fail "separate tasks: $(cat task0.err task1.err)"
  cmp -s alone.txt task0.txt || fail "separate tasks: the first says $(cat task0.txt)"
  [ ! -s task1.txt ] || fail "separate tasks: the second says $(cat task1.txt)"
fi

# A lost process ends all of them; existing files are not changed, and no others are left.
mkdir kept
echo old >kept/old.json
# (Open MPI's mpirun may hang where a process is lost that just connects to it.)
timeout -k 5 30 "mpirun.$flavour" -n 2 "$rubato" replay run.otf2dir --on infiniband-hdr --on ethernet-10g --json kept/old.json \
  >lost.txt 2>&1 &
launcher=$!
lost=
while [ -z "$lost" ] && kill -0 "$launcher" 2>/dev/null; do
  for process in $(pgrep -x rubato); do
    tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qxE '(OMPI_COMM_WORLD_RANK|PMI_RANK)=1' || continue
    [ "$(readlink "/proc/$process/cwd")" = "$(pwd -P)" ] || continue
    kill -KILL "$process" 2>/dev/null && lost=yes && break
  done
done
if wait "$launcher"; then ended=well; else ended=badly; fi
if [ "$ended" = badly ]; then
  [ "$(cat kept/old.json)" = old ] || fail "a lost process: the file was changed"
  [ "$(ls -A kept)" = old.json ] || fail "a lost process leaves $(ls -A kept)"
fi

# Errors are printed once, as usual.
if run 2 "$rubato" replay missing.otf2dir >out.txt 2>&1; then fail "an archive that is not there is none"; fi
[ "$(grep -c 'rubato: error: .*missing.otf2dir' out.txt)" = 1 ] || fail "missing archive: $(cat out.txt)"
if run 2 "$rubato" replay run.otf2dir --on nowhere >out.txt 2>&1; then fail "a platform that is not there is none"; fi
[ "$(grep -c 'rubato: .*nowhere' out.txt)" = 1 ] || fail "missing platform: $(cat out.txt)"
if run 2 "$rubato" replay run.otf2dir --json no/such/dir.json >out.txt 2>&1; then fail "no file without a directory"; fi
[ "$(grep -c 'rubato: .*no/such' out.txt)" = 1 ] || fail "missing directory: $(cat out.txt)"

pass
