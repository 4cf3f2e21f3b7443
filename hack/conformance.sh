#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs Kubernetes' end-to-end specs against bin/kube-apiserver. LDFLAGS are linker flags. Arguments are passed to test/e2e/conformance: --all also runs the
# known exceptions, --kubeconfig tests a running cluster.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/conformance-build.sh
# exec replaces the shell, so the command receives signals itself and stops the processes that it
# has started.
exec bin/conformance "$@"
