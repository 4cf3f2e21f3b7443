#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Creates a kind cluster with Kubernetes' own API server, installs the polyfill from deploy/webhook, shows that a policy denies a Deployment and that no
# write fails while the Pods are replaced, uninstalls it, and deletes the cluster. It needs Docker. make webhook-image and bin/celador come first.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly example=examples/replica-limit namespace=celador-system
work=$(mktemp -d)
writer=''
kind() { go run "sigs.k8s.io/kind@$(cd test/e2e/kind && GOWORK=off go list -m -f '{{.Version}}' sigs.k8s.io/kind)" "$@"; }
kubectl() { bin/celador kubectl --kubeconfig "${work}/kubeconfig" "$@"; }
cleanup() {
  [[ -z "${writer}" ]] || kill "${writer}" 2>/dev/null || true
  kind delete cluster --name celador-webhook
  rm -rf "${work}"
}
trap cleanup EXIT
write() { kubectl create --dry-run=server -f "${example}/deployment-$1.yaml"; }
# The policies of the example, as those of the polyfill.
policies() { sed 's#admissionregistration.k8s.io/v1#policy.celador.io/v1#' "${example}/policy.yaml"; echo ---; sed 's#admissionregistration.k8s.io/v1#policy.celador.io/v1#' "${example}/binding.yaml"; }

kind create cluster --name celador-webhook --kubeconfig "${work}/kubeconfig" --wait 2m
kind load image-archive _output/celador-webhook.tar --name celador-webhook
kubectl apply --server-side -f deploy/webhook/chart/crds
kubectl apply -f deploy/webhook/manifests/webhook.yaml
kubectl --namespace "${namespace}" rollout status deployment/celador-webhook --timeout 3m

kubectl apply -f "${example}/namespace.yaml"
policies | kubectl apply -f -
deadline=$((SECONDS + 60))
while write denied; do
  if ((SECONDS >= deadline)); then
    echo "the policy did not deny the Deployment within a minute" >&2
    exit 1
  fi
done

while write admitted >/dev/null 2>>"${work}/failed"; do :; done &
writer=$!
kubectl --namespace "${namespace}" rollout restart deployment/celador-webhook
kubectl --namespace "${namespace}" rollout status deployment/celador-webhook --timeout 5m
if ! kill -0 "${writer}" 2>/dev/null; then
  echo "a write failed while the Pods were replaced:" >&2
  cat "${work}/failed" >&2
  exit 1
fi
kill "${writer}"
writer=''
if write denied; then
  echo "the new Pods did not deny the Deployment" >&2
  exit 1
fi

kubectl apply -f deploy/webhook/manifests/uninstall.yaml
kubectl --namespace "${namespace}" wait --for condition=complete job/celador-webhook-uninstall --timeout 2m
kubectl delete -f deploy/webhook/manifests/webhook.yaml
write denied
echo "the polyfill denies as the policy says, no write failed while its Pods were replaced, and nothing is left of it"
