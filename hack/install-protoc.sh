#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs protoc if it is missing. Only the generation of code and its verification need it.

set -o errexit -o nounset -o pipefail

if command -v protoc >/dev/null; then
  exit 0
fi
if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq protobuf-compiler >/dev/null
fi
if ! command -v protoc >/dev/null; then
  echo "protoc is missing: install protobuf-compiler (Debian, Ubuntu), protobuf (Homebrew, Fedora: protobuf-compiler) and try again" >&2
  exit 1
fi
