#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Starts a server, creates the example policy, and shows a request that it admits and one that it
# denies. With --keep, the server runs until Ctrl-C.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly example=examples/replica-limit
keep=false
[[ "${1:-}" == --keep ]] && keep=true

work=$(mktemp -d)
server=
cleanup() {
  if [[ -n "${server}" ]]; then
    kill "${server}" 2>/dev/null || true
    wait "${server}" || true
  fi
  rm -rf "${work}"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
kubectl() { bin/celador kubectl --kubeconfig "${work}/kubeconfig" "$@"; }

# Retries a command until it succeeds, for at most 30 seconds.
eventually() {
  local deadline=$((SECONDS + 30))
  until "$@" >/dev/null 2>&1; do
    if ! kill -0 "${server}" 2>/dev/null; then
      echo "the server has ended" >&2
      return 1
    fi
    if ((SECONDS >= deadline)); then
      echo "gave up after 30 s: $*" >&2
      return 1
    fi
    read -r -t 0.1 <> <(:) || true
  done
}
denied() { ! kubectl create --dry-run=server -f "${example}/deployment-denied.yaml"; }

say "Starting a server"
bin/celador serve --data-dir "${work}" --secure-port 0 &
server=$!
eventually kubectl get --raw /readyz

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

if [[ "${keep}" == true ]]; then
  trap 'exit 0' INT TERM
  say "Serving until Ctrl-C. In another terminal:"
  echo "bin/celador kubectl --kubeconfig ${work}/kubeconfig get validatingadmissionpolicies"
  wait "${server}"
fi
