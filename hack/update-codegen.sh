#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Regenerates all generated code with the tools of go.mod. Needs protoc, and installs Debian's
# protobuf-compiler if protoc is missing and apt-get is available.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

readonly header=hack/boilerplate.go.txt
readonly staging="${PWD}/staging/src"
readonly api=celador.io/api
readonly hub=celador.io/celador/pkg/apis/admissionregistration
readonly crd_hub=celador.io/apiextensions-apiserver/pkg/apis/apiextensions
readonly crd_conversions=${crd_hub}/v1
readonly client=celador.io/client-go
readonly defaults=celador.io/admission/defaults
readonly example=celador.io/celador/examples/aggregated-apiserver/bakery/v1
readonly versions=(v1 v1beta1 v1alpha1)
readonly policies=("${versions[@]/#/${api}/admissionregistration/}")
readonly group_versions=("${policies[@]}" "${api}/apiextensions/v1")

hack/install-protoc.sh

work=$(mktemp -d)
trap 'rm -rf "${work}"' EXIT
mkdir -p "${work}/bin"
# The tools of go.mod come first in PATH, for tools that run other tools.
export PATH="${work}/bin:${PATH}"
for tool in deepcopy-gen defaulter-gen conversion-gen client-gen lister-gen informer-gen \
  applyconfiguration-gen go-to-protobuf protoc-gen-gogo goimports openapi-gen prerelease-lifecycle-gen; do
  go build -o "${work}/bin/${tool}" "$(go tool -n "${tool}" >/dev/null && go list -f '{{.ImportPath}}' tool | grep "/${tool}$")"
done

echo "== protobuf"
# protoc finds imported .proto files by Go import path.
mkdir -p "${work}/proto/k8s.io" "${work}/proto/github.com/gogo"
for module in k8s.io/apimachinery github.com/gogo/protobuf; do
  ln -s "$(go list -m -f '{{.Dir}}' "${module}")" "${work}/proto/${module}"
done
apimachinery=k8s.io/apimachinery/pkg
go-to-protobuf --go-header-file "${header}" --output-dir "${staging}" --proto-import "${work}/proto" \
  --apimachinery-packages "-${apimachinery}/util/intstr,-${apimachinery}/api/resource,-${apimachinery}/runtime/schema,-${apimachinery}/runtime,-${apimachinery}/apis/meta/v1" \
  --packages "$(IFS=,; echo "${group_versions[*]}")"

echo "== deepcopy"
deepcopy-gen --go-header-file "${header}" --output-file zz_generated.deepcopy.go "${group_versions[@]}" "${hub}" "${crd_hub}" "${example}"

echo "== lifecycle"
prerelease-lifecycle-gen --go-header-file "${header}" --output-file zz_generated.prerelease-lifecycle.go "${group_versions[@]}"

echo "== conversion and defaults"
for version in "${versions[@]}"; do
  conversion-gen --go-header-file "${header}" --output-file zz_generated.conversion.go "${hub}/${version}"
done
conversion-gen --go-header-file "${header}" --output-file zz_generated.conversion.go "${crd_conversions}"
# conversion-gen names functions after the last path elements of the two packages, which are both v1. In the name of each
# function, the v1 that belongs to upstream's type becomes upstream.
generated="${staging}/${crd_conversions}/zz_generated.conversion.go"
awk '
  $2 == "\"celador.io/api/apiextensions/v1\"" { ours = "*" $1 "." }
  $2 == "\"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1\"" { theirs = "*" $1 "." }
  /^\/\/ Convert_/ { comment = $0 "\n"; next }
  /^func (autoC|C)onvert_|AddGeneratedConversionFunc/ { from_upstream = index($0, theirs) < index($0, ours) }
  {
    $0 = comment $0
    if (from_upstream) gsub(/onvert_v1_/, "onvert_upstream_"); else gsub(/_To_v1_/, "_To_upstream_")
    print
    comment = ""
  }' "${generated}" >"${work}/conversion.go"
cp "${work}/conversion.go" "${generated}"
# The alpha and beta versions take the defaults of v1, which belong to the engine, and add their own.
defaulter-gen --go-header-file "${header}" --output-file zz_generated.defaults.go "${defaults}"
for version in v1beta1 v1alpha1; do
  defaulter-gen --go-header-file "${header}" --output-file zz_generated.defaults.go --extra-peer-dirs "${defaults}" "${hub}/${version}"
done

echo "== openapi"
openapi-gen --go-header-file "${header}" --output-dir pkg/generated/openapi --output-pkg celador.io/celador/pkg/generated/openapi \
  --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go \
  --report-filename api/api-rules/violation_exceptions.list \
  --readonly-pkg "${apimachinery}/apis/meta/v1" --readonly-pkg "${apimachinery}/runtime" --readonly-pkg "${apimachinery}/version" \
  "${group_versions[@]}" "${apimachinery}/apis/meta/v1" "${apimachinery}/runtime" "${apimachinery}/version"
# applyconfiguration-gen names models after Go packages. The models have Kubernetes' names, because
# fake clients look them up by those names.
while read -r model go_model; do
  echo "s/io\.${model//./\\.}\./io.${go_model}./g" >>"${work}/to_go.sed"
  echo "s/io\.${go_model//./\\.}\./io.${model}./g" >>"${work}/from_go.sed"
done <<'EOM'
k8s.api.admissionregistration celador.api.admissionregistration
k8s.apiextensions-apiserver.pkg.apis.apiextensions celador.api.apiextensions
EOM
go run ./pkg/generated/openapi/cmd/models-schema | sed -f "${work}/to_go.sed" >"${work}/schema.json"

echo "== clients"
for dir in applyconfigurations clientset informers listers; do rm -rf "${staging}/${client:?}/${dir}"; done
applyconfiguration-gen --go-header-file "${header}" --openapi-schema "${work}/schema.json" \
  --output-dir "${staging}/${client}/applyconfigurations" --output-pkg "${client}/applyconfigurations" \
  "${group_versions[@]}"
find "${staging}/${client}/applyconfigurations" -name '*.go' -exec sed -i -f "${work}/from_go.sed" {} +
client-gen --go-header-file "${header}" --clientset-name clientset \
  --output-dir "${staging}/${client}" --output-pkg "${client}" \
  --apply-configuration-package "${client}/applyconfigurations" \
  --input-base "${api}" $(printf -- '--input %s ' "${group_versions[@]#"${api}/"}") \
  --prefers-protobuf
lister-gen --go-header-file "${header}" --output-dir "${staging}/${client}/listers" --output-pkg "${client}/listers" "${group_versions[@]}"
informer-gen --go-header-file "${header}" --output-dir "${staging}/${client}/informers" --output-pkg "${client}/informers" \
  --single-directory --versioned-clientset-package "${client}/clientset" --listers-package "${client}/listers" "${group_versions[@]}"

echo "== CustomResourceDefinitions of the polyfill"
go run ./pkg/generated/openapi/cmd/polyfill-crds deploy/webhook/chart/crds

echo "== API documents"
UPDATE_API=1 go test -count=1 ./test/integration/startup -run '^TestDocuments$'
