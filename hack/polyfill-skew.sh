#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of the polyfill beside Kubernetes' kube-apiserver of the release in the first argument. Other arguments are those of the tests:
# -run TestSuites -corpus DIR compares the polyfill with the policies of that server on the suites in a directory.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=$(hack/stock-apiserver.sh "$1")
go test -count=1 -timeout=1h ./test/integration/polyfill -kube-apiserver "${program}" "${@:2}"
