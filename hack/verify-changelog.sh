#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Verifies that CHANGELOG.md has the changes of this version up to the commit that it names. It cannot name the newest one, which
# would contain itself. A clone without the history or the tag before the version has nothing to compare with.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^VERSION := //p' Makefile)
commit=$(sed -n '3s/.* up to commit \([0-9a-f]*\)\.$/\1/p' CHANGELOG.md)
previous=$(sed -n '3s/^Changes since \(.*\), up to .*/\1/p' CHANGELOG.md)
if [[ "$(git rev-parse --is-shallow-repository 2>/dev/null)" != false ]]; then
  echo "not compared: this clone has no history"
  exit 0
fi
if [[ -n "${previous}" ]] && ! git rev-parse --quiet --verify "${previous}^{commit}" >/dev/null; then
  echo "not compared: this clone does not have the tag ${previous}"
  exit 0
fi
if ! git merge-base --is-ancestor "${commit}" HEAD || ! diff CHANGELOG.md <(hack/changelog.sh "${version}" "${commit}"); then
  echo "CHANGELOG.md is not that of ${version}: run make changelog" >&2
  exit 1
fi
