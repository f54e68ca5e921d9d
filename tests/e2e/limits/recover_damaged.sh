#!/bin/sh
# Damaged records of a killed program: bits that flipped, cut and renamed files, numbers that cannot be.
# Each is recovered as far as it goes, or refused in one line; see recover_damaged.py.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <stdlib.h>
/* Something of all that a journal tells of: communicators, a grid, a window, groups, names. */
int main(int argc, char** argv) {
  int rank, size, x[8] = {0}, y[8], dims[1], periods[1] = {1};
  double* memory;
  MPI_Comm half, ring;
  MPI_Win win;
  MPI_Group all;
  MPI_Request r[8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  dims[0] = size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);
  MPI_Comm_set_name(half, "half");
  MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, half, &memory, &win);
  MPI_Win_set_name(win, "memory");
  MPI_Comm_group(half, &all);
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < 4; ++k) MPI_Irecv(y + k, 1, MPI_INT, MPI_ANY_SOURCE, k, ring, r + k);
    for (int k = 0; k < 4; ++k) MPI_Isend(x + k, 1, MPI_INT, (rank + 1) % size, k, ring, r + 4 + k);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    MPI_Neighbor_allgather(x, 1, MPI_INT, y, 1, MPI_INT, ring);
    MPI_Iallreduce(x, y, 8, MPI_INT, MPI_SUM, half, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Put(x, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  exit(0); /* without MPI_Finalize */
}
C
run 2 "$rubato" trace -o run.otf2dir --call-sites --records "$work" ./app >out.txt 2>&1 || true
place=$(echo "$work"/rubato-*)
"$rubato" recover --keep "$place" -o whole.otf2dir >out.txt 2>&1 || fail "undamaged: $(cat out.txt)"
"$python" "$here/recover_damaged.py" "$rubato" "$place" "${VARIANTS:-15}" >out.txt || fail "$(cat out.txt)"

# Errors of a rank are reported, and the others are recovered.
rm -rf damaged && cp -r "$place" damaged
printf 'Rubato journal 0\n' | dd of=damaged/1.journal conv=notrunc 2>/dev/null
"$rubato" recover --keep damaged -o one.otf2dir >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "events of 1 of 2 ranks" out.txt || fail "$(cat out.txt)"
grep -q "rank 1 has no records: damaged/1.journal: no journal of this version" out.txt || fail "$(cat out.txt)"
# A journal under another rank's name.
rm -rf damaged one.otf2dir && cp -r "$place" damaged && cp damaged/0.journal damaged/1.journal
"$rubato" recover --keep damaged -o one.otf2dir >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "rank 1 has no records: damaged/1.journal: it is damaged" out.txt || fail "$(cat out.txt)"
# Other names are not touched.
rm -rf damaged one.otf2dir && cp -r "$place" damaged && touch damaged/0.x.records damaged/x.journal
"$rubato" recover damaged -o one.otf2dir >out.txt 2>&1 || fail "$(cat out.txt)"
grep -q "events of 2 of 2 ranks" out.txt || fail "$(cat out.txt)"
[ "$(ls damaged)" = "$(printf '0.x.records\nx.journal')" ] || fail "left: $(ls damaged)"
# Named pipes in place of the files must not block the command.
rm -rf damaged one.otf2dir && cp -r "$place" damaged && mkfifo damaged/7.journal damaged/0.9.records damaged/INCOMPLETE
timeout 20 "$rubato" recover --keep damaged -o one.otf2dir >out.txt 2>&1 || fail "pipes: $(cat out.txt)"
grep -q "events of 2 of 2 ranks" out.txt || fail "$(cat out.txt)"
# On a terminal the progress is shown and cleared; elsewhere it is not shown.
if command -v script >/dev/null; then
  rm -rf one.otf2dir
  script -qec "'$rubato' recover --keep '$place' -o one.otf2dir" /dev/null >out.txt || fail "$(cat out.txt)"
  grep -q "recovering: *[0-9]* %" out.txt || fail "no share on a terminal: $(cat out.txt)"
  tr '\r' '\n' <out.txt | grep -q "one.otf2dir: .* events of 2 of 2 ranks" || fail "$(cat out.txt)"
fi
rm -rf one.otf2dir
"$rubato" recover --keep "$place" -o one.otf2dir >out.txt 2>&1 || fail "$(cat out.txt)"
! grep -q "recovering" out.txt || fail "a share in a pipe: $(cat out.txt)"
# Two jobs are not mixed, not even where they have ranks in common, and are of different size.
run 3 "$rubato" trace -o other.otf2dir --records "$work/damaged" ./app >out.txt 2>&1 || true
expect_failure 1 "records of another job" "$rubato" recover "$place" "$(echo "$work"/damaged/rubato-*)" -o two.otf2dir
# Files that cannot be opened do not count as files without records: 3 standard ones and 2 of the archive fit in 5.
expect_failure 1 "Too many open files" sh -c "exec 3>&- 4>&-; ulimit -n 5; '$rubato' recover '$place' -o few.otf2dir"
[ -e "$place/0.0.records" ] && [ -e "$place/1.0.records" ] || fail "records were removed"
pass
