#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs bin/celador audit against Kubernetes' kube-apiserver of the release in the first argument, by default one of the oldest minor version that
# docs/auditing.md names.

# shellcheck source=hack/demo-server.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-server.sh"

release=${1:-1.30.14}
say "Building kube-apiserver ${release}"
program=$(hack/stock-apiserver.sh "${release}")
go build -o _output/skew/etcd go.etcd.io/etcd/server/v3

say "Starting it"
port=$((20000 + RANDOM % 10000))
etcd=http://127.0.0.1:$((port + 1)) peer=http://127.0.0.1:$((port + 2))
_output/skew/etcd --data-dir "${work}/etcd" --listen-client-urls "${etcd}" --advertise-client-urls "${etcd}" \
  --listen-peer-urls "${peer}" --initial-advertise-peer-urls "${peer}" --initial-cluster "default=${peer}" >"${work}/etcd.log" 2>&1 &
storage=$!
trap 'cleanup; kill "${storage}"' EXIT
openssl genrsa -out "${work}/key" 2048
echo 'token,admin,1,system:masters' >"${work}/tokens"
"${program}" --etcd-servers "${etcd}" --bind-address 127.0.0.1 --secure-port "${port}" --cert-dir "${work}" --token-auth-file "${work}/tokens" \
  --authorization-mode RBAC --service-account-issuer https://skew.example.com --service-account-key-file "${work}/key" --service-account-signing-key-file "${work}/key" 2>"${work}/log" &
server=$!
kubectl config set-cluster skew --server "https://127.0.0.1:${port}" --insecure-skip-tls-verify
kubectl config set-credentials admin --token token
kubectl config set-context skew --cluster skew --user admin
kubectl config use-context skew
eventually kubectl get --raw /readyz
kubectl get --raw /version

say "Creating objects, and then a policy that one of them violates"
kubectl apply -f examples/replica-limit/namespace.yaml -f examples/replica-limit/deployment-admitted.yaml -f examples/replica-limit/deployment-denied.yaml
for kind in Report ClusterReport; do
  [[ "${kind}" == Report ]] && scope=Namespaced || scope=Cluster
  kubectl apply -f - <<<"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ${kind,,}s.openreports.io}, spec: {group: openreports.io, scope: ${scope},
    names: {plural: ${kind,,}s, kind: ${kind}}, versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}"
done
kubectl wait --for condition=Established crd --all
sleep 1 # creation times are in seconds
kubectl apply -f examples/replica-limit/policy.yaml -f examples/replica-limit/binding.yaml

# check CODE TEXT ARGUMENT... audits with the arguments, and compares the exit code and a text of the output.
check() {
  say "celador audit ${*:3}"
  local code=0
  bin/celador audit --kubeconfig "${work}/kubeconfig" "${@:3}" | tee "${work}/found" || code=$?
  grep --quiet "$2" "${work}/found" && ((code == $1)) || { echo "exit code ${code}, want $1 and ${2}" >&2; return 1; }
}
check 1 web-denied
check 1 web-denied -f examples/replica-limit/policy.yaml
check 1 web-denied -f examples/replica-limit/policy.yaml --cluster-policies -n demo -o json
check 0 'Violations: 0' -l app=none
check 0 'Violations: 0' --since-binding
check 1 celador-audit -o openreports --apply
kubectl get reports.openreports.io -n demo celador-audit -o yaml | grep web-denied
