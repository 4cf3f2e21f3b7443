#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that patches/ applies to the versions of Kubernetes and cel-go that Celador is built on. make patches-verify builds and tests the
# result, too.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
hack/patches-tree.sh "${work}/kubernetes" --touched
hack/patches-celgo.sh "${work}/cel-go"
