#!/bin/sh
# Blanks, colons and quotes in paths: of the installation, whose library the loader has to find, of the output, and of
# the places of records. Commands that are printed can be pasted into a shell.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1) kill(getpid(), SIGKILL);
  MPI_Finalize();
  return 7;
}
C
links() { find "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm -maxdepth 1 -type l -name "rubato-tracer-$(id -u)-*" -lname "$work/*" 2>/dev/null | sort -u; }
remove_links() { links | while read -r link; do rm "$link"; done; }
before_exit=remove_links
# reported: the line about the archive is all that Rubato says; mpirun says more, for the exit code.
reported() {
  grep '^rubato:' err.txt >said.txt || true
  one_report said.txt
}
# installed PREFIX: a copy of the command and the tracers below PREFIX, and a run of it.
installed() {
  mkdir -p "$1/bin" "$1/lib"
  cp "$build/bin/rubato" "$1/bin" && cp -r "$build/lib/rubato" "$1/lib" || fail "cannot copy"
  rm -rf run.otf2dir print.txt
  code=0
  run 2 "$1/bin/rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt || code=$?
  [ $code = 7 ] || fail "$1: exit code $code: $(cat err.txt)"
  reported
  check_archive
  expect 2 '^ENTER .*"MPI_Barrier"'
}
installed "$work/plain"
[ -z "$(links)" ] || fail "a link without need: $(links)"
installed "$work/my tools"
installed "$work/v1:2"
installed "$work/a\$LIB"
[ "$(links | wc -l)" = 3 ] || fail "links: $(links)"
# The next run uses the same, and needs no other.
rm -rf run.otf2dir print.txt
run 2 "$work/my tools/bin/rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt || [ $? = 7 ] || fail "$(cat err.txt)"
reported
[ "$(links | wc -l)" = 3 ] || fail "links: $(links)"
# An existing name is not followed: the next directory is used.
mkdir "$work/other" && echo mine >"$work/other/librubato-trace-$flavour.so"
for link in $(links); do rm "$link" && ln -s "$work/other" "$link"; done
rm -rf run.otf2dir print.txt
run 2 "$work/my tools/bin/rubato" trace -o run.otf2dir ./app >out.txt 2>err.txt || [ $? = 7 ] || fail "$(cat err.txt)"
reported
remove_links
# In a script that starts a program of the other MPI the other tracer is found by the same link.
other=mpich
[ "$flavour" = mpich ] && other=openmpi
if command -v mpirun.$other >/dev/null; then
  printf '#!/bin/bash\n./app\nexit 0\n' >job.sh
  chmod +x job.sh
  rm -rf run.otf2dir print.txt
  "mpirun.$other" -n 1 "$work/my tools/bin/rubato" trace -o run.otf2dir ./job.sh >out.txt 2>err.txt || fail "$(cat err.txt)"
  check_readable "in a script" run.otf2dir
fi

# The output and the records; killed, each line and the note name the command for a shell.
odd="it's a run: 1"
mkdir "$odd"
# pasted FILE: runs the 'rubato recover ...' that FILE ends with.
pasted() {
  sed -n 's/^.*rubato recover /recover /p' "$1" | tail -n 1 >command.txt
  sh -c "\"$rubato\" $(cat command.txt)" >out.txt 2>&1 || fail "$(cat command.txt): $(cat out.txt)"
}
for way in line note; do
  run 2 env TMPDIR="$work/$odd" "$rubato" trace -o "$odd/out: $way.otf2dir" --records "$odd" ./app kill >out.txt 2>err.txt && fail "exit code 0"
  [ -n "$(ls -d "$odd"/rubato-*)" ] || fail "no records in $odd"
  [ $way = line ] && pasted err.txt || pasted "$odd/out: $way.otf2dir/INCOMPLETE"
  check_readable "$way" "$odd/out: $way.otf2dir"
  [ -z "$(ls -d "$odd"/rubato-* 2>/dev/null)" ] || fail "records are left"
done
run 2 "$rubato" trace -o "$odd/whole" ./app >out.txt 2>err.txt || [ $? = 7 ] || fail "$(cat err.txt)"
grep -qF "next: rubato replay 'it'\\''s a run: 1/whole'" err.txt || fail "$(cat err.txt)"
pass
