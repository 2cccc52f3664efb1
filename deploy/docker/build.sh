#!/usr/bin/env bash
# Builds an image where there is no Docker: as root, with buildah, on a Debian 12 that mmdebstrap makes.
#
#   deploy/docker/build.sh DIRECTORY [TARGET [OCI-ARCHIVE]]
#
# DIRECTORY keeps the base and buildah's storage, so that a second build is a short one. With an archive's
# name the image is written there too. VERSION, REVISION and SOURCE_DATE_EPOCH come from the environment.
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=$(realpath -m "$1") target=${2:-gateway} archive=${3:-}
image=localhost/turnwire-$target
name=turnwire-$target
if [[ $target == gateway ]]; then name=turnwire; fi
base=localhost/turnwire-base
mkdir -p "$directory"

buildah() {
  command buildah --root "$directory/storage" --runroot "$directory/run" --storage-driver vfs "$@"
}

if ! buildah inspect --type image "$base" > /dev/null 2>&1; then
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,python3.11,python3.11-venv \
    bookworm "$directory/base.tar"
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$directory/base.tar" / > /dev/null
  buildah commit --quiet --rm "$container" "$base" > /dev/null
  rm "$directory/base.tar"
fi

# pip fetches inside as it does outside: from the same place, trusting the same authorities.
mounts=()
for file in /etc/pip.conf /etc/xdg/pip /etc/ssl/certs/ca-certificates.crt; do
  if [[ -e $file ]]; then mounts+=(--volume "$file:$file:ro"); fi
done
epoch=()
if [[ -n ${SOURCE_DATE_EPOCH:-} ]]; then epoch=(--timestamp "$SOURCE_DATE_EPOCH"); fi

buildah bud --quiet --isolation chroot --pull-never --format docker "${mounts[@]}" "${epoch[@]}" \
  --build-arg BASE="$base" \
  --build-arg VERSION="${VERSION:-0}" --build-arg REVISION="${REVISION:-unknown}" \
  --file deploy/docker/Dockerfile --target "$target" --tag "$image" . > /dev/null
if [[ -n $archive ]]; then
  # OCI images have no HEALTHCHECK: it is in images that Docker builds, and compose.yaml has its own.
  rm -f "$archive"
  buildah push --quiet --format oci "$image" "oci-archive:$(realpath -m "$archive"):$name"
fi
echo "$image"
