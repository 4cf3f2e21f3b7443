#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

staticcheck=$(go tool -n staticcheck)
# All modules of the workspace, then those outside of it.
"${staticcheck}" $(go list -m -f '{{.Path}}/...')
for module in $(find examples hack test -path hack/tools -prune -o -name go.mod -printf '%h\n'); do
  (cd "${module}" && GOWORK=off "${staticcheck}" ./...)
done
