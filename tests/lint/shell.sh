#!/usr/bin/env bash
# Checks all shell scripts with shellcheck, each with the files that it sources.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
command -v shellcheck >/dev/null || {
  echo "skipped: there is no shellcheck"
  exit 77
}
mapfile -t scripts < <(find share tests .ci -type f -exec \
  grep -lE '^#!.*\b(ba)?sh\b|^# shellcheck shell=' {} + | sort)
shellcheck -x -P SCRIPTDIR -S warning "${scripts[@]}"
