// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"strings"
	"testing"

	"celador.io/celador/test/integration/testserver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// Policies apply to dry runs and can recognize them.
func TestDryRun(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("*")+`
validations:
- expression: "!(object == null ? oldObject : object).metadata.name.startsWith(request.dryRun == true ? 'real' : 'dry')"
  messageExpression: "request.operation + (has(request.options.dryRun) ? ' ' + request.options.dryRun[0] : '')"`)
	client := core.CoreV1().ConfigMaps(ns)
	all := []string{metav1.DryRunAll}
	create := func(name string, options metav1.CreateOptions) error {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, options)
		return err
	}
	by.expectInvalid(t, create("real", metav1.CreateOptions{DryRun: all}), "CREATE All")
	by.expectInvalid(t, create("dry", metav1.CreateOptions{}), "CREATE")
	testserver.ExpectAdmitted(t, create("dry", metav1.CreateOptions{DryRun: all}))
	testserver.ExpectAdmitted(t, create("real", metav1.CreateOptions{}))

	label := []byte(`{"metadata": {"labels": {"changed": "true"}}}`)
	_, err := client.Patch(ctx, "real", types.MergePatchType, label, metav1.PatchOptions{DryRun: all})
	by.expectInvalid(t, err, "UPDATE All")
	by.expectInvalid(t, client.Delete(ctx, "real", metav1.DeleteOptions{DryRun: all}), "DELETE All")
	testserver.ExpectAdmitted(t, client.Delete(ctx, "real", metav1.DeleteOptions{}))
}

// The server generates the name before policies see the object.
func TestGenerateName(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	by := enforce(t, ns, configMaps("CREATE")+`
validations:
- expression: "!object.metadata.name.startsWith(object.metadata.generateName) || object.data.made == 'known'"
  messageExpression: "string(request.name == object.metadata.name) + ' ' + string(object.metadata.name.size())"`)
	client := core.CoreV1().ConfigMaps(ns)
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-"}, Data: map[string]string{"made": "up"}}
	_, err := client.Create(t.Context(), sent, metav1.CreateOptions{})
	by.expectInvalid(t, err, "true 10")
	sent.Data["made"] = "known"
	got, err := client.Create(t.Context(), sent, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)
	if !strings.HasPrefix(got.Name, "made-") || len(got.Name) != 10 {
		t.Errorf("got name %s", got.Name)
	}
}

// A failed precondition is reported instead of a denial.
func TestDeletePreconditions(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("DELETE")+`
validations:
- expression: request.options.preconditions.uid == oldObject.metadata.uid && oldObject.data.keep == 'no'
  message: to be kept`)
	client := core.CoreV1().ConfigMaps(ns)
	stored, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "box"}, Data: map[string]string{"keep": "yes"}}, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)

	remove := func(uid types.UID, version string) error {
		return client.Delete(ctx, "box", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	}
	by.expectInvalid(t, remove(stored.UID, stored.ResourceVersion), "to be kept")
	if err := remove("another", stored.ResourceVersion); !apierrors.IsConflict(err) {
		t.Errorf("another UID: got error %v, want a conflict", err)
	}
	before := stored.ResourceVersion
	stored.Data["keep"] = "no"
	stored, err = client.Update(ctx, stored, metav1.UpdateOptions{})
	testserver.ExpectAdmitted(t, err)
	if err := remove(stored.UID, before); !apierrors.IsConflict(err) {
		t.Errorf("an older version: got error %v, want a conflict", err)
	}
	testserver.ExpectAdmitted(t, remove(stored.UID, stored.ResourceVersion))
}

// Deleting a collection keeps the objects whose deletion a policy denies.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("DELETE")+`
validations:
- expression: object == null && oldObject.data.keep == 'no'
  messageExpression: "oldObject.metadata.name + ' by ' + request.options.kind"`)
	client := core.CoreV1().ConfigMaps(ns)
	for name, keep := range map[string]string{"first": "no", "kept": "yes", "last": "no"} {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"keep": keep}}, metav1.CreateOptions{})
		testserver.ExpectAdmitted(t, err)
	}
	by.expectInvalid(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), "kept by DeleteOptions")
	_, err := client.Patch(ctx, "kept", types.MergePatchType, []byte(`{"data": {"keep": "no"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	left, err := client.List(ctx, metav1.ListOptions{})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("got %v, %v after the deletion of all", left, err)
	}
}

// A patch is matched as the creation or update that it causes.
func TestPatches(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("*")+`
validations:
- expression: object.data.size != '9'
  messageExpression: >-
    request.operation + (oldObject == null ? '' : ' of ' + oldObject.data.size) + ' by ' + request.options.kind +
    ' of ' + request.options.fieldManager + ' with ' + object.data.?color.orValue('no color')`)
	client := core.CoreV1().ConfigMaps(ns)
	apply := func(size string) error {
		_, err := client.Apply(ctx, coreapply.ConfigMap("box", ns).WithData(map[string]string{"size": size}), metav1.ApplyOptions{FieldManager: "test", Force: true})
		return err
	}
	by.expectInvalid(t, apply("9"), "CREATE by CreateOptions of test with no color")
	testserver.ExpectAdmitted(t, apply("1"))
	by.expectInvalid(t, apply("9"), "UPDATE of 1 by UpdateOptions of test with no color")
	_, err := client.Patch(ctx, "box", types.MergePatchType, []byte(`{"data": {"color": "red"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)

	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op": "replace", "path": "/data/size", "value": "9"}]`,
		types.MergePatchType:          `{"data": {"size": "9"}}`,
		types.StrategicMergePatchType: `{"data": {"size": "9"}}`,
		types.ApplyPatchType:          `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"size": "9"}}`,
	} {
		options := metav1.PatchOptions{FieldManager: "test"}
		if kind == types.ApplyPatchType {
			options.Force = new(true)
		}
		t.Run(string(kind), func(t *testing.T) {
			_, err := client.Patch(ctx, "box", kind, []byte(patch), options)
			by.expectInvalid(t, err, "UPDATE of 1 by UpdateOptions of test with red")
		})
	}
}
