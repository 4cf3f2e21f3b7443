// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/webhook"
)

func patch(t *testing.T, text string) jsonpatch.Patch {
	t.Helper()
	p, err := jsonpatch.DecodePatch([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A patch changes the object of the request once it is written back.
func TestPatch(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	deletion := admission.NewAttributesRecord(nil, pod("n"), kind, "default", "web", pods, "", admission.Delete, nil, false, jane)
	for name, test := range map[string]struct {
		on    admission.Attributes
		patch string
		// node is the node of the Pod afterwards.
		node string
		err  string
	}{
		"change":            {patch: `[{"op": "replace", "path": "/spec/nodeName", "value": "m"}]`, node: "m"},
		"same value":        {patch: `[{"op": "replace", "path": "/spec/nodeName", "value": "n"}]`, node: "n"},
		"missing path":      {patch: `[{"op": "remove", "path": "/spec/absent"}]`, node: "n", err: "Unable to remove nonexistent key: absent"},
		"no longer a Pod":   {patch: `[{"op": "replace", "path": "/spec", "value": "none"}]`, node: "n", err: "cannot unmarshal string into Go struct field Pod.spec"},
		"without an object": {on: deletion, patch: `[]`, err: "the request has no object"},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.on
			if a == nil {
				a = creation()
			}
			m := webhook.NewSet(nil).NewMutatingRequest(t.Context(), a, objects, webhook.Config{}, "Plugin")
			defer m.End()
			changed, err := m.Patch(kind, patch(t, test.patch))
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error is %v, want %q", err, test.err)
			}
			if changed != (test.node == "m") {
				t.Errorf("patch changes the object: %t", changed)
			}
			if a.GetObject() != nil && a.GetObject().(*corev1.Pod).Spec.NodeName != "n" {
				t.Error("the object changes before it is written back")
			}
			if err := m.WriteBack(); err != nil {
				t.Fatal(err)
			}
			if a.GetObject() != nil && a.GetObject().(*corev1.Pod).Spec.NodeName != test.node {
				t.Errorf("object is %v, want it on node %s", a.GetObject(), test.node)
			}
		})
	}
}

// The second run of admission invokes webhooks that agreed to it and after which the object
// changed.
func TestReinvocation(t *testing.T) {
	never := webhook.CompileMutating(&v1.MutatingWebhook{})
	ifNeeded := webhook.CompileMutating(&v1.MutatingWebhook{ReinvocationPolicy: new(v1.IfNeededReinvocationPolicy)})
	for name, test := range map[string]struct {
		// changing are the webhooks that change the object, touched is set if another plugin does.
		changing []string
		touched  bool
		want     []string
	}{
		"no change":                   {},
		"change by a later webhook":   {changing: []string{"c"}, want: []string{"a", "b"}},
		"change by the first webhook": {changing: []string{"a"}},
		"change by another plugin":    {touched: true, want: []string{"a", "b", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, webhooks := creation(), []string{"a", "b", "c", "d"}
			m := webhook.NewSet(nil).NewMutatingRequest(t.Context(), a, objects, webhook.Config{}, "Plugin")
			for _, uid := range webhooks {
				if !m.Due(uid) {
					t.Errorf("%s is not due in the first run", uid)
				}
				w := ifNeeded
				if uid == "c" {
					w = never
				}
				m.Invoked(w, uid, slices.Contains(test.changing, uid))
			}
			m.End()
			if got := a.GetReinvocationContext().ShouldReinvoke(); got != (len(test.changing) > 0) {
				t.Errorf("second run is requested: %t", got)
			}

			a.GetReinvocationContext().SetIsReinvoke()
			if test.touched {
				a.GetObject().(*corev1.Pod).Spec.NodeName = "m"
			}
			m = webhook.NewSet(nil).NewMutatingRequest(t.Context(), a, objects, webhook.Config{}, "Plugin")
			defer m.End()
			var due []string
			for _, uid := range webhooks {
				if m.Due(uid) {
					due = append(due, uid)
				}
			}
			if !slices.Equal(due, test.want) {
				t.Errorf("due are %v, want %v", due, test.want)
			}
		})
	}
}
