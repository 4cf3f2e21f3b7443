#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Makes the directory of the first argument a copy of the source of cel-go with patches/cel-go.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tree=$1 patches=${PWD}/patches/cel-go
rm -rf "${tree}"
mkdir -p "${tree}"
source=$(go list -m -f '{{.Dir}}' github.com/google/cel-go)
cp --recursive --no-preserve=mode "${source}/." "${tree}"
# Inside another repository, git apply would look for the files there.
git -C "${tree}" init --quiet
for patch in "${patches}"/*.patch; do
  git -C "${tree}" apply "${patch}"
done
