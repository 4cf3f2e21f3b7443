// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scopes tests validations that are evaluated for values inside objects. All tests share one
// server with the feature gate AdmissionPolicyExpressionScopes.
package scopes

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

var admin testserver.Clients

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) { admin = clients }, "--feature-gates=AdmissionPolicyExpressionScopes=true"))
}

var dryRun = []string{metav1.DryRunAll}

// validate creates a policy with a spec in YAML and binds it. Both are deleted at the end of the
// test. It returns the name of the policy.
func validate(t testing.TB, spec string) string {
	t.Helper()
	name, client := testserver.UniqueName("policy"), admin.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec),
	})
	testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	})
	return name
}

// await waits until try returns nil, if text is empty, or an error with the text.
func await(t *testing.T, text string, try func(context.Context) error) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		err := try(ctx)
		switch {
		case text == "":
			return err
		case err == nil || !strings.Contains(err.Error(), text):
			return fmt.Errorf("got error %v, want %q", err, text)
		default:
			return nil
		}
	})
}

// The status has a warning for a type that no kind has, and for expressions that do not fit the type
// of self.
func TestTypes(t *testing.T) {
	name := validate(t, `
matchConstraints:
  resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments]}]
validations:
- {scope: {type: io.k8s.api.core.v1.Contaner}, expression: "self.image != ''"}
- {scope: {type: io.k8s.api.core.v1.Container}, expression: "self.imge != ''"}
- {scope: {path: "spec.template.spec.containers[*].image"}, expression: "self.size() < 1000"}
`)
	want := map[string]string{
		"spec.validations[0].scope.type": `did you mean "io.k8s.api.core.v1.Container"?`,
		"spec.validations[1].expression": "undefined field 'imge'",
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		policy, err := admin.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if policy.Status.TypeChecking == nil || len(policy.Status.TypeChecking.ExpressionWarnings) != len(want) {
			return fmt.Errorf("type checking: %+v", policy.Status.TypeChecking)
		}
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			if text := want[warning.FieldRef]; text == "" || !strings.Contains(warning.Warning, text) {
				return fmt.Errorf("unexpected warning %+v", warning)
			}
		}
		return nil
	})
}

// A built-in kind needs no document: the first request finds its values.
func TestBuiltInKind(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	validate(t, `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+namespace+`}}
  resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
validations: [{scope: {type: io.k8s.api.core.v1.Container}, expression: "self.image != 'wrong'", messageExpression: "path + ' is wrong'"}]
`)
	deployment := testserver.Parse[appsv1.Deployment](t, `
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: right}, {name: b, image: wrong}]}
`)
	await(t, "spec.template.spec.containers[1] is wrong", func(ctx context.Context) error {
		_, err := admin.Core.AppsV1().Deployments(namespace).Create(ctx, &deployment, metav1.CreateOptions{DryRun: dryRun})
		return err
	})
}

const boxes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.scopes.example.com}
spec:
  group: scopes.example.com
  scope: Namespaced
  names: {plural: boxes, singular: box, kind: Box, listKind: BoxList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          parts:
            type: array
            LIST
            items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
`

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &found.Object); err != nil {
		t.Fatal(err)
	}
	return found
}

// Old items of custom resources are found by the keys of the schema, once it has them, and types of
// the document by their names.
func TestCustomResources(t *testing.T) {
	definitions := admin.Objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(t.Context(), object(t, strings.Replace(boxes, "LIST", "x-kubernetes-list-type: atomic", 1)), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = definitions.Delete(context.Background(), "boxes.scopes.example.com", metav1.DeleteOptions{})
	})
	validate(t, `
matchConstraints:
  resourceRules: [{apiGroups: [scopes.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [boxes]}]
validations:
- {scope: {path: "parts[*]"}, expression: "self.size >= oldSelf.size", messageExpression: "path + ' shrinks'"}
- {scope: {type: io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta}, expression: "self.name != 'wrong'", messageExpression: "path + ' is wrong'"}
- {scope: {type: com.example.scopes.v1.Box}, expression: "self.metadata.name != 'worse'", messageExpression: "'[' + path + '] is worse'"}
`)
	client := admin.Objects.Resource(schema.GroupVersionResource{Group: "scopes.example.com", Version: "v1", Resource: "boxes"}).Namespace("default")
	box := func(name, parts string) *unstructured.Unstructured {
		return object(t, "{apiVersion: scopes.example.com/v1, kind: Box, metadata: {name: "+name+"}, parts: "+parts+"}")
	}
	for name, message := range map[string]string{"wrong": "metadata is wrong", "worse": "[] is worse"} {
		await(t, message, func(ctx context.Context) error {
			_, err := client.Create(ctx, box(name, "[]"), metav1.CreateOptions{DryRun: dryRun})
			return err
		})
	}
	created, err := client.Create(t.Context(), box("b", "[{name: a, size: 1}, {name: b, size: 2}]"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Delete(context.Background(), "b", metav1.DeleteOptions{}) })
	shrink := func(ctx context.Context) error {
		changed := box("b", "[{name: b, size: 1}, {name: a, size: 3}]")
		changed.SetResourceVersion(created.GetResourceVersion())
		_, err := client.Update(ctx, changed, metav1.UpdateOptions{DryRun: dryRun})
		return err
	}
	await(t, "", shrink)
	testserver.Eventually(t, func(ctx context.Context) error {
		current, err := definitions.Get(ctx, "boxes.scopes.example.com", metav1.GetOptions{})
		if err != nil {
			return err
		}
		changed := object(t, strings.Replace(boxes, "LIST", "x-kubernetes-list-type: map\n            x-kubernetes-list-map-keys: [name]", 1))
		changed.SetResourceVersion(current.GetResourceVersion())
		_, err = definitions.Update(ctx, changed, metav1.UpdateOptions{})
		return err
	})
	await(t, "parts[0] shrinks", shrink)
}
