#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that deploy/webhook/manifests is what the Helm chart renders to.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rendered=$(mktemp -d)
trap 'rm -rf "${rendered}"' EXIT
hack/update-webhook-manifests.sh "${rendered}"
diff -ruN deploy/webhook/manifests "${rendered}" || {
  echo "run hack/update-webhook-manifests.sh" >&2
  exit 1
}
