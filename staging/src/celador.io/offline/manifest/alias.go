// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import nodes "go.yaml.in/yaml/v3"

// maxAliased is the maximum size of the values that the aliases of a document stand for, in bytes.
// A short document can have aliases that stand for gigabytes. API servers do not accept larger
// requests.
const maxAliased = 3 << 20

// aliases has the sizes of the values that aliases stand for, with all aliases in them resolved, by
// the nodes of the values.
type aliases map[*nodes.Node]int

// below returns the size of the values that the aliases in node stand for. It stops counting above
// maxAliased, because the document is rejected then.
func (a aliases) below(node *nodes.Node) int {
	if node.Kind == nodes.AliasNode {
		return a.size(node.Alias)
	}
	total := 0
	for _, child := range node.Content {
		if total += a.below(child); total > maxAliased {
			break
		}
	}
	return total
}

// size returns the size of a value with all aliases in it resolved.
func (a aliases) size(node *nodes.Node) int {
	if node.Kind == nodes.AliasNode {
		return a.size(node.Alias)
	}
	if size, found := a[node]; found {
		return size
	}
	// A value that contains itself, which is not valid, has no end, so it counts as too large.
	a[node] = maxAliased + 1
	total := len(node.Value) + len(`"",`)
	for _, child := range node.Content {
		if total += a.size(child); total > maxAliased {
			total = maxAliased + 1
			break
		}
	}
	a[node] = total
	return total
}
