#!/usr/bin/env bash
# Build sdist and wheel, install the wheel without extras in a clean environment of every supported Python that is here, and try it there,
# away from the sources: packaging/build_and_try.sh [DIST]. PYTHONS chooses the interpreters. A package index is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist}")
.venv/bin/python -m build --no-isolation --outdir "$out" . >/dev/null
ls "$out"
constraints=$PWD/constraints.txt wheel=$(ls -t "$out"/loci_lab-*.whl | head -1) tried=0
for python in ${PYTHONS:-python3.11 python3.12 python3.13}; do
  command -v "$python" >/dev/null || { echo "$python is not here: not tried"; continue; }
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  "$python" -m venv "$place/env"
  "$place/env/bin/python" -m pip install --quiet --constraint "$constraints" "$wheel"
  (
    cd "$place"
    env/bin/loci --version
    SECONDS=0
    env/bin/loci demo --quick --out demo
    echo "loci demo --quick: $SECONDS s"
    env/bin/loci learn --out learned --set read.characters=20000 --set memorize.characters=20000 # the bundled example, for a moment
    env/bin/loci ask learned "Where is the Delta Desk made?"
    env/bin/loci world --people 40 --out world
    env/bin/loci check world
    env/bin/loci train --recipe demo --data world --out run --characters 20000 --set model.n_embd=32
    env/bin/loci evaluate run --questions world/birth_dev.tsv
    env/bin/loci ask run "Where was Ada Moss born?"
    env/bin/loci report run --out report.html
    env/bin/loci export run exported --to hf
    test -s demo/report.html && test -s learned/report.html && test -s report.html && test -s exported/model.safetensors
  )
  echo "the package works in $("$place/env/bin/python" --version)"
  rm -rf "$place"
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ]
