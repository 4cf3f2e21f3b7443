// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
)

// unservedKind returns an error if a policy rejected the request, and the cluster does not serve
// its paramKind or a kind that it looks up. The policy then rejects every request, which shows
// nothing about its rules, so the case lacks a manifest.
func unservedKind(created *cluster.Cluster, objects []object, response *cluster.Response) error {
	for _, p := range response.Policies {
		if p.Effect != cluster.Failed {
			continue
		}
		for _, o := range named(objects, p.Kind, "", p.Policy) {
			for path, kind := range sorted(o.readKinds()) {
				if _, err := created.Locate(kind); err != nil {
					return o.document.Errorf(path, "%v", err)
				}
			}
		}
	}
	return nil
}

// readKinds returns the paramKind of a policy and the kinds that it looks up, by the paths of the
// fields that name them. Each kind is in the form of an object that has only apiVersion and kind.
func (o object) readKinds() map[string]*unstructured.Unstructured {
	kinds := map[string]*unstructured.Unstructured{}
	add := func(path string, field any) {
		if fields, ok := field.(map[string]any); ok {
			kinds[path] = &unstructured.Unstructured{Object: map[string]any{"apiVersion": fields["apiVersion"], "kind": fields["kind"]}}
		}
	}
	param, _, _ := unstructured.NestedFieldNoCopy(o.content.Object, "spec", "paramKind")
	add("spec.paramKind", param)
	lookups, _, _ := unstructured.NestedSlice(o.content.Object, "spec", "lookups")
	for i, lookup := range lookups {
		add(fmt.Sprintf("spec.lookups[%d]", i), lookup)
	}
	return kinds
}
