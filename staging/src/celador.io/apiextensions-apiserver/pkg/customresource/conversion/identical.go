// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "k8s.io/apimachinery/pkg/api/equality"

// Identical reports whether objects differ in their apiVersion alone between two versions: the
// schemas are equal, also those in the middle of the chain, and no converter of the chain has a
// rule. Such a conversion cannot fail.
func (spec *Spec) Identical(from, to string) bool {
	if from == to {
		return true
	}
	schemas := map[string]Version{}
	var names []string
	for _, v := range spec.Versions {
		schemas[v.Name] = v
		names = append(names, v.Name)
	}
	g := newGraph(names, spec.Converters)
	chains := g.chains(from)[to]
	if len(chains) != 1 || schemas[from].Schema == nil {
		return false
	}
	for i, next := range chains[0][1:] {
		converter := spec.Converters[g.converters[pair{chains[0][i], next}]]
		if len(converter.Rules) > 0 || !equality.Semantic.DeepEqual(schemas[from].Schema, schemas[next].Schema) {
			return false
		}
	}
	return true
}
