// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"celador.io/celador/test/integration/testserver"
)

// put writes a widget to etcd in v1, past the server's check that it converts. An object with the
// address broken does not.
func (s tenants) put(t *testing.T, etcd *clientv3.Client, namespace, name, address string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	w := ruledWidget(s.group, "v1", name)
	w.Object["spec"] = ruledSpec("v1", address, 30)
	w.SetNamespace(namespace)
	w.SetUID(types.UID(namespace + "-" + name))
	if change != nil {
		change(w)
	}
	testserver.Must(etcd.Put(t.Context(), s.key(namespace, name), string(testserver.Must(json.Marshal(w))(t))))(t)
	return w
}

func (s tenants) key(namespace, name string) string {
	return "/registry/" + s.group + "/" + plural + "/" + namespace + "/" + name
}

// stored returns a widget as it is in etcd.
func (s tenants) stored(ctx context.Context, etcd *clientv3.Client, namespace, name string) (*unstructured.Unstructured, error) {
	found, err := etcd.Get(ctx, s.key(namespace, name))
	if err != nil || len(found.Kvs) != 1 {
		return nil, fmt.Errorf("got %v, %w, want one value", found, err)
	}
	w := &unstructured.Unstructured{}
	return w, json.Unmarshal(found.Kvs[0].Value, w)
}

// metadata is a client of one namespace that reads nothing but metadata.
func (s tenants) metadata(t *testing.T, version, namespace string) metadata.ResourceInterface {
	t.Helper()
	return testserver.Must(metadata.NewForConfig(admin.Config))(t).Resource(resource(s.group, version)).Namespace(namespace)
}

