#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the linters of .golangci.yml in all modules of the workspace, then in those outside of it.
# hack/tools/golangci-lint pins the version, and must be tidy.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

(cd hack/tools/golangci-lint && GOWORK=off go mod tidy -diff)
lint=$(cd hack/tools/golangci-lint && GOWORK=off go tool -n golangci-lint)
"${lint}" run $(go list -m -f '{{.Dir}}/...')
for module in $(find examples hack test -path hack/tools -prune -o -name go.mod -printf '%h\n'); do
  (cd "${module}" && GOWORK=off "${lint}" run ./...)
done
