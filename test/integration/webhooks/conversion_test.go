// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// fieldOf maps versions to the field of a box's spec that holds its text. Version v1 is stored.
var fieldOf = map[string]string{"v1": "label", "v2": "text"}

// define defines boxes of the group until the end of the test, and waits until they are served.
func define(t *testing.T, group string) {
	t.Helper()
	converter := webhookserver.Serve(t, http.HandlerFunc(convert))
	schemaOf := func(version string) *apiextensionsv1.CustomResourceValidation {
		return &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{fieldOf[version]: {Type: "string"}},
			}},
		}}
	}
	definition, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "boxes." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Box", Plural: "boxes"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: schemaOf("v1")},
				{Name: "v2", Served: true, Schema: schemaOf("v2")},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &converter.URL, CABundle: converter.CABundle},
					ConversionReviewVersions: []string{"v1"},
				},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := objects.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	if _, err := client.Create(t.Context(), &unstructured.Unstructured{Object: definition}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testserver.ExpectDeleted(t, client.Delete(context.Background(), "boxes."+group, metav1.DeleteOptions{}))
		// The server converts boxes until it has deleted all of them.
		testserver.Eventually(t, func(ctx context.Context) error {
			if _, err := client.Get(ctx, "boxes."+group, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got error %w, want not found", err)
			}
			return nil
		})
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := newBox(ctx, group, "default", "first")
		return err
	})
}

// convert handles a conversion review of boxes.
func convert(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		var box unstructured.Unstructured
		if err := json.Unmarshal(raw.Raw, &box); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from := fieldOf[box.GroupVersionKind().Version]
		box.SetAPIVersion(review.Request.DesiredAPIVersion)
		to := fieldOf[box.GroupVersionKind().Version]
		if spec, ok := box.Object["spec"].(map[string]any); ok {
			spec[to] = spec[from]
			delete(spec, from)
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Object: &box})
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// boxesOf returns a client for boxes in v2.
func boxesOf(group, namespace string) dynamic.ResourceInterface {
	return objects.Resource(schema.GroupVersionResource{Group: group, Version: "v2", Resource: "boxes"}).Namespace(namespace)
}

// newBox creates a box through v2.
func newBox(ctx context.Context, group, namespace, text string) (*unstructured.Unstructured, error) {
	return boxesOf(group, namespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v2",
		"kind":       "Box",
		"metadata":   map[string]any{"name": testserver.UniqueName("box")},
		"spec":       map[string]any{"text": text},
	}}, metav1.CreateOptions{})
}

// A webhook that matches one version, and its conditions, see objects of the other version
// converted, with the changes of earlier webhooks. The webhook's changes are converted back.
func TestConversion(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("boxes") + ".example.com"
	define(t, group)
	v1, v2 := rule{"CREATE", group, "v1", "boxes"}, rule{"CREATE", group, "v2", "boxes"}
	for text, want := range map[string]struct {
		text  string
		calls []string
	}{
		"new": {text: "new"},
		"old": {text: "old!!", calls: []string{"first", "second"}},
	} {
		t.Run(text, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, exclaim)
			configure(t, mutating, ns, hook,
				webhook{name: "first", rule: v1, conditions: []string{"object.spec.label == 'old'"}},
				webhook{name: "second", rule: v2, conditions: []string{"object.spec.text == 'old!'"}},
				webhook{name: "third", rule: v1, conditions: []string{"object.spec.label == 'old!'"}},
			)
			box, err := newBox(t.Context(), group, ns, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedString(box.Object, "spec", "text"); got != want.text {
				t.Errorf("got text %q, want %q", got, want.text)
			}
			expectCalls(t, hook, want.calls...)
		})
	}
}

// exclaim appends an exclamation mark to the text of a box.
func exclaim(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var box unstructured.Unstructured
	if err := json.Unmarshal(request.Object.Raw, &box); err != nil {
		return webhookserver.Deny(err.Error())(request)
	}
	field := fieldOf[request.Kind.Version]
	text, _, _ := unstructured.NestedString(box.Object, "spec", field)
	return webhookserver.Patch(`[{"op": "replace", "path": "/spec/` + field + `", "value": "` + text + `!"}]`)(request)
}
