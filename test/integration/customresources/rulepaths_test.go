// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"celador.io/celador/test/integration/testserver"
)

// expectSpec compares the version and spec of an object.
func expectSpec(t *testing.T, what string, got *unstructured.Unstructured, group, version string, spec map[string]any) {
	t.Helper()
	if want := group + "/" + version; got.GetAPIVersion() != want {
		t.Errorf("%s: got version %s, want %s", what, got.GetAPIVersion(), want)
	}
	if diff := cmp.Diff(spec, got.Object["spec"]); diff != "" {
		t.Errorf("%s in %s: spec differs (-want +got):\n%s", what, version, diff)
	}
}

// Requests of every kind convert objects between the version of the request and the storage
// version.
func TestConversionOfRequests(t *testing.T) {
	for _, storage := range ruledVersions {
		t.Run("storage "+storage, func(t *testing.T) {
			group := defineRuled(t, admin, storage)
			etcd := testserver.Store(t, dataDir)
			for _, version := range ruledVersions {
				client := in(admin, group, version)
				name := "from-" + version
				created := testserver.Must(client.Create(t.Context(), ruledWidget(group, version, name), metav1.CreateOptions{}))(t)
				expectSpec(t, "create", created, group, version, ruledSpec(version, "a", 30))
				expectStored(t, etcd, group, name, storage)

				created.Object["spec"] = ruledSpec(version, "b", 40)
				updated := testserver.Must(client.Update(t.Context(), created, metav1.UpdateOptions{}))(t)
				expectSpec(t, "update", updated, group, version, ruledSpec(version, "b", 40))

				seconds := map[string]any{"timeoutSeconds": 50}
				path, value := "/spec/timeoutSeconds", `60`
				if version == "v3" {
					seconds, path, value = map[string]any{"timeout": "50s"}, "/spec/timeout", `"60s"`
				}
				merge := testserver.Must(json.Marshal(map[string]any{"spec": seconds}))(t)
				patched := testserver.Must(client.Patch(t.Context(), name, types.MergePatchType, merge, metav1.PatchOptions{}))(t)
				expectSpec(t, "merge patch", patched, group, version, ruledSpec(version, "b", 50))
				patch := fmt.Appendf(nil, `[{"op": "replace", "path": %q, "value": %s}]`, path, value)
				patched = testserver.Must(client.Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{}))(t)
				expectSpec(t, "JSON patch", patched, group, version, ruledSpec(version, "b", 60))

				patched.Object["status"] = map[string]any{"replicas": int64(1)}
				status := testserver.Must(client.UpdateStatus(t.Context(), patched, metav1.UpdateOptions{}))(t)
				expectSpec(t, "status", status, group, version, ruledSpec(version, "b", 60))

				for _, other := range ruledVersions {
					reader := in(admin, group, other)
					got := testserver.Must(reader.Get(t.Context(), name, metav1.GetOptions{}))(t)
					expectSpec(t, "get", got, group, other, ruledSpec(other, "b", 60))
					if replicas, _, _ := unstructured.NestedInt64(got.Object, "status", "replicas"); replicas != 1 {
						t.Errorf("got %v in %s, want status.replicas 1", got.Object["status"], other)
					}
					scale := testserver.Must(reader.Get(t.Context(), name, metav1.GetOptions{}, "scale"))(t)
					var typed autoscalingv1.Scale
					if err := runtime.DefaultUnstructuredConverter.FromUnstructured(scale.Object, &typed); err != nil || typed.Spec.Replicas != 2 || typed.Status.Replicas != 1 {
						t.Errorf("got scale %v, %v in %s", scale, err, other)
					}
				}
				patched = testserver.Must(client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}, "scale"))(t)
				if replicas, _, _ := unstructured.NestedInt64(patched.Object, "spec", "replicas"); replicas != 5 {
					t.Errorf("got %v, want a scale of 5", patched)
				}
				expectStored(t, etcd, group, name, storage)
			}
			expectLists(t, group)
			expectDeletion(t, group)
		})
	}
}

// expectLists lists the three objects of TestConversionOfRequests in every version.
func expectLists(t *testing.T, group string) {
	t.Helper()
	for _, version := range ruledVersions {
		client := in(admin, group, version)
		want := ruledSpec(version, "b", 60)
		want["replicas"] = int64(5)
		var names []string
		options := metav1.ListOptions{Limit: 1}
		for {
			page := testserver.Must(client.List(t.Context(), options))(t)
			for i := range page.Items {
				names = append(names, page.Items[i].GetName())
				expectSpec(t, "page", &page.Items[i], group, version, want)
			}
			if options.Continue = page.GetContinue(); options.Continue == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"from-v1", "from-v2", "from-v3"}, names); diff != "" {
			t.Errorf("pages in %s differ (-want +got):\n%s", version, diff)
		}
		cached := testserver.Must(client.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"}))(t)
		for i := range cached.Items {
			expectSpec(t, "list from the cache", &cached.Items[i], group, version, want)
		}
		selector := map[string]string{"v1": "spec.address=b", "v2": "spec.timeoutSeconds=60", "v3": "spec.timeout=60s"}[version]
		for selector, count := range map[string]int{selector: 3, selector + "0": 0} {
			selected := testserver.Must(client.List(t.Context(), metav1.ListOptions{FieldSelector: selector}))(t)
			if len(selected.Items) != count {
				t.Errorf("%s in %s: got %d objects, want %d", selector, version, len(selected.Items), count)
			}
		}
		table := get(t, "/apis/"+group+"/"+version+"/widgets", "application/json;as=Table;g=meta.k8s.io;v=v1")
		if rows := table["rows"].([]any); len(rows) != 3 || version == "v1" && rows[0].(map[string]any)["cells"].([]any)[1] != "b" {
			t.Errorf("got table %v in %s, want three rows", table, version)
		}
		metas := testserver.Must(testserver.Must(metadata.NewForConfig(admin.Config))(t).Resource(resource(group, version)).List(t.Context(), metav1.ListOptions{}))(t)
		if len(metas.Items) != 3 {
			t.Errorf("got %d metadata in %s, want 3", len(metas.Items), version)
		}
	}
}

