// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"celador.io/celador/test/integration/testserver"
)

const (
	plural    = "widgets"
	kind      = "Widget"
	namespace = "default"

	// pollInterval is longer than testserver's because many pollers run at the same time.
	pollInterval = 50 * time.Millisecond
	deadline     = time.Minute
)

type definition = apiextensionsv1.CustomResourceDefinition

func definitions() definitionsclient.CustomResourceDefinitionInterface {
	return admin.Definitions.ApiextensionsV1().CustomResourceDefinitions()
}

// widgets returns a definition of widgets in a group, with versions in YAML. Each version without a
// schema gets counterSchema.
func widgets(t testing.TB, group, scope, versions string) *definition {
	t.Helper()
	crd := testserver.Parse[*definition](t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: %[2]s
  names: {kind: Widget, plural: widgets}
  versions: [%[3]s]
`, group, scope, versions))
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Schema == nil {
			v.Schema = counterSchema()
		}
	}
	return crd
}

// counterSchema returns a schema with field spec.counter.
func counterSchema() *apiextensionsv1.CustomResourceValidation {
	return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"counter": {Type: "integer"}}},
		},
	}}
}

// define creates a definition, waits until it is established, and deletes it at the end of the
// test.
func define(t testing.TB, crd *definition) {
	t.Helper()
	testserver.Create(t, definitions(), crd)
	if err := established(t.Context(), crd.Name); err != nil {
		t.Fatal(err)
	}
}

func established(ctx context.Context, name string) error {
	return eventually(ctx, func(ctx context.Context) error {
		crd, err := definitions().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			return fmt.Errorf("%s is not established", name)
		}
		return nil
	})
}

// update changes a definition, again if the server changed its status at the same time.
func update(ctx context.Context, name string, change func(*definition)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd, err := definitions().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(crd)
		_, err = definitions().Update(ctx, crd, metav1.UpdateOptions{})
		return err
	})
}

// gone waits until a definition and its resources are deleted.
func gone(ctx context.Context, name string) error {
	return eventually(ctx, func(ctx context.Context) error {
		_, err := definitions().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("%s still exists", name)
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// eventually calls check until it returns nil. It returns the last error after a minute.
func eventually(ctx context.Context, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, deadline, true, func(ctx context.Context) (bool, error) {
		// An error that is caused by the deadline says less than the error before.
		if err := check(ctx); err == nil || ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	return errors.Join(err, last)
}

// in returns a client of widgets in the version of a group.
func in(clients testserver.Clients, group, version string) dynamic.ResourceInterface {
	return clients.Objects.Resource(resource(group, version)).Namespace(namespace)
}

func resource(group, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// widget returns a widget whose spec.counter is 0.
func widget(group, version, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     map[string]any{"counter": int64(0)},
	}}
}

func counter(widget *unstructured.Unstructured) int64 {
	value, _, _ := unstructured.NestedInt64(widget.Object, "spec", "counter")
	return value
}

// uniqueGroup returns an API group that no other test uses.
func uniqueGroup(name string) string { return testserver.UniqueName(name) + ".example.com" }

// list joins versions in YAML.
func list(versions ...string) string { return strings.Join(versions, ", ") }
