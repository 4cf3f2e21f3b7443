// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// unlucky makes conversion from v2 to v3 of the CustomResourceDefinition ruled fail if one of the
// numbers has the value.
func unlucky(crd map[string]any, value int) {
	setRule(crd, 2, fmt.Sprintf("!has(self.spec) || !has(self.spec.timeoutSeconds) ? optional.none() : "+
		"self.spec.timeoutSeconds == %[1]d || self.?spec.?replicas.orValue(0) == %[1]d || self.?status.?replicas.orValue(0) == %[1]d ? "+
		"optional.of(string(1 / (self.spec.timeoutSeconds - self.spec.timeoutSeconds))) : optional.of(string(self.spec.timeoutSeconds) + 's')", value))
}

// setRule replaces the only rule of a converter, and returns the old one.
func setRule(crd map[string]any, converter int, rule string) (old string) {
	converters, _, _ := unstructured.NestedSlice(crd, "spec", "conversion", "converters")
	first := converters[converter].(map[string]any)["rules"].([]any)[0].(map[string]any)
	old, first["rule"] = first["rule"].(string), rule
	_ = unstructured.SetNestedSlice(crd, converters, "spec", "conversion", "converters")
	return old
}

// expectConversionRefused expects an Invalid error of a rule that sets a field.
func expectConversionRefused(t *testing.T, what string, err error, conversion, rule, field string) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) || status.ErrStatus.Code != 422 {
		t.Errorf("%s: got error %v, want code 422", what, err)
		return
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Field == field && strings.Contains(cause.Message, conversion) && strings.Contains(cause.Message, rule) {
			return
		}
	}
	t.Errorf("%s: got causes %v, want one of %s with %q and %q", what, status.ErrStatus.Details.Causes, field, conversion, rule)
}

// A write whose result does not convert to a served version is refused, and nothing is stored.
func TestWritesThatDoNotConvert(t *testing.T) {
	group := defineRuled(t, admin, "v1")
	changeRuled(t, admin, group, func(crd map[string]any) { unlucky(crd, 13) })
	testserver.Eventually(t, func(ctx context.Context) error {
		probe := ruledWidget(group, "v1", "probe")
		_ = unstructured.SetNestedField(probe.Object, int64(13), "spec", "timeoutSeconds")
		_, err := in(admin, group, "v1").Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("got error %w, want the new rule in effect", err)
		}
		return nil
	})
	good := testserver.Must(in(admin, group, "v1").Create(t.Context(), ruledWidget(group, "v1", "good"), metav1.CreateOptions{}))(t)

	for _, version := range ruledVersions {
		rule, field, conversion := "spec.conversion.converters[2].rules[0]", "spec.timeout", "from v2 to v3"
		patch := `{"spec":{"timeoutSeconds":13}}`
		bad := ruledWidget(group, version, "bad")
		if version == "v3" {
			rule, field, conversion = "spec.conversion.converters[3].rules[0]", "spec.timeoutSeconds", "from v3 to v2"
			patch = `{"spec":{"timeout":"soon"}}`
			_ = unstructured.SetNestedField(bad.Object, "soon", "spec", "timeout")
		} else {
			_ = unstructured.SetNestedField(bad.Object, int64(13), "spec", "timeoutSeconds")
		}
		client := in(admin, group, version)
		for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
			apply := func(name string) error {
				applied := bad.DeepCopy()
				applied.SetName(name)
				_, err := client.Patch(t.Context(), name, types.ApplyPatchType, testserver.Must(json.Marshal(applied))(t), metav1.PatchOptions{FieldManager: "applier", Force: new(true), DryRun: dryRun})
				return err
			}
			for what, write := range map[string]func() error{
				"create": func() error {
					_, err := client.Create(t.Context(), bad.DeepCopy(), metav1.CreateOptions{DryRun: dryRun})
					return err
				},
				"create by apply": func() error { return apply("bad") },
				"apply":           func() error { return apply("good") },
				"update": func() error {
					object := testserver.Must(client.Get(t.Context(), "good", metav1.GetOptions{}))(t)
					object.Object["spec"] = bad.Object["spec"]
					_, err := client.Update(t.Context(), object, metav1.UpdateOptions{DryRun: dryRun})
					return err
				},
				"patch": func() error {
					_, err := client.Patch(t.Context(), "good", types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: dryRun})
					return err
				},
			} {
				expectConversionRefused(t, fmt.Sprintf("%s in %s, dry run %v", what, version, dryRun), write(), conversion, rule, field)
			}
			for _, subresource := range []string{"status", "scale"} {
				patch := `{"status":{"replicas":13}}`
				if subresource == "scale" {
					patch = `{"spec":{"replicas":13}}`
				}
				_, err := client.Patch(t.Context(), "good", types.MergePatchType, []byte(patch), metav1.PatchOptions{DryRun: dryRun}, subresource)
				expectConversionRefused(t, fmt.Sprintf("%s in %s, dry run %v", subresource, version, dryRun), err, "from v2 to v3", "spec.conversion.converters[2].rules[0]", "spec.timeout")
			}
		}
		if _, err := client.Get(t.Context(), "bad", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: got error %v, want nothing stored", version, err)
		}
		expectUnchanged(t, client, good)
	}
}

