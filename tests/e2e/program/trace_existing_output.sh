#!/bin/sh
# An existing output: the program runs, its archive gets the next free name, and existing files are not changed. An
# output that cannot be created is refused before the program starts.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  puts("started");
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) kill(getpid(), SIGKILL);
  return MPI_Finalize();
}
C
# traced NAME OPTIONS...: two ranks, which write the archive NAME and say so, and nothing else.
traced() {
  archive=$1
  shift
  run 2 "$rubato" trace "$@" >out.txt 2>err.txt || fail "exit code $?: $(cat err.txt)"
  one_report err.txt
  grep -q "^rubato: wrote $archive (2 ranks, .*; next: rubato replay $archive\$" err.txt || fail "not $archive: $(cat err.txt)"
  check_readable "$archive" "$archive"
  [ ! -e "$archive/INCOMPLETE" ] || fail "$archive is not complete"
}
# A batch job, three times.
traced run.otf2dir -o run.otf2dir ./app
cp -r run.otf2dir kept
traced run-2.otf2dir -o run.otf2dir ./app
traced run-3.otf2dir -o run.otf2dir ./app
diff -r run.otf2dir kept || fail "the first archive changed"
# Without an extension; with dots in the directory, and in front; and the default.
mkdir dir.d dir.d/run
traced dir.d/run-2 -o dir.d/run ./app
traced .run -o .run ./app
traced .run-2 -o .run ./app
traced rubato-app.otf2dir ./app
traced rubato-app-2.otf2dir ./app
# Files and links count, also links that lead nowhere.
echo mine >file.otf2dir
ln -s nowhere file-2.otf2dir
traced file-3.otf2dir -o file.otf2dir ./app
[ "$(cat file.otf2dir)" = mine ] && [ ! -e nowhere ] || fail "a file or a link was followed"
# An empty directory, and one rank without a launcher.
mkdir empty.otf2dir
"$rubato" trace -o empty.otf2dir ./app >out.txt 2>err.txt || fail "exit code $?"
one_report err.txt
[ -e empty-2.otf2dir/traces.otf2 ] && [ -z "$(ls -A empty.otf2dir)" ] || fail "not beside: $(ls -A empty.otf2dir)"

# A killed run: a line names its records, and the next run writes another archive.
run 2 "$rubato" trace -o killed.otf2dir ./app kill >out.txt 2>err.txt && fail "exit code 0"
grep -q "^rubato: the program ended without MPI_Finalize.*: rubato recover $work/killed.otf2dir\$" err.txt || fail "$(cat err.txt)"
cp killed.otf2dir/INCOMPLETE note
run 2 "$rubato" trace -o killed.otf2dir ./app >out.txt 2>err.txt || fail "exit code $?: $(cat err.txt)"
[ "$(grep -c '^rubato: ' err.txt)" = 2 ] || fail "not two lines: $(cat err.txt)"
grep -q "^rubato: $work/killed.otf2dir holds records of another run; .*: rubato recover $work/killed.otf2dir\$" err.txt ||
  fail "$(cat err.txt)"
grep -q '^rubato: wrote killed-2.otf2dir (' err.txt || fail "$(cat err.txt)"
cmp note killed.otf2dir/INCOMPLETE || fail "the note changed"
# Killed again: it is this run that the line names, not the earlier one.
run 2 "$rubato" trace -o killed.otf2dir ./app kill >out.txt 2>err.txt && fail "exit code 0"
grep -q "^rubato: the program ended without MPI_Finalize.*: rubato recover $work/killed-3.otf2dir\$" err.txt || fail "$(cat err.txt)"
for archive in killed killed-3; do
  "$rubato" recover $archive.otf2dir >out.txt 2>&1 || fail "recover: $(cat out.txt)"
  check_readable $archive $archive.otf2dir
done
# Nothing recorded beside an archive: that is said as where there is none.
run 2 "$rubato" trace -o killed.otf2dir /bin/true >out.txt 2>err.txt || fail "exit code $?"
[ "$(grep -c '^rubato: nothing was recorded: ' err.txt)" = 1 ] || fail "$(cat err.txt)"
run 2 "$rubato" trace -o killed.otf2dir env -u LD_PRELOAD ./app >out.txt 2>err.txt || fail "exit code $?"
[ "$(grep -c '^rubato: nothing was recorded: ' err.txt)" = 1 ] || fail "$(cat err.txt)"

expect_failure 1 "new.otf2dir cannot be created in $work/nowhere: No such file or directory" \
  run 2 "$rubato" trace -o nowhere/new.otf2dir ./app
grep -qx started out.txt && fail "the program was started"
# Not a neighbour of the directory where it runs.
for directory in . .. / ./; do
  expect_failure 2 "-o $directory: expected the name of a new directory" "$rubato" trace -o $directory ./app
done

# A slash at the end is part of no name.
"$rubato" trace -o new.otf2dir/ ./app >out.txt 2>err.txt || fail "a slash: $(cat err.txt)"
[ -e new.otf2dir/traces.otf2 ] || fail "no archive"
pass