// get returns the JSON body of a response.
func get(t *testing.T, path, accept string) map[string]any {
	t.Helper()
	body := testserver.Must(admin.Core.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", accept).DoRaw(t.Context()))(t)
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// expectDeletion deletes one object and the collection of the others while it watches in all
// versions.
func expectDeletion(t *testing.T, group string) {
	t.Helper()
	watches := map[string]watch.Interface{}
	for _, version := range ruledVersions {
		list := testserver.Must(in(admin, group, version).List(t.Context(), metav1.ListOptions{}))(t)
		watches[version] = testserver.Must(in(admin, group, version).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))(t)
		defer watches[version].Stop()
	}
	changed := testserver.Must(in(admin, group, "v3").Patch(t.Context(), "from-v1", types.MergePatchType, []byte(`{"spec":{"timeout":"70s"}}`), metav1.PatchOptions{}))(t)
	testserver.ExpectDeleted(t, in(admin, group, "v2").Delete(t.Context(), "from-v1", metav1.DeleteOptions{}))
	testserver.ExpectDeleted(t, in(admin, group, "v3").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	for version, events := range watches {
		want := ruledSpec(version, "b", 70)
		want["replicas"] = int64(5)
		for i, kind := range []watch.EventType{watch.Modified, watch.Deleted, watch.Deleted, watch.Deleted} {
			event := <-events.ResultChan()
			object, ok := event.Object.(*unstructured.Unstructured)
			if event.Type != kind || !ok {
				t.Fatalf("event %d in %s: got %v, want %s", i, version, event, kind)
			}
			if i < 2 {
				expectSpec(t, string(kind), object, group, version, want)
			}
			if i == 0 && object.GetResourceVersion() != changed.GetResourceVersion() {
				t.Errorf("got resource version %s in %s, want %s", object.GetResourceVersion(), version, changed.GetResourceVersion())
			}
		}
	}
}

// Managers that apply in different versions own fields under the names that each version has.
func TestApplyAcrossVersions(t *testing.T) {
	for _, storage := range ruledVersions {
		t.Run("storage "+storage, func(t *testing.T) {
			group := defineRuled(t, admin, storage)
			apply := func(version, manager string, spec map[string]any) (*unstructured.Unstructured, error) {
				w := widget(group, version, "applied")
				w.Object["spec"] = spec
				return in(admin, group, version).Apply(t.Context(), "applied", w, metav1.ApplyOptions{FieldManager: manager})
			}
			testserver.Must(apply("v1", "first", map[string]any{"address": "a", "replicas": int64(2), "timeoutSeconds": int64(30)}))(t)
			if _, err := apply("v3", "second", map[string]any{"replicas": int64(3)}); !apierrors.IsConflict(err) {
				t.Errorf("got error %v, want a conflict of spec.replicas", err)
			}
			applied := testserver.Must(apply("v3", "second", map[string]any{"replicas": int64(2)}))(t)
			expectSpec(t, "apply", applied, group, "v3", ruledSpec("v3", "a", 30))
			// The first manager gives up its timeout. The replicas stay, because the second manager
			// owns them, too.
			applied = testserver.Must(apply("v1", "first", map[string]any{"address": "b"}))(t)
			expectSpec(t, "apply", applied, group, "v1", map[string]any{"address": "b", "replicas": int64(2)})
			got := testserver.Must(in(admin, group, "v3").Get(t.Context(), "applied", metav1.GetOptions{}))(t)
			expectSpec(t, "get", got, group, "v3", map[string]any{"addresses": []any{"b"}, "replicas": int64(2)})
		})
	}
}

// A policy with matchPolicy Equivalent sees requests of all versions in the version that it names.
func TestConversionForAdmission(t *testing.T) {
	group := defineRuled(t, admin, "v1")
	policy := testserver.Parse[*admissionregistrationv1.ValidatingAdmissionPolicy](t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [%[1]s], apiVersions: [v3], operations: [CREATE, UPDATE], resources: [widgets]}]
  validations:
  - expression: object.apiVersion == "%[1]s/v3" && object.spec.timeout != "99s"
    messageExpression: "'timeout ' + object.spec.timeout + ' of ' + object.spec.addresses[0]"
`, group))
	testserver.Create(t, admin.Core.AdmissionregistrationV1().ValidatingAdmissionPolicies(), policy)
	testserver.Create(t, admin.Core.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: group},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: group, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}},
	})
	denied := ruledWidget(group, "v1", "denied")
	denied.Object["spec"] = ruledSpec("v1", "a", 99)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := in(admin, group, "v1").Create(ctx, denied, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "timeout 99s of a") {
			return fmt.Errorf("got error %w, want the message of the policy", err)
		}
		return nil
	})
	testserver.Must(in(admin, group, "v1").Create(t.Context(), ruledWidget(group, "v1", "admitted"), metav1.CreateOptions{}))(t)
}
