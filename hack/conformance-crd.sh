#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the integration tests of k8s.io/apiextensions-apiserver against Celador's server of custom resources. The tests
# are those of the module's version in go.mod, unchanged: this script copies the module and changes only the call that
# builds the server. Arguments are passed to test/e2e/conformance-crd.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The path is the same in each run, so that the build cache serves the copy. go build -overlay would need no copy, but
# does not replace files of the module cache.
workspace=_output/conformance-crd
module=${workspace}/apiextensions-apiserver
source=$(go list -m -f '{{.Dir}}' k8s.io/apiextensions-apiserver)
echo "copying ${source} to ${module}"
rm -rf "${workspace}"
mkdir -p "${workspace}"
cp -r --no-preserve=mode "${source}" "${module}"

# once fails unless exactly one line of Go code in a directory of the module contains a text.
once() {
  local found
  found=$(grep -rnF --include='*.go' -e "$1" "${@:2}" || true)
  if [[ $(grep -c . <<<"${found}") != 1 ]]; then
    printf 'want one line with %s in %s, got:\n%s\nadapt hack/conformance-crd.sh to the new version of the module\n' \
      "$1" "${*:2}" "${found:-none}" >&2
    exit 1
  fi
}
testing=${module}/pkg/cmd/server/testing
once 'completedConfig.New(' "${testing}"
once '.New(genericapiserver.' "${testing}" "${module}/test"
once 'import (' "${testing}/testserver.go"
sed -i -e 's|completedConfig\.New(|celador.New(completedConfig, |' \
  -e 's|^import ($|&\n\tcelador "celador.io/apiextensions-apiserver/pkg/apiserver"|' "${testing}/testserver.go"
once 'celador.New(completedConfig, genericapiserver.' "${testing}"
once 'celador "celador.io/apiextensions-apiserver/pkg/apiserver"' "${testing}"

# The versions of all other modules are those of the root module.
sed -e "s|^\t\./*|\t../../|" -e "s|^use (\$|&\n\t./apiextensions-apiserver|" go.work >"${workspace}/go.work"
cp go.work.sum "${workspace}"

go build -o bin/conformance-crd ./test/e2e/conformance-crd
# exec replaces the shell, so the command receives signals itself and stops the processes that it
# has started.
exec bin/conformance-crd --module="${module}" "$@"
