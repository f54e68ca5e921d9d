#!/bin/sh
# Every traced run ends with one line, even without the tracer in the process: a wrapper removed LD_PRELOAD, or the
# program was killed. Exit code and output do not change, and the run does not take longer.
. "$(dirname "$0")/../lib.sh"
build_program app <<'C'
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2) kill(getpid(), SIGKILL);
  MPI_Finalize();
  return atoi(argv[1]);
}
C
# says LINE: that alone is on standard error of ours.
says() {
  [ "$(grep -c '^rubato: ' err.txt)" = 1 ] || fail "not one line: $(cat err.txt)"
  grep -q "^rubato: $1" err.txt || fail "not '$1': $(cat err.txt)"
}
lost='nothing was recorded: no call of MPI_Init reached the tracer'

# MPI_Init, but not with the tracer.
code=0
run 2 "$rubato" trace -o run.otf2dir sh -c 'unset LD_PRELOAD; exec ./app 7' >out.txt 2>err.txt || code=$?
[ $code = 7 ] || fail "exit code $code: $(cat err.txt)"
says "$lost"
[ ! -e run.otf2dir ] || fail "an archive of nothing"

# Without a launcher; the pipe ends when the command does, and its exit code is its own.
code=0
timeout 20 "$rubato" trace -o run.otf2dir env -i PATH="$PATH" sh -c 'echo hello; exit 3' >out.txt 2>err.txt || code=$?
[ $code = 3 ] && [ "$(cat out.txt)" = hello ] || fail "exit code $code, output: $(cat out.txt)"
tries=0
until grep -q . err.txt; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || fail "no line"
  sleep 0.1
done
says "$lost"
{ timeout 20 "$rubato" trace -o run.otf2dir env -i /bin/true 2>&1 || echo failed; } | cat >err.txt
says "$lost"
# Killed, before there was anything.
{ timeout 20 "$rubato" trace -o run.otf2dir sh -c 'kill -9 $$' 2>&1 || echo "code $?"; } | cat >err.txt
grep -q 'code 137' err.txt || fail "$(cat err.txt)"
says "$lost"

# The command has no child that it did not start. (Some shells end without a line of the tracer.)
{ "$rubato" trace -o run.otf2dir sh -c 'cat /proc/$$/task/$$/children; wait' 2>&1 >out.txt; } | cat >err.txt
[ "$(wc -w <out.txt)" -le 1 ] || fail "children: $(cat out.txt)"
says 'nothing was recorded: '

# Killed in the midst of recording.
run 2 "$rubato" trace -o run.otf2dir ./app 0 kill >out.txt 2>err.txt && fail "exit code 0"
says "the program ended without MPI_Finalize; to make a trace of what was recorded: rubato recover $work/run.otf2dir"
rm -rf run.otf2dir

# Killed while MPI_Finalize writes the trace.
cat >killer.c <<'C'
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int mkdir(const char* name, unsigned mode) {
  int (*real)(const char*, unsigned) = (int (*)(const char*, unsigned))dlsym((void*)-1l, "mkdir");
  if (strstr(name, "run.otf2dir/traces")) kill(getpid(), SIGKILL);
  return real(name, mode);
}
C
cc -w -shared -fPIC -o killer.so killer.c -ldl
LD_PRELOAD=$work/killer.so "$rubato" trace -o run.otf2dir ./app 0 >out.txt 2>err.txt && fail "exit code 0"
tries=0
until grep -q '^rubato: ' err.txt || [ $tries = 100 ]; do tries=$((tries + 1)) && sleep 0.1; done
says "the program ended before MPI_Finalize had written the trace; to make a trace of what was recorded: rubato recover $work/run.otf2dir"
"$rubato" recover run.otf2dir >out.txt 2>&1 || fail "$(cat out.txt)"
rm -rf run.otf2dir

# A daemon: the process that was started ends, and its child is the program, which says the one line.
build_program daemon <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  if (fork() != 0) argc > 1 ? exit(0) : _exit(0);
  setsid();
  usleep(500000);
  MPI_Init(&argc, &argv);
  usleep(500000);
  return MPI_Finalize();
}
C
for how in "" exit; do
  # shellcheck disable=SC2086 # no word, or one
  "$rubato" trace -o run.otf2dir ./daemon $how >out.txt 2>err.txt || fail "exit code $?"
  tries=0
  until grep -q 'wrote' err.txt || [ $tries = 200 ]; do tries=$((tries + 1)) && sleep 0.1; done
  sleep 0.5
  says 'wrote run.otf2dir (1 rank, '
  rm -rf run.otf2dir
done

# Other processes of a script are not waited for: neither one that has another standard error, nor any if rank 0 is
# known to be dead.
cat >noinit.sh <<'C'
#!/bin/sh
setsid sleep 300 </dev/null >/dev/null 2>&1 &
echo $! >sleeper
C
printf '#!/bin/sh\nsleep 300 </dev/null >/dev/null &\necho $! >sleeper\n./app 0 kill\n' >killed.sh
chmod +x noinit.sh killed.sh
timeout 60 "$rubato" trace -o run.otf2dir ./noinit.sh 2>&1 | timeout 60 cat >err.txt
kill -0 "$(cat sleeper)" || fail "waited for the other process"
kill "$(cat sleeper)"
says 'nothing was recorded: '
"$rubato" trace -o run.otf2dir ./killed.sh >out.txt 2>err.txt && fail "exit code 0"
tries=0
until grep -q . err.txt || [ $tries = 50 ]; do tries=$((tries + 1)) && sleep 0.1; done
kill "$(cat sleeper)"
grep -q "^rubato: the program ended without MPI_Finalize; to make a trace" err.txt || fail "$(cat err.txt)"
rm -rf run.otf2dir

# All is well.
run 2 "$rubato" trace -o run.otf2dir ./app 0 >out.txt 2>err.txt || fail "exit code $?"
says 'wrote run.otf2dir (2 ranks, '
size=$(find run.otf2dir -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / 1024 }')
grep -q ", $size KiB)" err.txt || fail "not $size KiB: $(cat err.txt)"
pass
