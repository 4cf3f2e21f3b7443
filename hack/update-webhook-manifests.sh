#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Renders the Helm chart of the polyfill to deploy/webhook/manifests, or to the directory of the first argument.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

output=${1:-deploy/webhook/manifests}
(cd hack/chart && GOWORK=off go build -o ../../_output/chart .)
_output/chart -chart deploy/webhook/chart -output "${output}"
