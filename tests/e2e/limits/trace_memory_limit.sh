#!/bin/sh
# When --memory is used up, records are moved to the disk and none is lost; with --when-full stop, recording stops, and
# the archive notes this and is valid up to there.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 300000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  return 0;
}
C
# The memory may also run out inside a call that completes many requests: 2000 times 200 of them take 2000 * 200 * (8
# for the posting and more for its call) bytes, over 6 MB.
build_program many <<'C'
#include <mpi.h>
int main(int argc, char** argv) {
  int x[100] = {0}, y[100];
  MPI_Request r[200];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2000; ++i) {
    for (int k = 0; k < 100; ++k) MPI_Irecv(y + k, 1, MPI_INT, 0, 0, MPI_COMM_SELF, r + k);
    for (int k = 0; k < 100; ++k) MPI_Isend(x + k, 1, MPI_INT, 0, 0, MPI_COMM_SELF, r + 100 + k);
    MPI_Waitall(200, r, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
C
run 1 "$rubato" trace -o run.otf2dir --memory 1MiB --when-full stop ./many 2>err.txt || fail "exit code $?"
check_readable
expect 1 '^MEASUREMENT_ON_OFF .*OFF'
sed -n '/^MEASUREMENT_ON_OFF/,$p' print.txt >end.txt
[ "$(grep -c . end.txt)" = 2 ] && grep -q '^PROGRAM_END' end.txt || fail "behind the end: $(cat end.txt)"
rm -r run.otf2dir print.txt

run 2 "$rubato" trace -o run.otf2dir --memory 1MiB --when-full stop ./app 2>err.txt || fail "exit code $?"
[ "$(grep -c '^rubato: the trace stops early' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
check_archive
otf2-print -A run.otf2dir/traces.otf2 | grep -q 'false: the memory limit ended recording on 2 of 2' ||
  fail "the archive does not say that it stops early"
expect 2 '^MEASUREMENT_ON_OFF .*OFF'
# 1 MiB holds 4 segments of 256 KiB, each 32,760 calls of 8 bytes: 131,040 calls on each of 2 ranks, less
# some longer ones and marks.
found=$(count '^ENTER')
[ "$found" -gt 200000 ] && [ "$found" -le 262080 ] || fail "$found calls are not what the memory holds"

# A call without records takes 8 bytes, so 300,003 of them take 2.4 MB: more than one flush.
rm -r run.otf2dir print.txt
run 2 "$rubato" trace -o run.otf2dir --memory 1MiB ./app 2>err.txt || fail "exit code $?"
one_report err.txt
check_archive
expect 600006 '^ENTER'  # 2 ranks: MPI_Init, 300,001 MPI_Comm_rank, MPI_Finalize
expect 0 '^MEASUREMENT_ON_OFF'
[ "$(long_flushes 20)" -ge 4 ] || fail "flushes are not on record"
[ ! -e run.otf2dir/.records ] || fail "flushed records are left"
"$rubato" replay run.otf2dir --on measured --verify >out.txt || fail "identity: $(cat out.txt)"
pass
