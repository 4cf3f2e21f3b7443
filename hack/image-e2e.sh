#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Loads _output/kube-apiserver.tar into podman, runs it beside an etcd, and shows that a policy denies a Deployment. IMAGE is the name of the
# image. ETCD_PORT and PORT are ports of 127.0.0.1. PODMAN_FLAGS are flags of podman, and PODMAN_RUN_FLAGS of podman run, for machines with a special setup.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for tool in podman openssl; do
  command -v "${tool}" >/dev/null || { echo "${tool} is missing: install it and try again" >&2; exit 1; }
done

readonly example=examples/replica-limit image=${IMAGE} etcd_port=${ETCD_PORT:-12379} port=${PORT:-16443}
work=$(mktemp -d)
token=$(openssl rand -hex 16)
store='' container=''
cleanup() {
  [[ -z "${container}" ]] || run_podman rm --force --time 10 "${container}" >/dev/null || true
  [[ -z "${store}" ]] || kill "${store}" 2>/dev/null || true
  wait
  rm -rf "${work}"
}
trap cleanup EXIT

# shellcheck disable=SC2086 # several flags
run_podman() { podman ${PODMAN_FLAGS:-} "$@"; }
kubectl() { bin/celador kubectl --kubeconfig /dev/null --server "https://127.0.0.1:${port}" --token "${token}" --insecure-skip-tls-verify "$@"; }
denied() { ! kubectl create --dry-run=server -f "${example}/deployment-denied.yaml"; }
eventually() {
  local deadline=$((SECONDS + 120))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS >= deadline)); then
      echo "gave up after 120 s: $*" >&2
      run_podman logs --tail 20 "${container}" >&2 || true
      return 1
    fi
    read -r -t 0.2 <> <(:) || true
  done
}

bin/etcd --data-dir "${work}/etcd" --log-level fatal --listen-peer-urls http://127.0.0.1:0 --initial-advertise-peer-urls http://127.0.0.1:0 \
  --initial-cluster default=http://127.0.0.1:0 \
  --listen-client-urls "http://127.0.0.1:${etcd_port}" --advertise-client-urls "http://127.0.0.1:${etcd_port}" &
store=$!
mkdir "${work}/server"
openssl genrsa -out "${work}/server/service-account.key" 2048 2>/dev/null
echo "${token},admin,admin,system:masters" >"${work}/server/tokens.csv"

run_podman load --quiet --input _output/kube-apiserver.tar
# shellcheck disable=SC2086 # several flags
container=$(run_podman run --detach --network host --volume "${work}/server:/server:ro" ${PODMAN_RUN_FLAGS:-} "${image}" \
  --etcd-servers="http://127.0.0.1:${etcd_port}" --bind-address=127.0.0.1 --secure-port="${port}" --cert-dir=/tmp \
  --token-auth-file=/server/tokens.csv --authorization-mode=RBAC --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=/server/service-account.key \
  --service-account-signing-key-file=/server/service-account.key)

eventually kubectl get --raw /readyz
kubectl get --raw /version | grep gitVersion
kubectl apply -f "${example}/namespace.yaml" -f "${example}/policy.yaml" -f "${example}/binding.yaml"
eventually denied
kubectl create -f "${example}/deployment-admitted.yaml"
if kubectl create -f "${example}/deployment-denied.yaml"; then
  echo "the policy did not deny the Deployment" >&2
  exit 1
fi
echo "the server in ${image} admits and denies as the policy says"
