// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"slices"
	"testing"

	"celador.io/celador/test/integration/testserver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestPolicyChanges(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	by := enforce(t, ns, configMaps("CREATE")+`validations: [{expression: "false", message: one}]`)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "one")

	change := func(patch string) {
		t.Helper()
		if _, err := client.Patch(ctx, by.policy, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		settle(t)
	}
	change(`{"spec": {"validations": [{"expression": "false", "message": "two"}]}}`)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "two")
	change(`{"spec": {"matchConditions": [{"name": "never", "expression": "false"}]}}`)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))
	change(`{"spec": {"matchConditions": null}}`)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "two")

	stored, err := client.Get(ctx, by.policy, metav1.GetOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = client.Patch(ctx, by.policy, types.MergePatchType, []byte(`{"status": {"observedGeneration": 1}}`), metav1.PatchOptions{}, "status")
	testserver.ExpectAdmitted(t, err)
	settle(t)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "two")

	testserver.ExpectAdmitted(t, client.Delete(ctx, by.policy, metav1.DeleteOptions{}))
	settle(t)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))

	// The binding still exists and applies to a new policy of that name.
	again := stored.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: by.policy}
	again.Spec.Validations[0].Message = "three"
	_, err = client.Create(ctx, again, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)
	settle(t)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "three")
}

func TestBindingChanges(t *testing.T) {
	t.Parallel()
	ns, other, ctx := admin.Namespace(t, nil), admin.Namespace(t, nil), t.Context()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	first := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false", message: one}]`)
	second := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false", message: two}]`)
	settle(t)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))

	by := denier{first, bind(t, first, testserver.In(ns))}
	settle(t)
	by.expectInvalid(t, newConfigMap(t, ns, nil), "one")
	testserver.ExpectAdmitted(t, newConfigMap(t, other, nil))

	change := func(patch string) {
		t.Helper()
		if _, err := client.Patch(ctx, by.binding, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		settle(t)
	}
	change(`{"spec": {"matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "` + other + `"}}}}}`)
	testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))
	by.expectInvalid(t, newConfigMap(t, other, nil), "one")

	change(`{"spec": {"policyName": "` + second + `"}}`)
	by.policy = second
	by.expectInvalid(t, newConfigMap(t, other, nil), "two")

	change(`{"spec": {"policyName": "missing"}}`)
	testserver.ExpectAdmitted(t, newConfigMap(t, other, nil))
	change(`{"spec": {"policyName": "` + second + `"}}`)
	by.expectInvalid(t, newConfigMap(t, other, nil), "two")

	testserver.ExpectAdmitted(t, client.Delete(ctx, by.binding, metav1.DeleteOptions{}))
	settle(t)
	testserver.ExpectAdmitted(t, newConfigMap(t, other, nil))
}

// Only action Deny denies requests.
func TestValidationActions(t *testing.T) {
	for actions, tc := range map[string]struct{ denied, warned bool }{
		"[Deny]":        {denied: true},
		"[Warn]":        {warned: true},
		"[Audit]":       {},
		"[Audit, Deny]": {denied: true},
		"[Audit, Warn]": {warned: true},
	} {
		t.Run(actions, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			policy := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false", message: nope}]`)
			by := denier{policy, bind(t, policy, "validationActions: "+actions+"\n"+testserver.In(ns))}
			settle(t)

			var got warnings
			config := rest.CopyConfig(admin.Config)
			config.WarningHandler = &got
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, metav1.CreateOptions{})
			if tc.denied {
				by.expectInvalid(t, err, "nope")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
			var want warnings
			if tc.warned {
				want = warnings{"Validation failed for ValidatingAdmissionPolicy '" + by.policy + "' with binding '" + by.binding + "': nope"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got warnings %q, want %q", got, want)
			}
		})
	}
}

// warnings collects the warnings of one request.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }
