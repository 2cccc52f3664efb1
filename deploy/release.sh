#!/usr/bin/env bash
# Makes a release in a directory; uploads nothing. `make release` calls it.
#
#   deploy/release.sh [DIRECTORY]      default: dist
#
# Wheels and sdists of `turnwire`, `turnwire-lab`, `turnwire-agent` and `turnwire-client` are built twice and must be the same;
# an sdist must make the same wheel. Each wheel is installed with the hashed lock into an empty environment
# and asked for its help. Where there is npm, the demo's page and the widget are in the lab's, and the packages
# of clients/ and the widget's are there as npm would publish them, each with its bill of materials. Where root
# has buildah and mmdebstrap, the images of the gateway and of the agent runtime are built too (five minutes more;
# IMAGE=no: not). PYTHON is a Python 3.11 that has hatchling and cyclonedx-py beside it. Signing is by hand:
# docs/deploy.md.
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
  built=(src/turnwire_lab/web/dist src/turnwire_lab/widget/dist/{widget.js,LICENSES.txt})
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
build() {
  (cd "$1" && "$python" -m hatchling build "${@:3}" --directory "$2") > /dev/null 2>&1
}
for project in . packages/turnwire-lab packages/turnwire-agent packages/turnwire-client; do
  build "$scratch/one/src/$project" "$out"
  build "$scratch/two/src/$project" "$scratch/again"
done
for sdist in "$out"/*.tar.gz; do
  name=${sdist##*/}
  mkdir -p "$scratch/unpacked"
  tar -xzf "$sdist" -C "$scratch/unpacked"
  build "$scratch/unpacked/${name%.tar.gz}" "$scratch/from-sdist" --target wheel
done
for archive in "$scratch"/again/* "$scratch"/from-sdist/*; do
  cmp "$archive" "$out/${archive##*/}"
done

# What npm would publish: each package of clients/ that is not private, and the widget; built twice too.
bill_of_npm=$PWD/deploy/npm_bill.py
publish() {
  local package=$1 copy name omit=()
  if [[ ! $package/node_modules/.package-lock.json -nt $package/package-lock.json ]]; then
    (cd "$package" && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --loglevel=error)
  fi
  for copy in one two; do
    mkdir -p "$scratch/$copy/npm"
    ln -s "$PWD/$package/node_modules" "$scratch/$copy/src/$package/node_modules"
    (cd "$scratch/$copy/src/$package" && npm run --silent build &&
      npm pack --silent --ignore-scripts --pack-destination "$scratch/$copy/npm") > /dev/null
  done
  (
    cd "$scratch/one/src/$package"
    name=$(npm pkg get name | tr -d '"')
    # Fails if it has another version than the rest.
    cmp "$scratch/one/npm/$name-$version.tgz" "$scratch/two/npm/$name-$version.tgz"
    cp "$scratch/one/npm/$name-$version.tgz" "$out"
    # For npm the widget depends on nothing, since its build puts all that it needs into its files.
    if [[ ! -f dist/bundled.json ]]; then omit=(--omit dev); fi
    npm sbom --package-lock-only "${omit[@]}" --sbom-format cyclonedx --sbom-type library |
      "$python" "$bill_of_npm" > "$out/$name-$version.npm.cdx.json"
  )
}
if command -v npm > /dev/null; then
  for manifest in "$scratch"/one/src/clients/*/package.json; do
    if ! grep -q '"private": true' "$manifest"; then
      package=${manifest%/package.json}
      publish "clients/${package##*/}"
    fi
  done
  # Behind the session, which it contains.
  publish src/turnwire_lab/widget
else
  echo "release: no packages for npm: that needs Node 20 with npm" >&2
fi

# An environment with these wheels, what a lock names, and nothing else; $venv is where it is.
room() {
  local lock=$1 pip wheels=("${@:2}")
  venv=$(mktemp -d "$scratch/venv.XXXX")
  "$python" -m venv --without-pip "$venv"
  pip=("$python" -m pip --quiet --disable-pip-version-check --python "$venv/bin/python")
  "${pip[@]}" install --no-compile --only-binary :all: --require-hashes -r "$lock"
  "${pip[@]}" install --no-compile --no-deps --no-index "${wheels[@]/%/-$version-py3-none-any.whl}"
  "${pip[@]}" check
}
# The libraries of the last room, with their licences, and what was installed with them. The version of the wheel
# is not in its pyproject.toml, so the bill gets it here.
bill_of_wheel=$(cat << 'PYTHON'
import json, sys
bill, version = json.load(sys.stdin), sys.argv[1]
component = bill["metadata"]["component"]
component |= {"purl": f"pkg:pypi/{component['name']}@{version}", "version": version}
print(json.dumps(bill, indent=2))
PYTHON
)
bill() {
  "$(dirname "$python")/cyclonedx-py" environment --pyproject "$1/pyproject.toml" --output-reproducible \
    --output-file - "$venv/bin/python" | "$python" -c "$bill_of_wheel" "$version" > "$out/$2-$version.cdx.json"
}
# As in its image. What the runtime needs at least is among the libraries of the lab.
room requirements-agent.txt "$out/turnwire_agent"
env --ignore-environment "$venv/bin/turnwire-agent" --help > /dev/null
env --ignore-environment "$venv/bin/python" -c "import turnwire_agent; print(turnwire_agent.__version__)" |
  grep --quiet --fixed-strings --line-regexp "$version"
bill packages/turnwire-agent turnwire-agent
room requirements-client.txt "$out/turnwire_client"
env --ignore-environment "$venv/bin/python" -c "import turnwire_client"
bill packages/turnwire-client turnwire-client
room requirements-lab.txt "$out/turnwire" "$out/turnwire_agent" "$out/turnwire_lab"
env --ignore-environment "$venv/bin/turnwire-lab" --help > /dev/null
room requirements-image.txt "$out/turnwire"
env --ignore-environment "$venv/bin/turnwire" --help > /dev/null
env --ignore-environment TURNWIRE_ENABLED=true TURNWIRE_JWT_KEY="$(printf %032d 0)" \
  TURNWIRE_AGENT_URL='wss://agents.example/{session_id}' "$venv/bin/turnwire" check > /dev/null
bill . turnwire

if [[ ${IMAGE:-} == no ]]; then
  echo "release: no images, as asked"
elif [[ $EUID -eq 0 ]] && command -v buildah > /dev/null && command -v mmdebstrap > /dev/null; then
  # One base for both: a registry keeps its layer once.
  export VERSION=$version REVISION=$(git rev-parse HEAD)
  deploy/docker/build.sh build/image gateway "$out/turnwire-$version.oci.tar" > /dev/null
  deploy/docker/build.sh build/image agent "$out/turnwire-agent-$version.oci.tar" > /dev/null
else
  echo "release: no images: that needs root, buildah and mmdebstrap"
fi

(cd "$out" && sha256sum -- * > "$scratch/SHA256SUMS" && mv "$scratch/SHA256SUMS" .)
echo "turnwire $version is in $out:"
ls -l "$out"
