#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs go test with the given arguments, and repeats what failed at the end of the
# output, where a reader of a long log looks first.

set -o errexit -o nounset -o pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test "$@" 2>&1 | tee "$log" && exit
code=$?
echo
echo "What failed:"
grep -E '^ *--- FAIL|^FAIL\s|^panic: |WARNING: DATA RACE|: [^ ]*\.go:[0-9]+:[0-9]+: ' "$log" | tail -n 20 || true
exit "$code"
