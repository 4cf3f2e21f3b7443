#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds Kubernetes' kube-apiserver of the release in the first argument, and prints the path of the program. The first build of a release takes
# several minutes.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=$1
out=$(pwd)/_output/skew/${release}
mkdir -p "${out}"
module=$(cd "${out}" && GOWORK=off go mod download -json "k8s.io/kubernetes@v${release}" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
{
  printf 'module skew\n\ngo 1.26\n\nrequire k8s.io/kubernetes v%s\n' "${release}"
  sed -n "s|^\s*\(k8s.io/[a-z-]*\) => ./staging.*|replace \1 => \1 v0.${release#1.}|p" "${module}"
} >"${out}/go.mod"
[[ -x "${out}/kube-apiserver" ]] || (cd "${out}" && GOWORK=off GOFLAGS=-mod=mod \
  go build -ldflags "-X k8s.io/component-base/version.gitVersion=v${release}" -o kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver)
echo "${out}/kube-apiserver"
