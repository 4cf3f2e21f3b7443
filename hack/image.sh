#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes a container image of kube-apiserver for Linux to the file of the first argument, and its bill of materials beside it. GOARCH selects
# the processor. VERSION, LDFLAGS and IMAGE are those of the Makefile. Builds of one commit with one version of Go have the same bytes.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=$1
architecture=${GOARCH:-$(go env GOARCH)}
binary=_output/image/linux-${architecture}/kube-apiserver
created=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
revision=$(git rev-parse HEAD)

CGO_ENABLED=0 GOOS=linux GOARCH=${architecture} go build -trimpath -buildvcs=false -ldflags "${LDFLAGS}" -o "${binary}" ./cmd/kube-apiserver
(cd hack/image && GOWORK=off GOOS='' GOARCH='' go build -o ../../_output/image/image .)
mkdir -p "$(dirname "${output}")"
_output/image/image -binary "${binary}" -version "${VERSION}" -revision "${revision}" -tag "${IMAGE}" -created "${created}" \
  -output "${output}" -sbom "${output%.tar}.spdx.json"
echo "${output} is ${IMAGE} for linux/${architecture}"
