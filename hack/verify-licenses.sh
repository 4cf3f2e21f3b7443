#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that the first lines of every source file contain the copyright and the license.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
while IFS= read -r file; do
  grep -q 'SPDX-License-Identifier: Apache-2.0' <<<"$(head -n 6 "${file}")" || missing+=("${file}")
done < <(find . \( -path ./.git -o -path ./bin -o -path ./_artifacts -o -path ./_output -o -name node_modules \) -prune -o \
  -type f \( -name '*.go' -o -name '*.sh' -o -name '*.proto' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name Makefile -o -path './.ci/*' \) -print)
if ((${#missing[@]})); then
  printf 'license header is missing in:\n' >&2
  printf '  %s\n' "${missing[@]}" >&2
  exit 1
fi
