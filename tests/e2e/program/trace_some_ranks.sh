#!/bin/sh
# Only some ranks run under rubato trace: within 20 s one line says which, and the program runs as without it.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdio.h>
/* Twice the sum of the ranks, by a receive from any source with any tag, which would take a message of the tracer's. */
int main(int argc, char** argv) {
  int rank, size, x, sum, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  x = rank + other;
  MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d\n", sum);
  MPI_Finalize();
  return argc > 1 ? 3 : 0;
}
C
# nothing_left: no file of the tracer's. (Those of other tests' jobs are locked by them.)
nothing_left() {
  [ ! -e run.otf2dir ] || fail "$1: an archive"
  left=$(find . /dev/shm -maxdepth 1 -name '*rubato-roll-call*' -newer app)
  for file in $left; do
    sleep 1
    if { flock -nx 9; } 9<"$file" 2>/dev/null && [ -e "$file" ]; then fail "$1: $file"; fi
  done
}
# unrecorded WHAT TRACED UNTRACED: out.txt and err.txt are those of such a run, in which each of $ranks ranks prints $sum.
unrecorded() {
  [ "$code" = 3 ] || fail "$1: exit code $code: $(cat err.txt)"
  [ "$(sort -u out.txt)" = "$sum" ] && [ "$(wc -l <out.txt)" = "$ranks" ] || fail "$1: $(cat out.txt)"
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] || fail "$1: not one line: $(cat err.txt)"
  grep -q "^rubato: nothing is recorded: of $ranks ranks, $2 traced and $3 not;" err.txt || fail "$1: $(cat err.txt)"
  nothing_left "$1"
}
traced="$rubato trace -o run.otf2dir"
# traced_are RANKS...: a script that runs the program, those ranks under rubato trace.
traced_are() {
  {
    echo '#!/bin/sh'
    # shellcheck disable=SC2016
    echo 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in'
    for rank in "$@"; do echo "$rank) exec $traced ./app x ;;"; done
    echo 'esac'
    echo 'exec ./app x'
  } >some
  chmod +x some
}

# 2 ranks: (0 + 1) + (1 + 0) = 2; 4 ranks: each is counted twice, 2 * (0 + 1 + 2 + 3) = 12.
ranks=2 sum=2
for rank in 0 1; do
  traced_are $rank
  code=0
  timeout 20 "mpirun.$flavour" -n 2 ./some >out.txt 2>err.txt || code=$?
  unrecorded "rank $rank" "rank $rank is" "rank $((1 - rank)) is"
done
code=0
# shellcheck disable=SC2086
timeout 20 "mpirun.$flavour" -n 1 $traced ./app x : -n 1 ./app x >out.txt 2>err.txt || code=$?
unrecorded "one part" "rank 0 is" "rank 1 is"

ranks=4 sum=12
traced_are 0 2 3
code=0
timeout 20 "mpirun.$flavour" -n 4 ./some >out.txt 2>err.txt || code=$?
unrecorded "three of four" "ranks 0,2-3 are" "rank 1 is"

# The tracer cannot be loaded into a rank: as if it were not traced. (Its shell lost the environment.)
ranks=2 sum=2
printf '#!/bin/sh\ncase ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) unset LD_PRELOAD ;; esac\nexec ./app x\n' >lost
chmod +x lost
code=0
# shellcheck disable=SC2086
timeout 20 "mpirun.$flavour" -n 2 $traced ./lost >out.txt 2>err.txt || code=$?
unrecorded "not loaded" "rank 0 is" "rank 1 is"

# All are traced: recorded, also where the parts of a job name different archives, and two jobs at once.
# shellcheck disable=SC2086
run 1 $traced ./app : -n 1 $traced ./app >out.txt 2>err.txt || fail "two parts: $(cat err.txt)"
one_report err.txt
check_archive
rm -r run.otf2dir
# shellcheck disable=SC2086
run 1 $traced ./app : -n 1 "$rubato" trace -o other.otf2dir ./app >out.txt 2>err.txt || fail "two names: $(cat err.txt)"
one_report err.txt
check_archive
rm -r run.otf2dir
run 2 "$rubato" trace -o one.otf2dir ./app >one.txt 2>&1 &
run 2 "$rubato" trace -o two.otf2dir ./app >two.txt 2>&1 || fail "$(cat two.txt)"
wait $! || fail "$(cat one.txt)"
for job in one two; do
  grep -q "wrote $job.otf2dir (2 ranks" $job.txt || fail "$(cat $job.txt)"
done
nothing_left "all traced"
pass
