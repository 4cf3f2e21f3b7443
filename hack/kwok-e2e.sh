#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Creates a cluster of kwok as docs/kwok.md says, and shows that a policy denies a Deployment and that kwok's nodes run pods. make kwok-e2e builds the binaries.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly version=v0.8.0 example=examples/replica-limit
export GOBIN=${PWD}/_output/kwok
GOWORK=off go install "sigs.k8s.io/kwok/cmd/kwok@${version}" "sigs.k8s.io/kwok/cmd/kwokctl@${version}"
KWOK_WORKDIR=$(mktemp -d)
export KWOK_WORKDIR KUBECONFIG=${KWOK_WORKDIR}/kubeconfig
kwokctl() { "${GOBIN}/kwokctl" --name celador "$@"; }
kubectl() { bin/celador kubectl "$@"; }
cleanup() {
  kwokctl delete cluster
  rm -rf "${KWOK_WORKDIR}"
}
trap cleanup EXIT
eventually() {
  local deadline=$((SECONDS + 60))
  until "$@"; do
    if ((SECONDS >= deadline)); then
      echo "gave up after 60 s: $*" >&2
      return 1
    fi
    read -r -t 0.2 <> <(:) || true
  done
}
denied() { ! kubectl create --dry-run=server -f "${example}/deployment-denied.yaml" >/dev/null 2>&1; }

kwokctl create cluster --runtime binary --kube-apiserver-binary "${PWD}/bin/kube-apiserver" --kube-controller-manager-binary "${PWD}/bin/kube-controller-manager" \
  --etcd-binary "${PWD}/bin/etcd" --kwok-controller-binary "${GOBIN}/kwok" --disable kube-scheduler --wait 1m
kubectl get --raw /version | grep -F +celador
kwokctl scale node --replicas 2
kubectl apply -f "${example}/namespace.yaml" -f "${example}/policy.yaml" -f "${example}/binding.yaml"
eventually denied
kubectl create -f "${example}/deployment-admitted.yaml"
eventually kubectl get serviceaccount default
# There is no scheduler.
kubectl run web --image example.com/web --overrides '{"spec": {"nodeName": "node-000000"}}'
kubectl wait --for condition=Ready pod/web --timeout 1m
echo "kwok runs the pod, and the policy denies"
