#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds Kubernetes' end-to-end suite, kube-controller-manager and kubectl from the module cache, and
# runs the suite's specs against bin/kube-apiserver. LDFLAGS are linker flags. Arguments are passed to
# test/e2e/conformance; --all also runs the known exceptions.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "building Kubernetes' end-to-end suite, kube-controller-manager and kubectl"
go build -ldflags "${LDFLAGS:-}" -o bin/ k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl
go test -c -ldflags "${LDFLAGS:-}" -o bin/e2e.test k8s.io/kubernetes/test/e2e
go build -ldflags "${LDFLAGS:-}" -o bin/conformance ./test/e2e/conformance

# exec replaces the shell, so the command receives signals itself and stops the processes that it
# has started.
exec bin/conformance "$@"
