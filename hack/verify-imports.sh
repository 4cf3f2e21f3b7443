#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies imports. The staging modules are libraries for programs other than kube-apiserver, so
# neither they nor their dependencies, tests included, may import k8s.io/kubernetes or the root
# module. The packages of CEL know nothing of policies. No package may import a command.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

staging=$(go list -m -f '{{if ne .Path "celador.io/celador"}}{{.Path}}/...{{end}}')
bad=$(go list -deps -test ${staging} |
  grep -E '^(k8s\.io/kubernetes|celador\.io/celador)(/|$)' || true)
if [[ -n "${bad}" ]]; then
  printf 'the staging modules must not depend on:\n%s\n' "${bad}" >&2
  exit 1
fi

bad=$(go list -deps -test celador.io/admission/cel/... | grep -E '^celador\.io/' |
  grep -vE '^celador\.io/admission/(cel|panics)([/. ]|$)' || true)
if [[ -n "${bad}" ]]; then
  printf 'celador.io/admission/cel must not depend on:\n%s\n' "${bad}" >&2
  exit 1
fi

bad=$(go list -f '{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}' ./... |
  awk '$2 ~ "^celador.io/celador/cmd/" && $1 !~ "^celador.io/celador/cmd/"')
if [[ -n "${bad}" ]]; then
  printf 'commands must not be imported:\n%s\n' "${bad}" >&2
  exit 1
fi
