#!/usr/bin/env bash
# Copyright 2026 The Celador Authors.
# SPDX-License-Identifier: Apache-2.0

# Prints the changes of a version up to a commit: the subjects of the commits since the tag before it, by the part of the tree
# that they change most files of. Without such a tag, it prints those of all commits.
# Usage: hack/changelog.sh VERSION [COMMIT]

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$1
commit=$(git rev-parse --short=12 "${2:-HEAD}^{commit}")
previous=$(git describe --tags --abbrev=0 --match 'v*' --exclude "${version}" "${commit}" 2>/dev/null || true)

echo "# Celador ${version}"
echo
if [[ -n "${previous}" ]]; then
  echo "Changes since ${previous}, up to commit ${commit}."
else
  echo "The first release. Changes up to commit ${commit}."
fi
git log --no-merges --abbrev=12 --name-only --format='%x01%s (%h)' "${previous:+${previous}..}${commit}" | awk '
  # conclude adds the commit before the current line to the part that it changes most files of.
  function conclude(   title, most) {
    if (subject == "") return
    most = "Server"
    for (title in files) if (files[title] > files[most] + 0) most = title
    changes[most] = changes[most] "- " subject "\n"
    delete files
  }
  /^\001/ { conclude(); subject = substr($0, 2); next }
  /^$/ { next }
  /^staging\/src\/celador.io\/(admission|apiserver)\/|^plugin\// { files["Policies and webhooks"]++; next }
  /^staging\/src\/celador.io\/apiextensions-apiserver\// { files["Custom resources"]++; next }
  /^staging\/src\/celador.io\/offline\/|^cmd\/celador\// { files["The command celador"]++; next }
  /^api\/|^staging\/src\/celador.io\/(api|client-go)\// { files["API and clients"]++; next }
  /^docs\/|\.md$/ { files["Documentation"]++; next }
  /^(test|hack|\.ci)\/|^Makefile$/ { files["Tests and build"]++; next }
  { files["Server"]++ }
  END {
    conclude()
    number = split("Policies and webhooks|Custom resources|The command celador|API and clients|Server|Documentation|Tests and build", titles, "|")
    for (i = 1; i <= number; i++) if (titles[i] in changes) printf "\n## %s\n\n%s", titles[i], changes[titles[i]]
  }'
