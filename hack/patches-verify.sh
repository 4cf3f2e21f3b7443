#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Applies patches/ to the sources of Kubernetes and cel-go, builds kube-apiserver, and runs the tests of the packages that the patches change.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

celgo=${PWD}/_output/patches/cel-go
hack/patches-celgo.sh "${celgo}"
# The vendor directory of cel-go is incomplete in the module proxy.
(cd "${celgo}" && GOWORK=off go test -mod=mod ./common/types ./interpreter && GOWORK=off go test -mod=mod -run TestBindings ./ext && GOWORK=off go test -mod=mod -run TestValidate ./cel)
tree=${PWD}/_output/patches/kubernetes
hack/patches-tree.sh "${tree}"
cd "${tree}"
# The module proxy has no vendor directory, so modules come from the module cache.
export GOWORK=${tree}/go.work GOFLAGS=-mod=readonly
echo "Building kube-apiserver"
go build -o ../kube-apiserver ./cmd/kube-apiserver
mapfile -t packages < <(git diff --name-only base -- '*.go' | xargs dirname | sort --unique | sed 's|^|./|')
go vet "${packages[@]}"
go test "${packages[@]}"
