#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Puts promtool and jsonnet into _output/bin if they are missing. Only the verification of deploy/ needs them.
# Debian's packages are unpacked, not installed, because the installation of prometheus starts a server.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# unpack puts a command of a Debian package into _output/bin.
unpack() {
  local package=$1 tool=$2 dir
  dir=$(mktemp -d)
  if (cd "${dir}" && apt-get download -qq -o APT::Sandbox::User=root "${package}" && dpkg-deb --extract "${package}"_*.deb .); then
    mkdir -p _output/bin
    mv "${dir}/usr/bin/${tool}" _output/bin/
  fi
  rm -rf "${dir}"
}

updated=
for tool in promtool:prometheus jsonnet:jsonnet; do
  package=${tool#*:} tool=${tool%:*}
  if command -v "${tool}" >/dev/null || [[ -x "_output/bin/${tool}" ]]; then
    continue
  fi
  if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    if [[ -z "${updated}" && "$(id -u)" == 0 ]]; then
      apt-get update -qq
      updated=true
    fi
    unpack "${package}" "${tool}"
  fi
  if [[ ! -x "_output/bin/${tool}" ]]; then
    echo "${tool} is missing: install ${package} (Debian, Ubuntu, Homebrew) and try again" >&2
    exit 1
  fi
done
