#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds what runs Kubernetes' end-to-end specs: the suite, kube-controller-manager and kubectl from the module cache, and test/e2e/conformance. LDFLAGS
# are linker flags.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "building Kubernetes' end-to-end suite, kube-controller-manager and kubectl"
go build -ldflags "${LDFLAGS:-}" -o bin/ k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl
go test -c -ldflags "${LDFLAGS:-}" -o bin/e2e.test k8s.io/kubernetes/test/e2e
go build -ldflags "${LDFLAGS:-}" -o bin/conformance ./test/e2e/conformance
