#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints the memory of a replica of bin/celador-webhook that has had 100 policies and no requests for two minutes.

# shellcheck source=hack/demo-server.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-server.sh"

start
say "Creating 100 policies"
kubectl apply --server-side -f deploy/webhook/chart/crds
kubectl wait --for condition=Established crd --all
kubectl create namespace celador-system
kubectl create clusterrole celador-webhook:celador-system --verb get --resource namespaces # the owner of the webhook configurations
bin/celador convert --to polyfill examples/replica-limit/policy.yaml examples/replica-limit/binding.yaml >"${work}/policy"
for i in {1..100}; do
  sed "s/demo-policy/policy-${i}/; s/demo-binding/binding-${i}/; s/<= 5/<= ${i}/" "${work}/policy"
  echo ---
done | kubectl create -f -

say "Starting a replica"
health=127.0.0.1:$((20000 + RANDOM % 10000))
bin/celador-webhook --kubeconfig "${work}/kubeconfig" --namespace celador-system --bind-address 127.0.0.1 --health-bind-address "${health}" 2>"${work}/webhook.log" &
replica=$!
trap 'kill "${replica}"; cleanup' EXIT
eventually curl --fail --silent "http://${health}/readyz"
sleep 120
say "Resident memory of the replica"
awk '/^VmRSS:/ {printf "%.0f MiB\n", $2 / 1024}' "/proc/${replica}/status"
