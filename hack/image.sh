#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes a container image for Linux of the command in the first argument, kube-apiserver or celador-webhook, to the file of the second, and its bill of
# materials beside it. GOARCH selects the processor. VERSION and LDFLAGS are those of the Makefile, IMAGE is the name of the image. Builds of one commit
# with one version of Go have the same bytes.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command=$1 output=$2
case "${command}" in
  kube-apiserver) about=(-description "Kubernetes' kube-apiserver with the admission policies of Celador") ;;
  celador-webhook) about=(-description "Admission policies of Celador as a webhook" -user 65532:65532) ;;
  *) echo "there is no image of ${command}" >&2; exit 1 ;;
esac
architecture=${GOARCH:-$(go env GOARCH)}
binary=_output/image/linux-${architecture}/${command}
created=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
revision=$(git rev-parse HEAD)

# Without the traces of gRPC, which nothing reads, the linker drops the methods that nothing calls: a third of the polyfill.
[[ ${command} == celador-webhook ]] && export GOFLAGS="${GOFLAGS:-} -tags=grpcnotrace"
CGO_ENABLED=0 GOOS=linux GOARCH=${architecture} go build -trimpath -buildvcs=false -ldflags "${LDFLAGS}" -o "${binary}" "./cmd/${command}"
(cd hack/image && GOWORK=off GOOS='' GOARCH='' go build -o ../../_output/image/image .)
mkdir -p "$(dirname "${output}")"
_output/image/image -binary "${binary}" -version "${VERSION}" -revision "${revision}" -tag "${IMAGE}" -created "${created}" \
  "${about[@]}" -output "${output}" -sbom "${output%.tar}.spdx.json"
echo "${output} is ${IMAGE} for linux/${architecture}"
