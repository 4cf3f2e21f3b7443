#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Installs Chromium if it is missing. Only the test of the page of celador playground needs it.

set -o errexit -o nounset -o pipefail

installed() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null

if installed; then
  exit 0
fi
if [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
if ! installed; then
  echo "chromium is missing: install chromium (Debian, Fedora), chromium-browser (Ubuntu) or Google Chrome and try again" >&2
  exit 1
fi
