#!/usr/bin/env bash
# Installs the Debian packages of apt-packages.txt that are missing; says which, where it may not.
set -euo pipefail
list="$(dirname "$0")/apt-packages.txt"

missing=()
while read -r package; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done < <(grep -v '^#' "$list")

if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi
if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "Not installed: ${missing[*]}. Tests that need them are skipped (CI=1: they fail)."
  exit 0
fi

echo "Installing ${missing[*]}"
# Nothing of it is to run as a service: the tests start what they need.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
