#!/usr/bin/env bash
# Checks that all C++ sources are formatted by clang-format.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
command -v clang-format >/dev/null || {
  echo "skipped: there is no clang-format"
  exit 77
}
mapfile -t sources < <(find models replay tracer calibrate tools tests \
  \( -name '*.h' -o -name '*.cc' \) 2>/dev/null | sort)
clang-format --dry-run -Werror "${sources[@]}" && exit 0
echo "To repair: clang-format -i FILE"
exit 1
