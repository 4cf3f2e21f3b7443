// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

// Objects of any shape give a response or an error, and never a panic.
func FuzzAdmit(f *testing.F) {
	f.Add(pod, pod, "UPDATE", "")
	f.Add(pod, pod, "CONNECT", "exec")
	f.Add("apiVersion: v1\nkind: Service\nmetadata: {name: 1}\nspec: []", "", "CREATE", "")
	f.Add("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, labels: 1}", "", "CREATE", "status")
	f.Add("apiVersion: apps/v1\nkind: Deployment\nmetadata: null", "kind: 1", "DELETE", "scale")
	c := clustertest.New(f, offlinebackend.KubeAPIServer, clustertest.Replicas+"---\n"+clustertest.Widgets)
	f.Fuzz(func(t *testing.T, text, oldText, operation, subresource string) {
		request := &cluster.Request{Operation: admission.Operation(operation), Subresource: subresource}
		for text, target := range map[string]**unstructured.Unstructured{text: &request.Object, oldText: &request.OldObject} {
			object := &unstructured.Unstructured{}
			if yaml.Unmarshal([]byte(text), &object.Object) == nil && object.Object != nil {
				*target = object
			}
		}
		if response, err := c.Admit(t.Context(), request); (response == nil) == (err == nil) {
			t.Errorf("response is %v, error is %v", response, err)
		}
	})
}
