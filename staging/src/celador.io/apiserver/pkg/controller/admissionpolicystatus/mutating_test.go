// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	v1 "celador.io/api/admissionregistration/v1"
)

// mutatingPolicy returns policy p in generation 2 with the spec and status in YAML.
func mutatingPolicy(t *testing.T, spec, status string) *v1.MutatingAdmissionPolicy {
	t.Helper()
	return &v1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "m-uid", Generation: 2, ResourceVersion: "7"},
		Spec:       parse[v1.MutatingAdmissionPolicySpec](t, spec),
		Status:     parse[v1.MutatingAdmissionPolicyStatus](t, status),
	}
}

// mutatingLike returns a mutating policy with the match constraints and the paramKind of p, and
// with p's validations as conditions of its mutations.
func mutatingLike(p *v1.ValidatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	m := &v1.MutatingAdmissionPolicy{ObjectMeta: p.ObjectMeta, Status: v1.MutatingAdmissionPolicyStatus(p.Status)}
	m.Spec.MatchConstraints, m.Spec.ParamKind, m.Spec.TypeChecking = p.Spec.MatchConstraints, p.Spec.ParamKind, p.Spec.TypeChecking
	for _, v := range p.Spec.Validations {
		m.Spec.Mutations = append(m.Spec.Mutations, v1.Mutation{
			Condition: &v.Expression,
			PatchType: v1.PatchTypeJSONPatch,
			JSONPatch: &v1.JSONPatch{Expression: "[JSONPatch{op: 'remove', path: '/metadata/labels'}]"},
		})
	}
	return m
}

// The conditions report the errors of mutations.
func TestMutations(t *testing.T) {
	const (
		fits       = "True NoTypeErrors "
		doesNotFit = "False TypeErrors Expressions do not fit types: "
		configured = "True Configured "
	)
	apply := func(object string) string {
		return `{` + onDeployments + `mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "` + object + `"}}]}`
	}
	inline := `{` + onDeployments + `mutations: [{expression: "object.spec.replicas > 5 ? [JSONPatch{op: 'test', path: '/'}] : []", condition: "object.spec.x == 1"}]}`
	for name, tc := range map[string]struct {
		spec               string
		enforce, inline    bool
		available, checked string // status, reason and prefix of the message
	}{
		"fits":         {spec: apply("Object{spec: Object.spec{replicas: 5}}"), available: configured, checked: fits},
		"reads wrong":  {spec: apply("Object{spec: Object.spec{replicas: object.spec.x}}"), available: configured, checked: doesNotFit + "spec.mutations[0].applyConfiguration.expression."},
		"writes wrong": {spec: apply("Object{spec: Object.spec{x: 5}}"), available: configured, checked: doesNotFit + "spec.mutations[0].applyConfiguration.expression."},
		"Enforced": {
			spec: strings.Replace(apply("Object{spec: Object.spec{x: 5}}"), "mutations", "typeChecking: Enforced, mutations", 1), enforce: true,
			available: "False Misconfigured spec.mutations[0].applyConfiguration.expression does not fit apps/v1, Kind=Deployment: ERROR: <input>:1:",
			checked:   doesNotFit + "spec.mutations[0].applyConfiguration.expression.",
		},
		"Enforced without the gate": {
			spec:      strings.Replace(apply("Object{spec: Object.spec{x: 5}}"), "mutations", "typeChecking: Enforced, mutations", 1),
			available: configured, checked: doesNotFit + "spec.mutations[0].applyConfiguration.expression.",
		},
		"does not compile": {
			spec:      apply("1"),
			available: "False Misconfigured spec.mutations[0].applyConfiguration.expression: must evaluate to Object but got int", checked: fits,
		},
		"of its own": {
			spec: inline, inline: true,
			available: configured, checked: doesNotFit + "spec.mutations[0].condition.",
		},
		"of its own, without the gate": {
			spec:      inline,
			available: `False Misconfigured spec.mutations[0]: mutation has no expression for patchType "", or feature gate MutatingAdmissionPolicyInlineExpressions is off`,
			checked:   doesNotFit + "spec.mutations[0].condition.",
		},
		"variable": {
			spec:      `{` + onDeployments + `variables: [{name: a, expression: object.spec.x}], mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/replicas', value: variables.a}]"}}]}`,
			available: configured, checked: doesNotFit + "spec.variables[0].expression.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, mutatingPolicy(t, tc.spec, "{}"))
				c.enforce, c.inline = tc.enforce, tc.inline
				c.run(t)
				sent := c.patches(t)
				if len(sent) != 1 || sent[0].Kind != "MutatingAdmissionPolicy" || sent[0].Metadata.UID != "m-uid" {
					t.Fatalf("wrote %+v, want one status of the policy", sent)
				}
				for name, want := range map[string]string{v1.PolicyConditionAvailable: tc.available, v1.PolicyConditionTypeChecked: tc.checked} {
					condition := find(sent[0].Status.Conditions, name)
					if got := string(condition.Status) + " " + condition.Reason + " " + condition.Message; !strings.HasPrefix(got, want) {
						t.Errorf("condition %s is %q, want %q", name, got, want)
					}
				}
				if wrong := len(sent[0].Status.TypeChecking.ExpressionWarnings) > 0; wrong != (tc.checked != fits) {
					t.Errorf("warnings are %+v", sent[0].Status.TypeChecking.ExpressionWarnings)
				}
			})
		})
	}
}

// Policies of two kinds with the same name are independent.
func TestKindsAreApart(t *testing.T) {
	const fitting = `{` + onDeployments + `mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/metadata/labels'}]"}}]}`
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onGadgets, "{}"))
		if err := c.policies.Tracker().Add(mutatingPolicy(t, fitting, "{}")); err != nil {
			t.Fatal(err)
		}
		c.record(t)
		c.run(t)
		var wrote []string
		for _, p := range c.patches(t) {
			wrote = append(wrote, p.Kind+" "+p.Metadata.UID+" "+string(find(p.Status.Conditions, v1.PolicyConditionAvailable).Status))
		}
		slices.Sort(wrote)
		if diff := cmp.Diff([]string{"MutatingAdmissionPolicy m-uid True", "ValidatingAdmissionPolicy p-uid False"}, wrote); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		var about []string
		for _, event := range c.events(t) {
			about = append(about, event.Regarding.Kind+" "+event.Reason)
		}
		if diff := cmp.Diff([]string{"ValidatingAdmissionPolicy Misconfigured"}, about); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(`
			# HELP celador_admission_policy_conditions [ALPHA] Policies by kind, condition in their status and status of the condition.
			# TYPE celador_admission_policy_conditions gauge
			celador_admission_policy_conditions{condition="Available",kind="MutatingAdmissionPolicy",status="True"} 1
			celador_admission_policy_conditions{condition="Available",kind="ValidatingAdmissionPolicy",status="False"} 1
			celador_admission_policy_conditions{condition="TypeChecked",kind="MutatingAdmissionPolicy",status="True"} 1
			celador_admission_policy_conditions{condition="TypeChecked",kind="ValidatingAdmissionPolicy",status="Unknown"} 1
		`), "celador_admission_policy_conditions"); err != nil {
			t.Error(err)
		}

		c.verdicts.lock.Lock()
		slices.Sort(c.verdicts.calls)
		c.verdicts.lock.Unlock()
		c.expectVerdicts(t, "MutatingAdmissionPolicy p m-uid 2: <nil>", "ValidatingAdmissionPolicy p p-uid 2: <nil>")
		if err := c.policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle()
		c.expectVerdicts(t, "forget MutatingAdmissionPolicy p")
	})
}
