#!/usr/bin/env bash
# A full disk gives one line and exit code 1, and no report that looks complete: full_disk.sh
# REPORT_DEMO Needs permission to mount a small file system.
set -euo pipefail
demo=$1
if [[ -z ${RUBATO_IN_NAMESPACE:-} ]]; then
  unshare --mount true 2>/dev/null || {
    echo "skipped: no right to mount"
    exit 77
  }
  RUBATO_IN_NAMESPACE=1 exec unshare --mount "${BASH_SOURCE[0]}" "$demo"
fi
dir=$(mktemp -d)
trap 'umount "$dir"; rmdir "$dir"' EXIT
mount -t tmpfs -o size=64k tmpfs "$dir" || {
  trap 'rmdir "$dir"' EXIT
  echo "skipped: no right to mount"
  exit 77
}
echo "the older report" >"$dir/report.json"

code=0
"$demo" 512 "$dir" >/dev/null 2>"$dir/../full_disk.$$" || code=$?
message=$(cat "$dir/../full_disk.$$")
rm "$dir/../full_disk.$$"
echo "$message"
[[ $code == 1 ]]
[[ $message == *"$dir/report.json: cannot be written: No space left on device" ]]
[[ $(wc -l <<<"$message") == 1 ]]
# Existing files are unchanged, and there are no others.
[[ $(cat "$dir/report.json") == "the older report" ]]
[[ $(ls "$dir") == report.json ]]
