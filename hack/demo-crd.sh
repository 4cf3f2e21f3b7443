#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Starts a server with the feature gates of custom resources, and shows a Certificate in both versions, an update through
# the other version, a definition that the server refuses, and defaults. With --keep, the server runs until Ctrl-C.

source "$(dirname "${BASH_SOURCE[0]}")/demo-server.sh"

readonly certificates=examples/crd-certificate defaults=examples/crd-defaults
readonly v1=certificates.v1.certs.example.com v1alpha2=certificates.v1alpha2.certs.example.com

# Shows the spec of an object.
spec() { kubectl get "$1" "$2" -o jsonpath='{.spec}' && echo; }

start -- --feature-gates=CustomResourceConversionRules=true,CustomResourceDefaultExpressions=true

say "Defining Certificates with two versions and rules that convert between them"
kubectl apply -f "${certificates}/definition.yaml"
kubectl wait --for=condition=Established --timeout=30s crd/certificates.certs.example.com
eventually kubectl get "${v1}"

say "A Certificate that was created in v1alpha2, in both versions"
kubectl apply -f "${certificates}/web-v1alpha2.yaml"
echo "v1alpha2:" && spec "${v1alpha2}" web
echo "v1:" && spec "${v1}" web

say "An update in v1 is visible in v1alpha2"
kubectl patch "${v1}" web --type=merge -p '{"spec": {"privateKey": {"algorithm": "ECDSA", "size": 384}}}'
algorithm=$(kubectl get "${v1alpha2}" web -o jsonpath='{.spec.keyAlgorithm} {.spec.keySize}')
echo "keyAlgorithm keySize: ${algorithm}"
if [[ "${algorithm}" != "ecdsa 384" ]]; then
  echo "the update was not converted" >&2
  exit 1
fi

say "A rule with a misspelled field is refused"
if sed 's/self.spec.keySize/self.spec.keySzie/' "${certificates}/definition.yaml" | kubectl apply -f -; then
  echo "the server did not refuse the rule" >&2
  exit 1
fi

say "Defaults that depend on other fields"
kubectl apply -f "${defaults}/definition.yaml"
kubectl wait --for=condition=Established --timeout=30s crd/exposures.net.example.com
eventually kubectl get exposures
kubectl apply -f "${defaults}/minimal.yaml"
spec exposures shop

keep "${1:-}" "${v1alpha2}"
