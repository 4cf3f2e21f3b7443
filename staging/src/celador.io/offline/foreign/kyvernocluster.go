// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A kyvernoClusterResource is a document in one of the files that the test lists in
// clusterResources.
type kyvernoClusterResource struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       struct {
		CRDs      []string          `json:"crds"` // files
		Resources []json.RawMessage `json:"resources"`
	} `json:"spec"`
}

// clusterResources adds the objects in the files of spec.clusterResources to the manifests, except
// for those that requests create or change.
func (k *kyvernoSuite) clusterResources() {
	for i, file := range k.spec.ClusterResources {
		for _, document := range k.read(fmt.Sprintf("clusterResources[%d]", i), k.path(file)) {
			cluster := &kyvernoClusterResource{}
			if !k.check(document.Decode(cluster)) {
				continue
			}
			for _, definition := range k.files(fmt.Sprintf("clusterResources[%d]", i), cluster.Spec.CRDs) {
				k.manifest(definition)
			}
			for j, raw := range cluster.Spec.Resources {
				o := k.decoded(document.Field(fmt.Sprintf("spec.resources[%d]", j), raw))
				if o != nil && !slices.ContainsFunc(k.resources, o.is) {
					k.manifest(o)
				}
			}
		}
	}
}

// is reports whether other has the same kind, namespace and name.
func (o *object) is(other *object) bool {
	return o.GroupVersionKind().GroupKind() == other.GroupVersionKind().GroupKind() && o.GetNamespace() == other.GetNamespace() && o.GetName() == other.GetName()
}
