#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if hack/update-codegen.sh would change a file. It runs on a copy of the tree.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

copy=$(mktemp -d)
trap 'rm -rf "${copy}"' EXIT
tar --exclude ./.git --exclude ./bin --exclude ./_artifacts --exclude ./.celador -cf - . | tar -C "${copy}" -xf -

"${copy}/hack/update-codegen.sh" >"${copy}/codegen.log" 2>&1 || {
  cat "${copy}/codegen.log" >&2
  exit 1
}
rm "${copy}/codegen.log"
if ! diff -r -q --exclude .git --exclude bin --exclude _artifacts --exclude .celador . "${copy}"; then
  echo "generated code is out of date: run hack/update-codegen.sh" >&2
  exit 1
fi
