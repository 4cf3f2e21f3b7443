#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs Kubernetes' own tests of x-kubernetes-validations against Celador's rules of custom resources. The tests are those of
# the version of k8s.io/apiextensions-apiserver in go.mod. This script copies them to a package of their own, next to the
# adapter of test/equivalence/validationrules. It leaves out the test of the costs that are estimated when a
# CustomResourceDefinition is written, which is Kubernetes' code in Celador too, and two cases that lower the cost limit of
# one call, which is a constant of Celador's. Arguments are passed to go test.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source=$(go list -m -f '{{.Dir}}' k8s.io/apiextensions-apiserver)/pkg/apiserver/schema/cel
package=_output/conformance-rules/cel
rm -rf "${package}"
mkdir -p "${package}"
cp test/equivalence/validationrules/cel/adapter.go "${package}"
cp --no-preserve=mode "${source}"/{validation,celcoststability}_test.go "${package}"
sed -i '/^func TestCelEstimatedCostStability/,$d' "${package}/celcoststability_test.go"
# The rest of the file uses no pointers.
sed -i '/"k8s.io\/utils\/ptr"$/d' "${package}/celcoststability_test.go"
# A variable that Kubernetes declares in a file with tests of other functions.
printf 'package cel\n\nvar stringSchema = stringType\n' >"${package}/schema_test.go"

exec go test -timeout 300s -skip '^TestCELValidationLimit$|^TestMessageExpression$/^per-call_limit_exceeded' "$@" "./${package}"
