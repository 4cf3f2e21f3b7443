#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Functions of the demos, which source this file: a temporary server that ends with the script, and kubectl for it.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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

# Starts a server with the given flags of celador serve.
start() {
  say "Starting a server"
  bin/celador serve --data-dir "${work}" --secure-port 0 "$@" &
  server=$!
  eventually kubectl get --raw /readyz
}

# Waits for the end of the server, if the script was called with --keep.
keep() {
  if [[ "${1:-}" == --keep ]]; then
    trap 'exit 0' INT TERM
    say "Serving until Ctrl-C. In another terminal:"
    echo "bin/celador kubectl --kubeconfig ${work}/kubeconfig get ${2}"
    wait "${server}"
  fi
}
