#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that go.mod and go.sum of every module are tidy, so that each module builds on its own.
# golangci-lint.sh does so for its own module, whose dependencies nothing else needs.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOWORK=off

for module in . $(find staging examples hack test -path hack/tools -prune -o -name go.mod -printf '%h\n'); do
  (cd "${module}" && go mod tidy -diff) || {
    echo "run go mod tidy in ${module}" >&2
    exit 1
  }
done
