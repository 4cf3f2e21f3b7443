#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Bundles the page of celador playground into the directory of the first argument, by default the one that the binary
# embeds. It runs on a copy, so that the packages of npm do not get into the tree.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

playground=staging/src/celador.io/offline/playground
out=$(realpath "${1:-${playground}/assets}")
copy=$(mktemp -d)
trap 'rm -rf "${copy}"' EXIT
cp -r "${playground}/web/." "${copy}"

hack/install-npm.sh
cd "${copy}"
npm ci --silent --no-audit --no-fund --ignore-scripts
npm run --silent build -- "${out}"
