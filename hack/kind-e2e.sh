#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Creates a kind cluster as docs/kind.md says, shows that a policy denies a Deployment and that controllers and kubelet work with the server, and deletes the cluster.
# It needs Docker. CGO_ENABLED=0 make build comes first.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly example=examples/replica-limit
work=$(mktemp -d)
kind() { go run "sigs.k8s.io/kind@$(cd test/e2e/kind && GOWORK=off go list -m -f '{{.Version}}' sigs.k8s.io/kind)" "$@"; }
kubectl() { bin/celador kubectl --kubeconfig "${work}/kubeconfig" "$@"; }
cleanup() {
  kind delete cluster --name celador
  rm -rf "${work}"
}
trap cleanup EXIT

kind create cluster --config examples/kind/cluster.yaml --kubeconfig "${work}/kubeconfig" --wait 2m
kubectl get --raw /version | grep -F +celador
kubectl apply -f "${example}/namespace.yaml" -f "${example}/policy.yaml" -f "${example}/binding.yaml"
deadline=$((SECONDS + 60))
while kubectl create --dry-run=server -f "${example}/deployment-denied.yaml"; do
  if ((SECONDS >= deadline)); then
    echo "the policy did not deny the Deployment within a minute" >&2
    exit 1
  fi
done
kubectl create deployment pause --image registry.k8s.io/pause:3.10
kubectl rollout status deployment pause --timeout 2m
echo "the cluster runs pods, and denies as the policy says"
