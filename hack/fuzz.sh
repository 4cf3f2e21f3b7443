#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz test of the workspace for the time in the first argument, 30s without one, and prints the names of those that fail.
# Go writes an input that fails to testdata/fuzz of the package.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=()
while IFS=: read -r file name; do
  echo "== ${name} in ${file}"
  go test -run '^$' -fuzz "^${name}\$" -fuzztime "${1:-30s}" "./$(dirname "${file}")" || failed+=("${name} in ${file}")
done < <(grep --recursive --include '*_test.go' --exclude-dir _output --only-matching --perl-regexp '^func \KFuzz\w+(?=\()' . | sed 's|^\./||' | sort)
if ((${#failed[@]})); then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
