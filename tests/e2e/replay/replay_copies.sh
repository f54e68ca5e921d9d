#!/bin/sh
# A traced run at the times of scenarios (--otf2): the copy of `measured` is the archive, record by record; the
# others are whole archives with messages in order. One that exists is left alone, one that fails leaves nothing.
. "$(dirname "$0")/../lib.sh"
command -v otf2-print >/dev/null || skip "there is no otf2-print"

build_program app -finstrument-functions <<'C'
#include <mpi.h>
#include <unistd.h>
__attribute__((noinline)) static void work(int rank) { usleep(500 * (rank + 1)); }
int main(int argc, char** argv) {
  int rank, size, x = 1, y[4], *shared;
  MPI_Request r[3];
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < 10; ++i) {
    work(rank);
    MPI_Irecv(y, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&x, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &r[2]);
    work(0);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    if (rank % 2 == 0) MPI_Ssend(&x, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    else MPI_Recv(y, 1, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x, 1, MPI_INT, next, 3, y, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allgather(&x, 1, MPI_INT, y, 1, MPI_INT, MPI_COMM_WORLD);
  }
  MPI_Win_allocate(sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&x, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
C
trace 4 --functions ./app

listing() {
  otf2-print -Werror -G "$1" | sed '/^=== /d'
  otf2-print -Werror "$1" | sed '/^=== /d'
}

"$rubato" replay run.otf2dir --on infiniband-hdr:ppn=1 --on measured:cpu*2,name=fast --otf2 copies >replay.txt ||
  fail "no copies"
[ "$(ls copies | tr '\n' ' ')" = "fast infiniband-hdr_ppn=1 measured perfect " ] || fail "copies: $(ls copies)"
listing run.otf2dir/traces.otf2 >archive.txt
listing copies/measured/traces.otf2 >measured.txt
cmp archive.txt measured.txt || fail "the copy of measured is another archive"
[ "$(wc -l <archive.txt)" -gt 1000 ] || fail "only $(wc -l <archive.txt) lines are compared"
for scenario in fast infiniband-hdr_ppn=1 perfect; do
  listing copies/$scenario/traces.otf2 >other.txt
  # The same but for times, and the length of the run. Models have no flushes.
  drop=BUFFER_FLUSH
  [ $scenario != fast ] || drop=nothing
  records() { sed -e '/^CLOCK_PROPERTIES/d' -e 's/ Stop Time:.*//' "$1" | awk '/^[A-Z_]+ +[0-9]+ +[0-9]+ /{$3 = ""; print $2, $0}' | sort -s -n -k1,1; }
  records archive.txt | sed "/^[0-9]* $drop/d" >expected.txt
  records other.txt >got.txt
  cmp expected.txt got.txt || fail "$scenario: other records"
  "$python" "$tests/e2e/check_archive.py" copies/$scenario/traces.otf2 || fail "$scenario: check_archive.py"
done

# The run of a copy takes as long as the scenario.
"$rubato" replay run.otf2dir --only --on perfect --json original.json >original.txt
"$rubato" replay copies/perfect --only --on measured --json again.json >again.txt
"$python" - <<'PY' || fail "elapsed"
import json
original, again = (json.load(open(name))["scenarios"][0] for name in ("original.json", "again.json"))
assert abs(original["elapsed"] - again["elapsed"]) < 1e-8, (original["elapsed"], again["elapsed"])
# And so do its parts: nothing is lost there.
for before, after in zip(original["ranks"], again["ranks"]):
    for part in ("compute", "mpi", "lost_core", "flushing"):
        assert abs(before[part] - after[part]) < 1e-7, (part, before, after)
    assert after["lost_core"] == after["flushing"] == 0, after
PY

expect_failure 1 "copies exists; choose another name" "$rubato" replay run.otf2dir --otf2 copies
expect_failure 1 "cannot be written" "$rubato" replay run.otf2dir --otf2 missing/copies
expect_failure 2 "not written into an archive" "$rubato" replay run.otf2dir --otf2 run.otf2dir/copies
printf '0: 0 begin\n' >run.txt
expect_failure 1 "run.txt: not an OTF2 archive" "$rubato" replay run.txt --otf2 new
# As on a full disk: files are limited to 2 KiB.
(
  ulimit -f 2
  trap '' XFSZ
  "$rubato" replay run.otf2dir --only --on perfect --otf2 full >/dev/null 2>full.err
) && fail "a full disk is no error"
grep -q "cannot be written" full.err || fail "a full disk: $(cat full.err)"
[ "$(ls -d full*)" = full.err ] || fail "left over: $(ls -d full*)"
pass
