#!/usr/bin/env bash
# Makes a release in a directory; uploads nothing. `make release` calls it.
#
#   deploy/release.sh [DIRECTORY]      default: dist
#
# Wheel and sdist are built twice and must be the same; the wheel is installed with the hashed lock into an
# empty environment and asked for its help. The demo's page and the widget are in them where npm builds
# them. Where root has buildah and mmdebstrap, the image is built too
# (four minutes; IMAGE=no: not). PYTHON is a Python 3.11 that has hatchling and cyclonedx-py beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist}")
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Times in the archives are those of the commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$("$python" -m hatchling version)
rm -rf "$out"
mkdir -p "$out"

# The changelog's section of this version, without its heading.
awk -v heading="## [$version]" '
  /^## / { inside = index($0, heading) == 1; next }
  inside { print }
' CHANGELOG.md | sed -e '/./,$!d' > "$out/NOTES.md"
if [[ -n $(git status --porcelain) ]]; then
  echo "release: this tree has changes that are not committed" >&2
fi
if [[ ! -s $out/NOTES.md ]]; then
  echo "release: CHANGELOG.md has no section [$version]" >&2
  exit 1
fi

# The demo's page and the widget, of which git knows the sources alone.
built=()
if command -v npm > /dev/null; then
  make --no-print-directory --silent page widget
  built=(src/turnwire_lab/web/dist src/turnwire_lab/widget/dist/widget.js)
else
  echo "release: no page and no widget for the demo: that needs Node 20 with npm" >&2
fi

# From two copies of what git knows or would take, so that nothing else gets in; git also names
# files that were deleted and not committed.
for copy in one two; do
  mkdir -p "$scratch/$copy/src"
  LC_ALL=C comm -z -23 <(git ls-files -coz --exclude-standard | LC_ALL=C sort -zu) \
    <(git ls-files -dz | LC_ALL=C sort -z) |
    tar --null -cf - -T - | tar -xf - -C "$scratch/${copy}/src"
  if [[ ${#built[@]} -gt 0 ]]; then cp -r --parents "${built[@]}" "$scratch/$copy/src"; fi
done
if ! diff -r "$scratch/one/src" "$scratch/two/src" > /dev/null; then
  echo "release: somebody is writing into this tree" >&2
  exit 1
fi
(cd "$scratch/one/src" && "$python" -m hatchling build --directory "$out") > /dev/null 2>&1
(cd "$scratch/two/src" && "$python" -m hatchling build --directory "$scratch/again") > /dev/null 2>&1
for archive in "$scratch"/again/*; do
  cmp "$archive" "$out/${archive##*/}"
done

"$python" -m venv --without-pip "$scratch/venv"
pip=("$python" -m pip --quiet --disable-pip-version-check --python "$scratch/venv/bin/python")
"${pip[@]}" install --no-compile --only-binary :all: --require-hashes -r requirements-image.txt
"${pip[@]}" install --no-compile --no-deps --no-index "$out"/*.whl
"${pip[@]}" check
env --ignore-environment "$scratch/venv/bin/turnwire" --help > /dev/null
env --ignore-environment TURNWIRE_ENABLED=true TURNWIRE_JWT_KEY="$(printf %032d 0)" \
  TURNWIRE_AGENT_URL='wss://agents.example/{session_id}' "$scratch/venv/bin/turnwire" check > /dev/null

# Of what was just installed: the locked libraries, with their licences, and turnwire.
"$(dirname "$python")/cyclonedx-py" environment --pyproject pyproject.toml --output-reproducible \
  --output-file "$out/turnwire-$version.cdx.json" "$scratch/venv/bin/python"

if [[ ${IMAGE:-} == no ]]; then
  echo "release: no image, as asked"
elif [[ $EUID -eq 0 ]] && command -v buildah mmdebstrap > /dev/null; then
  VERSION=$version REVISION=$(git rev-parse HEAD) \
    deploy/docker/build.sh build/image gateway "$out/turnwire-$version.oci.tar" > /dev/null
else
  echo "release: no image: that needs root, buildah and mmdebstrap"
fi

(cd "$out" && sha256sum -- * > "$scratch/SHA256SUMS" && mv "$scratch/SHA256SUMS" .)
echo "turnwire $version is in $out:"
ls -l "$out"
