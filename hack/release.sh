#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes the files of a release to _output/release: archives of binaries for each of PLATFORMS, images, archives of deploy/ and patches/, CHANGELOG.md and
# SHA256SUMS. VERSION, LDFLAGS, IMAGE and WEBHOOK_IMAGE are those of the Makefile. Builds of one commit with one version of Go have the same bytes.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=_output/release
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
if [[ -n "$(git status --porcelain)" ]]; then
  echo "the work tree has changes: commit them, because the binaries name the commit" >&2
  exit 1
fi
rm -rf "${out}" _output/platforms
mkdir -p "${out}" _output/platforms

# pack DIRECTORY NAME writes an archive whose bytes depend on names, modes and contents of the files only.
pack() {
  tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH}" --directory "$1" "$2" |
    gzip --no-name --best >"${out}/$2.tar.gz"
}

for platform in ${PLATFORMS}; do
  system=${platform%/*} architecture=${platform#*/}
  name=celador-${VERSION}-${system}-${architecture}
  commands=(./cmd/celador)
  # Kubernetes' server is for Unix only.
  [[ "${system}" == windows ]] || commands+=(./cmd/kube-apiserver)
  echo "${platform}"
  directory=_output/platforms/${name}
  mkdir -p "${directory}"
  CGO_ENABLED=0 GOOS=${system} GOARCH=${architecture} go build -trimpath -buildvcs=false -ldflags "${LDFLAGS}" -o "${directory}/" "${commands[@]}"
  cp LICENSE README.md "${directory}"
  chmod 644 "${directory}/LICENSE" "${directory}/README.md"
  pack _output/platforms "${name}"
  if [[ "${system}" == linux ]]; then
    GOARCH=${architecture} hack/image.sh kube-apiserver "${out}/kube-apiserver-${VERSION}-${architecture}.tar"
    GOARCH=${architecture} IMAGE=${WEBHOOK_IMAGE} hack/image.sh celador-webhook "${out}/celador-webhook-${VERSION}-${architecture}.tar"
  fi
done
for directory in deploy patches; do
  if [[ -d "${directory}" ]]; then
    # The Go code of deploy/ tests it.
    git archive --prefix "celador-${VERSION}-${directory}/" HEAD "${directory}" ':(exclude)*.go' | tar --extract --directory _output/platforms
    pack _output/platforms "celador-${VERSION}-${directory}"
  fi
done
hack/changelog.sh "${VERSION}" >"${out}/CHANGELOG.md"
(cd "${out}" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
echo "wrote ${out}:"
cat "${out}/SHA256SUMS"
