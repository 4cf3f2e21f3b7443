#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go vet ./... celador.io/api/... celador.io/client-go/... celador.io/admission/... celador.io/apiextensions-apiserver/... celador.io/offline/...
for module in hack/image test/e2e/envtest test/e2e/kind; do
  (cd "${module}" && GOWORK=off go vet ./...)
done
