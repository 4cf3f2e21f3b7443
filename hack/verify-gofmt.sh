#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# _output/ may hold a tree of Kubernetes, see patches-verify.sh.
unformatted=$(find . -path ./_output -prune -o -name "*.go" -print0 | xargs -0 gofmt -s -l)
if [[ -n "${unformatted}" ]]; then
  printf 'run gofmt -s -w on:\n%s\n' "${unformatted}" >&2
  exit 1
fi
