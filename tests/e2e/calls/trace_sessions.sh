#!/bin/sh
# Programs with MPI sessions that never call MPI_Init: `rubato recover` builds a complete archive from their records.
# Programs that also call MPI_Init are recorded as usual.
. "$(dirname "$0")/../lib.sh"
echo '#include <mpi.h>' >header.c
"mpicc.$flavour" -E header.c | grep -q '\<MPI_Session_init' ||
  skip "this MPI library has no sessions"

build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session opened(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return session;
}

/* A ring of 100 messages and a sum on all 4 ranks, a message from the even ranks to the odd ones. */
static void epoch(MPI_Session session, const char* tag) {
  MPI_Group all, half, other;
  MPI_Comm ring, inter;
  int rank, size, x = 0, y;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &ring);
  for (int i = 0; i < 100; ++i)
    MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 3, (rank + size - 1) % size, 3, ring,
                         MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, ring);
  int members[2][2] = {{0, 2}, {1, 3}};
  MPI_Group_incl(all, 2, members[rank % 2], &half);
  MPI_Group_incl(all, 2, members[1 - rank % 2], &other);
  MPI_Intercomm_create_from_groups(half, 0, other, 0, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
  if (rank % 2 == 0) MPI_Send(&x, 1, MPI_INT, rank / 2, 5, inter);
  else MPI_Recv(&y, 1, MPI_INT, rank / 2, 5, inter, MPI_STATUS_IGNORE);
  MPI_Barrier(ring);  /* no rank leaves before all are done */
  MPI_Comm_free(&inter);
  MPI_Comm_free(&ring);
  MPI_Group_free(&half);
  MPI_Group_free(&other);
  MPI_Group_free(&all);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "init")) {          /* a session around MPI_Init, and one after it */
    MPI_Session session = opened();
    epoch(session, "before");
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch(session, "within");
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
  }
  if (!strcmp(how, "some")) {          /* only rank 0 opens one before MPI_Init; it does not wait here */
    MPI_Init(&argc, &argv);
    MPI_Session session = opened();
    epoch(session, "within");
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
  }
  MPI_Session first = opened(), second;
  epoch(first, "one");
  second = opened();
  MPI_Session_finalize(&first);
  epoch(second, "two");
  sleep(*how != '\0'); /* so that all have freed what they made */
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "open")) return 0;
  MPI_Session_finalize(&second);
  return 0;
}
C

# Two epochs in two sessions that overlap: MPICH 4.0 cannot begin again when all are closed.
# says_complete TEXT: what the archive says of itself.
says_complete() {
  otf2-print -I run.otf2dir/traces.otf2 | grep -A1 'RUBATO::COMPLETE' | grep -q "value  *$1" ||
    fail "not complete: $1: $(otf2-print -I run.otf2dir/traces.otf2 | grep -A1 'RUBATO::COMPLETE')"
}
# The contents of each epoch: 4 * 100 messages around the ring and 2 across, a sum, a communicator created and freed.
epochs() {
  rm -f print.txt
  check_readable
  expect $((402 * $1)) '^MPI_SEND '
  expect $((402 * $1)) '^MPI_RECV '
  expect $((4 * $1)) '^MPI_COLLECTIVE_END .*ALLREDUCE'
  check_replay
}
trace 4 ./app 2>err.txt || fail "the program fails: $(cat err.txt)"
grep -c "rubato recover $work/run.otf2dir" err.txt | grep -qx 1 || fail "other than one line: $(cat err.txt)"
"$rubato" recover run.otf2dir >out.txt || fail "recover: $(cat out.txt)"
grep -q "of 4 of 4 ranks" out.txt || fail "$(cat out.txt)"
grep -q "was in" out.txt && fail "a rank died: $(cat out.txt)"
says_complete true
epochs 2
expect 8 '^ENTER .*"MPI_Session_init"'
expect 8 '^ENTER .*"MPI_Session_finalize"'
expect 16 '^COMM_CREATE '   # ring and intercommunicator, on 4 ranks, twice
otf2-print -G run.otf2dir/traces.otf2 >definitions.txt
grep -q '^GROUP .*COMM_LOCATIONS.* 4 Members: ' definitions.txt || fail "$(grep ^GROUP definitions.txt)"
[ ! -e run.otf2dir/INCOMPLETE ] || fail "there is still an INCOMPLETE"
for directory in /dev/shm/rubato-*; do
  [ ! -e "$directory/0.journal" ] || ! grep -q "$work" "$directory/0.journal" || fail "$directory is left"
