#!/bin/sh
# A program without MPI runs as usual; one line says that nothing was recorded.
. "$(dirname "$0")/../lib.sh"
echo hello >file
trace 2 cat file >out.txt 2>err.txt || fail "exit code $?"
[ "$(grep -c hello out.txt)" = 2 ] || fail "output: $(cat out.txt)"
[ "$(grep -c 'rubato: nothing was recorded' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
[ ! -e run.otf2dir ] || fail "an archive of nothing"
# A static program has no loader that could load the tracer: one rank reports this before the start.
printf 'int puts(const char*);\nint main(void) { return puts("hello") < 0; }\n' >static.c
if cc -static -o static static.c 2>/dev/null; then
  trace 2 ./static >out.txt 2>err.txt || fail "exit code $?"
  [ "$(grep -c hello out.txt)" = 2 ] || fail "output: $(cat out.txt)"
  [ "$(grep -c 'rubato: warning: ./static is statically linked' err.txt)" = 1 ] || fail "message: $(cat err.txt)"
fi
# The loader as a command: nothing is static, and what it starts is traced. With capabilities a program of any other user
# than root is started without the tracer.
printf '#include <mpi.h>\nint main(int c, char** v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n' >app.c
build_program app
loader=$(LC_ALL=C readelf -p .interp app 2>/dev/null | sed -n 's,.*\(/lib.*\),\1,p')
if [ -x "$loader" ]; then
  trace 1 "$loader" ./app >out.txt 2>err.txt || fail "$loader: $(cat err.txt)"
  one_report err.txt
fi
if [ "$(id -u)" = 0 ] && command -v setcap >/dev/null && command -v setpriv >/dev/null && setcap cap_net_raw+ep app 2>/dev/null; then
  chmod 755 "$work"
  (cd / && setpriv --reuid 65534 --clear-groups "$rubato" trace -o "/tmp/${work##*/}.otf2dir" "$work/app") >out.txt 2>err.txt || true
  grep -q "rubato: warning: $work/app has capabilities of its own" err.txt || fail "capabilities: $(cat err.txt)"
  rm -rf "/tmp/${work##*/}.otf2dir"
fi
# Unrelated programs, with only the tracer in the environment.
tracer=$(find "$build"/lib* -name "librubato-trace-$flavour.so" | head -1)
for command in "ls /" "bash -c true" "$python -c pass"; do
  LD_PRELOAD=$tracer $command >/dev/null 2>err.txt || fail "$command failed under the tracer"
  [ ! -s err.txt ] || fail "$command: $(cat err.txt)"
done
"$rubato" trace ./no-such-program >out.txt 2>err.txt && fail "a missing program is no error"
[ "$(wc -l <err.txt)" = 1 ] || fail "message: $(cat err.txt)"
grep -q 'no-such-program: no such program' err.txt || fail "message: $(cat err.txt)"
pass
