#!/usr/bin/env bash
# The output of --json conforms to share/doc/schemas/replay.schema.json: json_schema.sh REPORT_DEMO
set -euo pipefail
demo=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python3 -c 'import jsonschema' 2>/dev/null || {
  echo "skipped: python3-jsonschema is not installed"
  exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for arguments in "1 $dir" "3 $dir" "4 $dir troubled"; do
  # shellcheck disable=SC2086  # words on purpose
  "$demo" $arguments >/dev/null
  python3 - "$root/share/doc/schemas/replay.schema.json" "$dir/report.json" <<'END'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.validate(json.load(open(sys.argv[2])), schema)

# The schema has teeth: what it must refuse, it refuses.
def refused(change):
    data = json.load(open(sys.argv[2]))
    change(data)
    try:
        jsonschema.validate(data, schema)
    except jsonschema.ValidationError:
        return True
    return False

assert refused(lambda d: d.pop("scenarios"))
assert refused(lambda d: d["scenarios"][0].update(elapsed="1 s"))
assert refused(lambda d: d["scenarios"][0].pop("efficiency"))
assert refused(lambda d: d["scenarios"][0]["ranks"][0].pop("compute"))
assert refused(lambda d: d["sweeps"][0]["axes"][0].pop("factors"))
assert refused(lambda d: d["sweeps"][1].update(elapsed=[1.0]))
END
done
