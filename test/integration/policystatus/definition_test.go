// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// The status follows changes of a custom resource that the policy matches or uses as params.
func TestDefinitionChanges(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]func(group string) string{
		"matched": func(group string) string {
			return matching(group, "v1", "widgets") + `validations: [{expression: object.spec.size < 5}]`
		},
		"parameters": func(group string) string {
			return matching("apps", "v1", "deployments") + `
paramKind: {apiVersion: ` + group + `/v1, kind: Widget}
validations: [{expression: object.spec.replicas < params.spec.size}]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := testserver.UniqueName("changes") + ".example.com"
			policy := write(t, spec(group))
			expect(t, policy.Name, isMissing)

			define(t, widgets(t, group, "v1", "{size: {type: string}}"))
			status := expect(t, policy.Name, doesNotFit)
			first := expectObserved(t, status, group)

			edit(t, group, func(d *apiextensionsv1.CustomResourceDefinition) {
				d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
			})
			status = expect(t, policy.Name, fits)
			second := expectObserved(t, status, group)
			if second.UID != first.UID || second.Generation <= first.Generation {
				t.Errorf("after a change: observed %+v after %+v", second, first)
			}

			undefine(t, group)
			expect(t, policy.Name, isMissing)

			define(t, widgets(t, group, "v1", "{weight: {type: integer}}"))
			status = expect(t, policy.Name, doesNotFit)
			third := expectObserved(t, status, group)
			if third.UID == second.UID || third.Generation > second.Generation {
				t.Errorf("after it was created again: observed %+v after %+v", third, second)
			}

			edit(t, group, func(d *apiextensionsv1.CustomResourceDefinition) {
				version := *d.Spec.Versions[0].DeepCopy()
				version.Name = "v2"
				d.Spec.Versions[0].Storage = false
				d.Spec.Versions[0].Served = false
				d.Spec.Versions = append(d.Spec.Versions, version)
			})
			expect(t, policy.Name, isMissing)
		})
	}
}

// A definition that is deleted before its first use is established during its deletion. The
// status follows.
func TestDefinitionDeletedAtOnce(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("once") + ".example.com"
	policy := write(t, matching(group, "v1", "widgets")+`validations: [{expression: object.spec.size < 5}]`)
	expect(t, policy.Name, isMissing)
	for range 10 {
		define(t, widgets(t, group, "v1", "{size: {type: string}}"))
		undefine(t, group)
		status := expect(t, policy.Name, isMissing)
		if len(status.ObservedCustomResources) > 0 {
			t.Errorf("the status is based on %v, which are gone", status.ObservedCustomResources)
		}
	}
}

// A changed policy gets a status of the new generation.
func TestPolicyChange(t *testing.T) {
	t.Parallel()
	policy := write(t, matching("apps", "v1", "deployments")+`validations: [{expression: object.spec.size < 5}]`)
	before := expect(t, policy.Name, doesNotFit)

	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	policy = testserver.Must(client.Get(t.Context(), policy.Name, metav1.GetOptions{}))(t)
	policy.Spec.Validations[0].Expression = "object.spec.replicas < 5"
	policy = testserver.Must(client.Update(t.Context(), policy, metav1.UpdateOptions{}))(t)
	after := expect(t, policy.Name, fits)
	if before.ObservedGeneration != 1 || after.ObservedGeneration != 2 || len(after.TypeChecking.ExpressionWarnings) > 0 {
		t.Errorf("got generations %d and %d with warnings %v, want 1 and 2 without", before.ObservedGeneration, after.ObservedGeneration, after.TypeChecking)
	}
	for i, condition := range after.Conditions {
		kept := condition.LastTransitionTime.Equal(&before.Conditions[i].LastTransitionTime)
		if changed := condition.Status != before.Conditions[i].Status; !changed && !kept {
			t.Errorf("condition %s has another time but the same status", condition.Type)
		}
		if condition.ObservedGeneration != 2 {
			t.Errorf("condition %s is of generation %d", condition.Type, condition.ObservedGeneration)
		}
	}
}

// expectObserved checks that the status is based on the current definition of the group's widgets
// only.
func expectObserved(t *testing.T, status v1.ValidatingAdmissionPolicyStatus, group string) v1.ObservedCustomResource {
	t.Helper()
	definition := testserver.Must(definitions.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), "widgets."+group, metav1.GetOptions{}))(t)
	want := v1.ObservedCustomResource{Group: group, Version: "v1", Kind: "Widget", Generation: definition.Generation, UID: definition.UID}
	if diff := cmp.Diff([]v1.ObservedCustomResource{want}, status.ObservedCustomResources); diff != "" {
		t.Errorf("observed custom resources (-want +got):\n%s", diff)
	}
	return want
}

// edit updates the definition of the group's widgets.
func edit(t *testing.T, group string, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	client := definitions.ApiextensionsV1().CustomResourceDefinitions()
	testserver.Eventually(t, func(ctx context.Context) error {
		current, err := client.Get(ctx, "widgets."+group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(current)
		_, err = client.Update(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

// established waits until the group's widgets are served. Deleting a definition earlier may take
// long.
func established(t *testing.T, group string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		definition, err := definitions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, "widgets."+group, metav1.GetOptions{})
		if err == nil && !apihelpers.IsCRDConditionTrue(definition, apiextensionsv1.Established) {
			err = fmt.Errorf("not established: %v", definition.Status.Conditions)
		}
		return err
	})
}

// undefine deletes the definition of the group's widgets and waits until it is gone.
//
// Kubernetes may stop processing the deletion of a definition whose widgets have not been read yet:
// its first attempt to list widgets may fail, and it gives up the next attempt if its cached
// definition is outdated, until the definition changes again. undefine therefore annotates the
// definition every second.
func undefine(t *testing.T, group string) {
	t.Helper()
	client := definitions.ApiextensionsV1().CustomResourceDefinitions()
	if err := client.Delete(t.Context(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reminded := time.Now()
	testserver.Eventually(t, func(ctx context.Context) error {
		definition, err := client.Get(ctx, "widgets."+group, metav1.GetOptions{})
		if err == nil && time.Since(reminded) > time.Second {
			reminded = time.Now()
			reminder := fmt.Sprintf(`{"metadata": {"annotations": {"reminded": %q}}}`, reminded)
			_, err = client.Patch(ctx, "widgets."+group, types.MergePatchType, []byte(reminder), metav1.PatchOptions{})
		}
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return fmt.Errorf("the definition is still there: %v", definition.Status.Conditions)
		}
	})
}
