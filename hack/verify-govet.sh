#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# All modules of the workspace, then those outside of it.
go vet $(go list -m -f '{{.Path}}/...')
for module in $(find examples hack test -path hack/tools -prune -o -name go.mod -printf '%h\n'); do
  (cd "${module}" && GOWORK=off go vet ./...)
done
