#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs all verify scripts and prints the names of those that fail.

set -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=()
for check in hack/verify-*.sh; do
  name=$(basename "${check}" .sh)
  echo "== ${name#verify-}"
  start=${SECONDS}
  "${check}" || failed+=("${check}")
  echo "   $((SECONDS - start)) s"
done
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
