#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the directory of the first argument a git repository with the source of Kubernetes, as the Go module proxy has it, and the commits of
# patches/ on top. The first commit has the tag "base". With --touched, it has only the modules under staging, and the other files, that the
# patches change.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tree=$1 patches=${PWD}/patches
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
root=$(go mod download -json "k8s.io/kubernetes@${version}" | sed -n 's/^\s*"Dir": "\(.*\)",$/\1/p')

# copy MODULE VERSION DIRECTORY copies the source of a module from the module cache, where it is read-only.
copy() {
  local source
  source=$(cd / && go mod download -json "$1@$2" | sed -n 's/^\s*"Dir": "\(.*\)",$/\1/p')
  mkdir -p "$3"
  cp --recursive --no-preserve=mode "${source}/." "$3"
}

rm -rf "${tree}"
if [[ ${2:-} == --touched ]]; then
  mapfile -t modules < <(sed -n 's|^+++ b/staging/src/k8s.io/\([^/]*\)/.*|\1|p' "${patches}"/*.patch | sort --unique)
  while read -r file; do
    mkdir -p "${tree}/${file%/*}"
    cp --no-preserve=mode "${root}/${file}" "${tree}/${file}"
  done < <(sed -n 's|^--- a/||p' "${patches}"/*.patch | grep -v '^staging/' | sort --unique)
else
  copy k8s.io/kubernetes "${version}" "${tree}"
  mapfile -t modules < <(sed -n 's|^\s*\./staging/src/k8s.io/||p' "${root}/go.work")
fi
for module in "${modules[@]}"; do
  copy "k8s.io/${module}" "v0.${version#v1.}" "${tree}/staging/src/k8s.io/${module}"
done

git="git -C ${tree} -c user.name=celador -c user.email=celador@localhost -c commit.gpgsign=false -c core.hooksPath=/dev/null -c core.safecrlf=false"
${git} init --quiet
${git} add --all --force
${git} commit --quiet --message "Kubernetes ${version}"
${git} tag base
${git} am --quiet "${patches}"/*.patch