// storeIn changes the storage version, and waits until the server writes it.
func (s tenants) storeIn(t *testing.T, etcd *clientv3.Client, version string) {
	t.Helper()
	changeRuled(t, admin, s.group, func(crd map[string]any) { store(crd, version) })
	testserver.Eventually(t, func(ctx context.Context) error {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"stored":%q}}}`, version)
		if _, err := s.objects("v2", s.healthy).Patch(ctx, "a", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		probe, err := s.stored(ctx, etcd, s.healthy, "a")
		if err == nil && probe.GetAPIVersion() != s.group+"/"+version {
			err = fmt.Errorf("the server writes %s, want %s", probe.GetAPIVersion(), version)
		}
		return err
	})
}

func isCorrupt(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "corrupt object")
}

// A patch of metadata alone, by a client that reads metadata alone, needs no conversion of the
// object, which stays in its version.
func TestMetadataPatchOfAnObjectThatDoesNotConvert(t *testing.T) {
	s := breakObject(t)
	etcd := testserver.Store(t, dataDir)
	broken := func(w *unstructured.Unstructured) {
		w.SetLabels(map[string]string{"a": "b"})
		w.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "creator", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: s.group + "/v1", FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:address":{}}}`)},
		}})
	}
	const labelled = `{"metadata":{"labels":{"a":"c"}}}`
	dryRun := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	type test struct {
		name, version string
		patchType     types.PatchType
		patch         string
		options       metav1.PatchOptions
		// fails is nil if the patch succeeds and leaves the label and the finalizer.
		fails            func(error) bool
		label, finalizer string
	}
	merge, jsonPatch := types.MergePatchType, types.JSONPatchType
	for _, stored := range []struct {
		version string
		tests   []test
	}{
		{version: "v1", tests: []test{
			{name: "label", version: "v3", patchType: merge, patch: labelled, label: "c"},
			{name: "finalizer", version: "v3", patchType: merge, patch: `{"metadata":{"finalizers":["example.com/x"]}}`, label: "b", finalizer: "example.com/x"},
			{name: "type", version: "v3", patchType: merge, patch: `{"apiVersion":"GROUP/v3","kind":"Widget","metadata":{"labels":{"a":"c"}}}`, label: "c"},
			{name: "removed labels", version: "v3", patchType: merge, patch: `{"metadata":{"labels":null}}`},
			{name: "JSON patch", version: "v3", patchType: jsonPatch, patch: `[{"op":"test","path":"/metadata/labels/a","value":"b"},{"op":"replace","path":"/metadata/labels/a","value":"c"}]`, label: "c"},
			{name: "dry run", version: "v3", patchType: merge, patch: labelled, options: dryRun, label: "b"},
			{name: "stored version", version: "v1", patchType: merge, patch: labelled, label: "c"},
			{name: "another type", version: "v3", patchType: merge, patch: `{"kind":"Gadget","metadata":{"labels":{"a":"c"}}}`, fails: isCorrupt},
			{name: "a field", version: "v3", patchType: merge, patch: `{"metadata":{"labels":{"a":"c"}},"spec":{"replicas":3}}`, fails: isCorrupt},
			{name: "a removed field", version: "v3", patchType: merge, patch: `{"spec":null}`, fails: isCorrupt},
			{name: "JSON patch of a field", version: "v3", patchType: jsonPatch, patch: `[{"op":"remove","path":"/spec"}]`, fails: isCorrupt},
			{name: "JSON patch from a field", version: "v3", patchType: jsonPatch, patch: `[{"op":"copy","path":"/metadata/labels/a","from":"/spec/timeout"}]`, fails: isCorrupt},
			{name: "old resourceVersion", version: "v3", patchType: merge, patch: `{"metadata":{"resourceVersion":"1","labels":{"a":"c"}}}`, fails: apierrors.IsConflict},
			{name: "another UID", version: "v3", patchType: merge, patch: `{"metadata":{"uid":"x","labels":{"a":"c"}}}`, fails: apierrors.IsInvalid},
			{name: "invalid label", version: "v3", patchType: merge, patch: `{"metadata":{"labels":{"a":"not valid"}}}`, fails: apierrors.IsInvalid},
			{name: "server-side apply", version: "v3", patchType: types.ApplyYAMLPatchType, patch: `{"apiVersion":"GROUP/v3","kind":"Widget","metadata":{"labels":{"a":"c"}}}`, options: metav1.PatchOptions{FieldManager: "applier"}, fails: isCorrupt},
		}},
		{version: "v3", tests: []test{
			{name: "version of the object", version: "v1", patchType: merge, patch: labelled, label: "c"},
			{name: "a third version", version: "v2", patchType: merge, patch: labelled, label: "c"},
			{name: "a field", version: "v1", patchType: merge, patch: `{"metadata":{"labels":{"a":"c"}},"spec":{"replicas":3}}`, fails: apierrors.IsInvalid},
			{name: "invalid label", version: "v1", patchType: merge, patch: `{"metadata":{"labels":{"a":"not valid"}}}`, fails: apierrors.IsInvalid},
		}},
	} {
		s.storeIn(t, etcd, stored.version)
		for _, test := range stored.tests {
			t.Run(stored.version+" "+test.name, func(t *testing.T) {
				before := s.put(t, etcd, s.hurt, "patched", "broken", broken)
				patch := []byte(strings.ReplaceAll(test.patch, "GROUP", s.group))
				got, err := s.metadata(t, test.version, s.hurt).Patch(t.Context(), "patched", test.patchType, patch, test.options)
				after := testserver.Must(s.stored(t.Context(), etcd, s.hurt, "patched"))(t)
				if !reflect.DeepEqual(after.Object["spec"], before.Object["spec"]) || after.GetAPIVersion() != before.GetAPIVersion() {
					t.Errorf("stored as %v, want the spec and the version as before", after)
				}
				if fields := managed(t, after, "creator"); fields["f:spec"] == nil {
					t.Errorf("the creator owns %v, want the address, too", fields)
				}
				if test.fails != nil {
					if !test.fails(err) || after.GetLabels()["a"] != "b" {
						t.Errorf("got error %v and labels %v, want another error, and the labels as before", err, after.GetLabels())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if label := after.GetLabels()["a"]; label != test.label || test.finalizer != "" && !slices.Equal(after.GetFinalizers(), []string{test.finalizer}) {
					t.Errorf("stored as %v, want label %q and finalizer %q", after, test.label, test.finalizer)
				}
				if len(test.options.DryRun) == 0 && (!reflect.DeepEqual(got.Labels, after.GetLabels()) || !slices.Equal(got.Finalizers, after.GetFinalizers())) {
					t.Errorf("got %v, want the metadata of %v", got, after)
				}
			})
		}
	}
}

// managed returns the fields of a manager.
func managed(t *testing.T, w *unstructured.Unstructured, manager string) map[string]any {
	t.Helper()
	for _, entry := range w.GetManagedFields() {
		if entry.Manager == manager {
			return testserver.Parse[map[string]any](t, entry.FieldsV1.GetRawString())
		}
	}
	return nil
}

// A policy that matches the request reads the object in the version of the request, so it cannot
// decide about one that does not convert.
func TestMetadataPatchThatAPolicyMatches(t *testing.T) {
	s := breakObject(t)
	patch := func(ctx context.Context, version, namespace, name, label string) error {
		_, err := s.metadata(t, version, namespace).Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"a":%q}}}`, label), metav1.PatchOptions{})
		return err
	}
	testserver.ExpectAdmitted(t, patch(t.Context(), "v3", s.hurt, "broken", "first"))
	policies := admin.Core.AdmissionregistrationV1()
	testserver.Create(t, policies.ValidatingAdmissionPolicies(), testserver.Parse[*admissionregistrationv1.ValidatingAdmissionPolicy](t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Ignore
  matchConstraints:
    matchPolicy: Exact
    resourceRules: [{apiGroups: [%[1]s], apiVersions: [v3], operations: [UPDATE], resources: [widgets]}]
  validations: [{expression: "object.metadata.?labels.a.orValue('') != 'denied'"}]
`, s.group)))
	testserver.Create(t, policies.ValidatingAdmissionPolicyBindings(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.group},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: s.group, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}},
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		if err := patch(ctx, "v3", s.healthy, "a", "denied"); !apierrors.IsInvalid(err) {
			return fmt.Errorf("got %w, want the denial of the policy", err)
		}
		return nil
	})
	if err := patch(t.Context(), "v3", s.hurt, "broken", "second"); !isCorrupt(err) {
		t.Errorf("got error %v, want that of the conversion", err)
	}
	testserver.ExpectAdmitted(t, patch(t.Context(), "v2", s.hurt, "broken", "second"))
}