done

# A link of another user at the path where older versions created the note.
echo mine >victim
for rank in 0 1 2 3; do mkdir "run.otf2dir.new-$rank" && ln -s "$work/victim" "run.otf2dir.new-$rank/INCOMPLETE"; done
trace 4 ./app 2>err.txt || fail "beside links: $(cat err.txt)"
[ "$(cat victim)" = mine ] || fail "a link was followed"
"$rubato" recover run.otf2dir >out.txt || fail "beside links: recover: $(cat out.txt)"
rm -r run.otf2dir.new-?
[ -z "$(ls -d run.otf2dir.new-* 2>/dev/null)" ] || fail "left: $(ls -d run.otf2dir.new-*)"
# A directory of another job's sessions, whose launcher called it otherwise: nothing goes there, but to the next name,
# on all ranks. So it is with one in which this job's ranks are recorded already.
rm -rf run.otf2dir && mkdir run.otf2dir
printf 'ranks 4\njob of sessions 17\nlaunched as PMIX_NAMESPACE=other\n' >run.otf2dir/INCOMPLETE
for archive in run-2 run-3; do
  run 4 "$rubato" trace -o run.otf2dir ./app >err.txt 2>&1 || fail "$archive: $(cat err.txt)"
  grep -q "recover $work/$archive.otf2dir\$" err.txt || fail "not $archive: $(cat err.txt)"
done
grep -q '^records' run.otf2dir/INCOMPLETE && fail "records of two jobs: $(cat run.otf2dir/INCOMPLETE)"
for archive in run-2 run-3; do
  "$rubato" recover $archive.otf2dir >out.txt || fail "$archive: recover: $(cat out.txt)"
  grep -q 'of 4 of 4 ranks' out.txt || fail "$archive: $(cat out.txt)"
done
rm -rf run.otf2dir run-?.otf2dir

for end in kill open; do
  trace 4 ./app "$end" >err.txt 2>&1 || true
  "$rubato" recover run.otf2dir >out.txt || fail "$end: recover: $(cat out.txt)"
  says_complete 'false: .*sessions'
  epochs 2
done

for how in init some; do
  trace 4 ./app "$how" 2>err.txt || fail "$how: the program fails: $(cat err.txt)"
  one_report err.txt
  says_complete true
  [ $how = init ] && epochs 2 || epochs 1
done

if command -v gfortran >/dev/null && command -v "mpif90.$flavour" >/dev/null; then
  cat >fortran.f90 <<'F'
program fortran
  use mpi_f08
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: all
  type(MPI_Comm) :: comm
  integer :: one = 1, total
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', all)
  call MPI_Comm_create_from_group(all, 'fortran', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm)
  call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, comm)
  if (total /= 2) stop 1
  call MPI_Comm_free(comm)
  call MPI_Group_free(all)
  call MPI_Session_finalize(session)
end program
F
  build_fortran fortran
  trace 2 ./fortran 2>err.txt || fail "Fortran: $(cat err.txt)"
  "$rubato" recover run.otf2dir >out.txt || fail "Fortran: recover: $(cat out.txt)"
  says_complete true
  expect 2 '^ENTER .*"MPI_Session_init"'
  expect 2 '^COMM_CREATE '
  expect 2 '^MPI_COLLECTIVE_END .*ALLREDUCE'
  expect 2 '^ENTER .*"MPI_Session_finalize"'
fi
pass
