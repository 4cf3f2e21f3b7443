// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package examples applies the examples of CustomResourceDefinitions and of suites to servers, one
// with alpha features and one without.
package examples

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/livesuite"
	"celador.io/celador/test/integration/testserver"
)

// TestWithGates applies the examples to a server with the alpha features that they need.
func TestWithGates(t *testing.T) {
	log, files := filepath.Join(t.TempDir(), "audit.log"), t.TempDir()
	admin := testserver.Start(t, t.TempDir(), "--audit-policy-file=testdata/audit-policy.yaml", "--max-policy-staleness=30s", "--audit-log-path="+log, admissionFiles(t, files),
		"--feature-gates=CustomResourceConversionRules=true,CustomResourceDefaultExpressions=true,ValidatingAdmissionPolicySingleton=true,"+
			"ValidatingAdmissionPolicyValidationFailurePolicy=true,ValidatingAdmissionPolicyFallbackBinding=true,"+
			"AdmissionPolicyTypeEnforcement=true,AdmissionPolicyLookups=true,AdmissionPolicyRequestTime=true,AdmissionPolicyCauses=true,AdmissionPolicyExpressionScopes=true,MutatingAdmissionPolicyInlineExpressions=true").Clients()
	t.Run("conversion rules", func(t *testing.T) { testConversionRules(t, admin) })
	t.Run("apply across versions", func(t *testing.T) { testApply(t, admin) })
	t.Run("default expressions", func(t *testing.T) { testDefaultExpressions(t, admin) })
	t.Run("validation rules", func(t *testing.T) { testValidationRules(t, admin) })
	t.Run("suites", func(t *testing.T) { testSuites(t, &livesuite.Server{Clients: admin, AuditLog: log}) })
	t.Run("request time", func(t *testing.T) { testRequestTime(t, admin, log) })
	t.Run("monitoring", func(t *testing.T) { testMonitoring(t, &livesuite.Server{Clients: admin, AuditLog: log}, files) })
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// converted are the examples with conversion rules.
var converted = []string{"crd-alertmanager-config", "crd-auth-config", "crd-certificate", "crd-machine-health-check", "crd-pipeline-run", "crd-pod-ips"}

// An example is a directory of manifests.
type example struct {
	directory string
	admin     testserver.Clients
}

// read returns the object in a file of the example.
func (e *example) read(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../examples", e.directory, file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	inJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(inJSON); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

// define creates the definition of the example and waits until the server serves all of its
// versions. It returns clients by version.
func (e *example) define(t *testing.T) map[string]dynamic.ResourceInterface {
	t.Helper()
	e.create(t, e.admin.Objects.Resource(definitions), "definition")
	return e.clients(t)
}

// clients returns clients by version, once the server serves all versions of the definition.
func (e *example) clients(t *testing.T) map[string]dynamic.ResourceInterface {
	t.Helper()
	crd := e.read(t, "definition")
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	clients := map[string]dynamic.ResourceInterface{}
	for _, version := range versions {
		name := version.(map[string]any)["name"].(string)
		client := e.admin.Objects.Resource(schema.GroupVersionResource{Group: group, Version: name, Resource: plural}).Namespace("default")
		clients[name] = client
		testserver.Eventually(t, func(ctx context.Context) error {
			_, err := client.List(ctx, metav1.ListOptions{})
			return err
		})
	}
	return clients
}

// create creates the object in a file. Unless it is a definition, it is deleted at the end of the
// test, because later tests create others of the same name.
func (e *example) create(t *testing.T, client dynamic.ResourceInterface, file string) *unstructured.Unstructured {
	t.Helper()
	// Strict validation fails for fields that the server drops.
	created, err := client.Create(t.Context(), e.read(t, file), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatalf("%s/%s: %v", e.directory, file, err)
	}
	if created.GetKind() != "CustomResourceDefinition" {
		t.Cleanup(func() {
			if err := client.Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	return created
}

// expect compares the spec and the annotations of an object with a file.
func (e *example) expect(t *testing.T, what string, got *unstructured.Unstructured, file string) {
	t.Helper()
	want := e.read(t, file)
	if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
		t.Errorf("%s/%s: spec of %s (-want +got):\n%s", e.directory, file, what, diff)
	}
	if diff := cmp.Diff(want.GetAnnotations(), got.GetAnnotations()); diff != "" {
		t.Errorf("%s/%s: annotations of %s (-want +got):\n%s", e.directory, file, what, diff)
	}
	if got.GetAPIVersion() != want.GetAPIVersion() {
		t.Errorf("%s/%s: got %s, want %s", e.directory, file, got.GetAPIVersion(), want.GetAPIVersion())
	}
}

// Objects that are created in one version have the content of the files in the other.
func testConversionRules(t *testing.T, admin testserver.Clients) {
	for _, directory := range converted {
		t.Run(directory, func(t *testing.T) {
			e := &example{directory, admin}
			clients := e.define(t)
			for _, file := range e.files(t) {
				name, version := e.split(file)
				if clients[version] == nil {
					continue // the result of a conversion back
				}
				created := e.create(t, clients[version], file)
				for other, client := range clients {
					if other == version {
						continue
					}
					converted := name + "-" + other
					if slices.Contains(e.files(t), converted+"-back") {
						converted += "-back"
					}
					got, err := client.Get(t.Context(), created.GetName(), metav1.GetOptions{})
					if err != nil {
						t.Fatal(err)
					}
					e.expect(t, "get", got, converted)
					list, err := client.List(t.Context(), metav1.ListOptions{})
					if err != nil || len(list.Items) != 1 {
						t.Fatalf("got %v, %v, want one object", list, err)
					}
					e.expect(t, "list", &list.Items[0], converted)
					patched, err := client.Patch(t.Context(), created.GetName(), types.MergePatchType, []byte(`{"metadata": {"labels": {"patched": "true"}}}`), metav1.PatchOptions{})
					if err != nil {
						t.Fatal(err)
					}
					e.expect(t, "patch", patched, converted)
				}
				if err := clients[version].Delete(t.Context(), created.GetName(), metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// files returns the names of the manifests of objects, without suffix.
func (e *example) files(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../../examples", e.directory, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".yaml"); name != "definition" {
			names = append(names, name)
		}
	}
	return names
}

// split returns the name and the version in the name of a file. The version is empty for a result
// of a conversion back.
func (*example) split(file string) (name, version string) {
	at := strings.LastIndex(file, "-")
	return file[:at], file[at+1:]
}

func testDefaultExpressions(t *testing.T, admin testserver.Clients) {
	e := &example{"crd-defaults", admin}
	client := e.define(t)["v1"]
	for _, file := range []string{"minimal", "internal"} {
		created := e.create(t, client, file)
		e.expect(t, "create", created, file+"-defaulted")
		got, err := client.Get(t.Context(), created.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		e.expect(t, "get", got, file+"-defaulted")
	}
}

func testValidationRules(t *testing.T, admin testserver.Clients) {
	e := &example{"crd-validation", admin}
	client := e.define(t)["v1"]
	created := e.create(t, client, "autoscaler")
	_, err := client.Create(t.Context(), e.read(t, "autoscaler-denied"), metav1.CreateOptions{})
	expectError(t, err, "spec.minReplicas: Invalid value: minReplicas cannot be larger than maxReplicas", "no schedule of api may have more than maxReplicas")
	_, err = client.Patch(t.Context(), created.GetName(), types.MergePatchType, []byte(`{"spec": {"target": "other"}}`), metav1.PatchOptions{})
	expectError(t, err, "spec.target: Forbidden: target is immutable")
}

func expectError(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), text) {
			t.Errorf("got error %v, want %q", err, text)
		}
	}
}

// With the gates off, a server has neither the strategy nor default expressions, as Kubernetes.
func TestWithoutGates(t *testing.T) {
	admin := testserver.Start(t, t.TempDir()).Clients()
	for _, directory := range converted {
		e := &example{directory, admin}
		_, err := admin.Objects.Resource(definitions).Create(t.Context(), e.read(t, "definition"), metav1.CreateOptions{})
		expectError(t, err, `spec.conversion.strategy: Unsupported value: "ConversionRules"`)
	}
	e := &example{"crd-defaults", admin}
	client := e.define(t)["v1"]
	crd, err := admin.Objects.Resource(definitions).Get(t.Context(), e.read(t, "definition").GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(crd.Object["spec"]); strings.Contains(text, "x-kubernetes-default") {
		t.Errorf("default expressions are left in %s", text)
	}
	created := e.create(t, client, "internal")
	want := e.read(t, "internal-defaulted")
	unstructured.RemoveNestedField(want.Object, "spec", "name")
	ports, _, _ := unstructured.NestedSlice(want.Object, "spec", "ports")
	delete(ports[0].(map[string]any), "targetPort")
	if err := unstructured.SetNestedSlice(want.Object, ports, "spec", "ports"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Object["spec"], created.Object["spec"]); diff != "" {
		t.Errorf("object without default expressions (-want +got):\n%s", diff)
	}
}
