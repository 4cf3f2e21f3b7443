// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/pkg/offlinebackend"
)

// Each kind's converter merges as the converter of all kinds does: fields have the same owners.
func TestTypeConverters(t *testing.T) {
	base := cluster.NewBase(offlinebackend.KubeAPIServer)
	all := applyconfigurations.NewTypeConverter(builtintypes.Scheme())
	for name, text := range map[string]string{
		"keyed, set and atomic lists": `
apiVersion: v1
kind: Pod
metadata:
  finalizers: [a, b]
  ownerReferences: [{apiVersion: v1, kind: Node, name: node1, uid: u}]
spec:
  nodeSelector: {a: b}
  tolerations: [{key: a}]
  volumes: [{name: v, emptyDir: {}}]
  containers:
  - name: web
    args: [a]
    ports: [{containerPort: 80, protocol: TCP}]
    resources: {limits: {cpu: 1}}
    env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]
`,
		"atomic map": `
apiVersion: apps/v1
kind: Deployment
spec:
  selector: {matchLabels: {a: b}}
  strategy: {rollingUpdate: {maxSurge: 1}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			o := clustertest.Object(t, text)
			own := fields(t, base.GetTypeConverter(o.GroupVersionKind()), o)
			if want := fields(t, all, o); !own.Equals(want) {
				t.Errorf("fields differ by %s and %s", own.Difference(want), want.Difference(own))
			}
		})
	}
	definition := clustertest.Object(t, clustertest.Widgets)
	fields(t, base.GetTypeConverter(definition.GroupVersionKind()), definition)
	if c := base.GetTypeConverter(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}); c != nil {
		t.Error("a custom kind has a converter")
	}
}

func fields(t *testing.T, c managedfields.TypeConverter, object runtime.Object) *fieldpath.Set {
	t.Helper()
	typed, err := c.ObjectToTyped(object)
	if err != nil {
		t.Fatal(err)
	}
	set, err := typed.ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	return set
}
