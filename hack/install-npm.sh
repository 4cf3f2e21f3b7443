#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs npm if it is missing. Only the bundle of celador playground and its verification need it.

set -o errexit -o nounset -o pipefail

if command -v npm >/dev/null; then
  exit 0
fi
if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null
fi
if ! command -v npm >/dev/null; then
  echo "npm is missing: install nodejs and npm and try again" >&2
  exit 1
fi
