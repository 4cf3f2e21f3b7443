#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Starts a server, creates the example policy, and shows a request that it admits and one that it
# denies. With --keep, the server runs until Ctrl-C.

source "$(dirname "${BASH_SOURCE[0]}")/demo-server.sh"

readonly example=examples/replica-limit
denied() { ! kubectl create --dry-run=server -f "${example}/deployment-denied.yaml"; }

start

say "Putting the policy into effect"
kubectl apply -f "${example}/namespace.yaml" -f "${example}/policy.yaml" -f "${example}/binding.yaml"
eventually denied
kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings

say "A Deployment with 3 replicas is admitted"
kubectl create -f "${example}/deployment-admitted.yaml"

say "A Deployment with 6 replicas is denied"
if kubectl create -f "${example}/deployment-denied.yaml"; then
  echo "the policy did not deny the Deployment" >&2
  exit 1
fi

keep "${1:-}" validatingadmissionpolicies
