// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
)

// unservedParamKind returns an error if a policy rejected the request because the cluster does not
// serve its paramKind. The policy then rejects every request, which shows nothing about its rules,
// so the case lacks a manifest.
func unservedParamKind(created *cluster.Cluster, objects []object, response *cluster.Response) error {
	for _, p := range response.Policies {
		if p.Effect != cluster.Failed {
			continue
		}
		for _, o := range named(objects, p.Kind, "", p.Policy) {
			kind, found, _ := unstructured.NestedStringMap(o.content.Object, "spec", "paramKind")
			if !found {
				continue
			}
			param := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind["apiVersion"], "kind": kind["kind"]}}
			if _, err := created.Locate(param); err != nil {
				return o.document.Errorf("spec.paramKind", "%v", err)
			}
		}
	}
	return nil
}
