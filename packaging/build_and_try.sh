#!/usr/bin/env bash
# Build sdist and wheel, install the wheel without extras in a clean environment, and try it there, away from the sources.
# PYTHON chooses the interpreter; OFFLINE=1 skips what needs a package index.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist}")
.venv/bin/python -m build --no-isolation --outdir "$out" . >/dev/null
ls "$out"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"${PYTHON:-python3}" -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --constraint constraints.txt "$(ls -t "$out"/loci_lab-*.whl | head -1)"
cd "$place"
env/bin/loci --version
env/bin/loci demo --quick --out demo
env/bin/loci learn --help >/dev/null
env/bin/loci world --people 40 --out world
env/bin/loci check world
env/bin/loci train --recipe demo --data world --out run --characters 20000 --set model.n_embd=32
env/bin/loci evaluate run --questions world/birth_dev.tsv
env/bin/loci ask run "Where was Ada Moss born?"
env/bin/loci report run --out report.html
env/bin/loci export run exported --to hf
test -s demo/report.html && test -s report.html && test -s exported/model.safetensors
echo "the package works in $("$place/env/bin/python" --version)"