func expectUnchanged(t *testing.T, client dynamic.ResourceInterface, object *unstructured.Unstructured) {
	t.Helper()
	got := testserver.Must(client.Get(t.Context(), object.GetName(), metav1.GetOptions{}))(t)
	if got.GetResourceVersion() != object.GetResourceVersion() {
		t.Errorf("the object has changed: %v", got)
	}
}

// An object that was stored before its rules changed can be labelled, released, mended and deleted
// in a version to which it converts.
func TestWritesOfObjectsThatDidNotConvert(t *testing.T) {
	group := defineRuled(t, admin, "v1")
	for _, name := range []string{"mended", "deleted"} {
		testserver.Must(in(admin, group, "v1").Create(t.Context(), ruledWidget(group, "v1", name), metav1.CreateOptions{}))(t)
	}
	changeRuled(t, admin, group, func(crd map[string]any) { unlucky(crd, 30) })
	testserver.Eventually(t, func(ctx context.Context) error {
		if _, err := in(admin, group, "v3").Get(ctx, "mended", metav1.GetOptions{}); err == nil {
			return errors.New("the object still converts")
		}
		return nil
	})
	for _, version := range []string{"v1", "v2"} {
		client := in(admin, group, version)
		patch := func(what, patch string, subresources ...string) {
			t.Helper()
			if _, err := client.Patch(t.Context(), "mended", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...); err != nil {
				t.Errorf("%s in %s: %v", what, version, err)
			}
		}
		patch("label", `{"metadata":{"labels":{"in":"`+version+`"}}}`)
		patch("finalizer", `{"metadata":{"finalizers":["example.com/hold"]}}`)
		patch("no finalizer", `{"metadata":{"finalizers":null}}`)
		patch("status", `{"status":{"replicas":2}}`, "status")
		patch("scale", `{"spec":{"replicas":3}}`, "scale")
		applied := widget(group, version, "mended")
		delete(applied.Object, "spec")
		applied.SetLabels(map[string]string{"applied-in-" + version: "yes"})
		if _, err := client.Patch(t.Context(), "mended", types.ApplyPatchType, testserver.Must(json.Marshal(applied))(t), metav1.PatchOptions{FieldManager: "in-" + version}); err != nil {
			t.Errorf("apply in %s: %v", version, err)
		}
	}
	client := in(admin, group, "v1")
	testserver.Must(client.Patch(t.Context(), "deleted", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`), metav1.PatchOptions{}))(t)
	testserver.ExpectDeleted(t, client.Delete(t.Context(), "deleted", metav1.DeleteOptions{}))
	testserver.Must(client.Patch(t.Context(), "deleted", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))(t)
	if _, err := client.Get(t.Context(), "deleted", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want the object deleted", err)
	}

	testserver.Must(client.Patch(t.Context(), "mended", types.MergePatchType, []byte(`{"spec":{"timeoutSeconds":5}}`), metav1.PatchOptions{}))(t)
	testserver.Must(in(admin, group, "v3").Get(t.Context(), "mended", metav1.GetOptions{}))(t)
	_, err := client.Patch(t.Context(), "mended", types.MergePatchType, []byte(`{"spec":{"timeoutSeconds":30}}`), metav1.PatchOptions{})
	expectConversionRefused(t, "break again", err, "from v2 to v3", "spec.conversion.converters[2].rules[0]", "spec.timeout")
}
