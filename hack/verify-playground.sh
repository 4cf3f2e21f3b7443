#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that the bundle of celador playground is up to date.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bundle=$(mktemp -d)
trap 'rm -rf "${bundle}"' EXIT
hack/update-playground.sh "${bundle}"
if ! diff --brief --recursive "${bundle}" staging/src/celador.io/offline/playground/assets; then
  echo "run hack/update-playground.sh" >&2
  exit 1
fi
