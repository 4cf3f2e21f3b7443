// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	"celador.io/apiserver/pkg/features"
)

func typeEnforcement(t *testing.T, on bool) featuregate.FeatureGate {
	t.Helper()
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := gates.SetFromMap(map[string]bool{string(features.AdmissionPolicyTypeEnforcement): on}); err != nil {
		t.Fatal(err)
	}
	return gates
}

// enforcing returns an Enforced policy that denies more than 5 replicas.
func enforcing(uid types.UID, failurePolicy v1.FailurePolicyType) *v1.ValidatingAdmissionPolicy {
	policy := atMost("few", "5")
	policy.UID, policy.Spec.TypeChecking, policy.Spec.FailurePolicy = uid, new(v1.EnforcedTypeChecking), &failurePolicy
	return policy
}

func enforcingPlugin(t *testing.T, on bool, objects ...runtime.Object) (*validatingadmissionpolicy.Plugin, *server) {
	t.Helper()
	s := newServer(t, append(objects, policytest.Binding("few", "few", v1.Warn, v1.Audit))...)
	s.gates = typeEnforcement(t, on)
	plugin := newPlugin(t)
	s.initialize(t, plugin)
	s.start()
	return plugin, s
}

const (
	unchecked  = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' denied request: failed to configure policy: policy has not been type checked yet`
	typeErrors = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'few' denied request: failed to configure policy: spec.validations[0].expression does not fit`
)

var errTypes = errors.New("spec.validations[0].expression does not fit")

// verdicts returns the store that receives the verdicts of the plugin's policies.
func verdicts(t *testing.T, plugin *validatingadmissionpolicy.Plugin) typecheck.VerdictStore {
	t.Helper()
	kind, store := plugin.VerdictStore()
	if kind != "ValidatingAdmissionPolicy" || store == nil {
		t.Fatalf("got verdict store %v of kind %s", store, kind)
	}
	return store
}

// A verdict takes effect at once on an Enforced policy, whatever its bindings' validationActions
// are.
func TestVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		policy           *v1.ValidatingAdmissionPolicy
		off              bool
		unchecked, wrong string
	}{
		"enforced":         {policy: enforcing("a", v1.Fail), unchecked: unchecked, wrong: typeErrors},
		"ignored failures": {policy: enforcing("a", v1.Ignore)},
		"gate off":         {policy: enforcing("a", v1.Fail), off: true},
		"not enforced":     {policy: atMost("few", "5")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plugin, _ := enforcingPlugin(t, !test.off, test.policy)
				expect := func(what, want string, warned bool) {
					t.Helper()
					got := send(t, plugin, create(9), interfaces())
					if text(got.Err) != want {
						t.Errorf("%s: error is %q, want %q", what, text(got.Err), want)
					}
					if (len(got.Warnings) > 0) != warned {
						t.Errorf("%s: warnings are %q", what, got.Warnings)
					}
				}
				decides := test.off || test.policy.Spec.TypeChecking == nil
				expect("not checked", test.unchecked, decides)
				verdicts(t, plugin).SetVerdict("few", test.policy.UID, 1, nil)
				expect("right", "", true)
				verdicts(t, plugin).SetVerdict("few", test.policy.UID, 1, errTypes)
				expect("wrong", test.wrong, decides)
				verdicts(t, plugin).SetVerdict("few", test.policy.UID, 1, nil)
				expect("repaired", "", true)
			})
		})
	}
}

// Events about policies and verdicts on them arrive in any order.
func TestVerdictsAndEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugin, s := enforcingPlugin(t, true)
		client := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		expect := func(what, want string) {
			t.Helper()
			synctest.Wait()
			if got := text(send(t, plugin, create(3), interfaces()).Err); got != want {
				t.Errorf("%s: error is %q, want %q", what, got, want)
			}
		}
		write := func(policy *v1.ValidatingAdmissionPolicy, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		policy := enforcing("a", v1.Fail)
		write(client.Create(t.Context(), policy, metav1.CreateOptions{}))
		expect("created", unchecked)
		verdicts(t, plugin).SetVerdict("few", "a", 1, errTypes)
		expect("checked", typeErrors)

		policy = policy.DeepCopy()
		policy.Generation, policy.ResourceVersion = 2, "2"
		write(client.Update(t.Context(), policy, metav1.UpdateOptions{}))
		expect("changed", typeErrors)
		verdicts(t, plugin).SetVerdict("few", "a", 2, nil)
		expect("changed, checked", "")

		if err := client.Delete(t.Context(), "few", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("deleted", "")
		verdicts(t, plugin).SetVerdict("few", "a", 2, errTypes)
		verdicts(t, plugin).ForgetVerdict("few")
		expect("deleted, checked", "")

		write(client.Create(t.Context(), enforcing("b", v1.Fail), metav1.CreateOptions{}))
		expect("created again", unchecked)
		verdicts(t, plugin).SetVerdict("few", "b", 1, nil)
		expect("created again, checked", "")
	})
}

// A policy without a nil verdict counts as invalid.
func TestMetricsOfVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugin, _ := enforcingPlugin(t, true, enforcing("a", v1.Ignore))
		const (
			policies = "celador_admission_policy_policies"
			ignored  = "celador_admission_policy_ignored_failures_total"
			kind     = "kind=ValidatingAdmissionPolicy"
		)
		for _, step := range []struct {
			name            string
			err             error
			checked         bool
			active, invalid float64
			ignored         float64
		}{
			{name: "not checked", invalid: 1, ignored: 1},
			{name: "right", checked: true, active: 1},
			{name: "wrong", checked: true, err: errTypes, invalid: 1, ignored: 1},
		} {
			if step.checked {
				verdicts(t, plugin).SetVerdict("few", "a", 1, step.err)
			}
			before := observed(t, ignored)[kind+" policy=few"]
			send(t, plugin, create(3), interfaces())
			got := observed(t, policies)
			if got[kind+" state=active"] != step.active || got[kind+" state=invalid"] != step.invalid {
				t.Errorf("%s: policies are %v, want %v active and %v invalid", step.name, got, step.active, step.invalid)
			}
			if n := observed(t, ignored)[kind+" policy=few"] - before; n != step.ignored {
				t.Errorf("%s: %v ignored failures, want %v", step.name, n, step.ignored)
			}
		}
	})
}

func TestDisabledPluginTakesNoVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
		if err := gates.SetFromMap(map[string]bool{string(features.ValidatingAdmissionPolicy): false}); err != nil {
			t.Fatal(err)
		}
		s := newServer(t, enforcing("a", v1.Fail), policytest.Binding("few", "few", v1.Deny))
		s.gates = gates
		plugin := newPlugin(t)
		s.initialize(t, plugin)
		s.start()
		if _, store := plugin.VerdictStore(); store != nil {
			t.Errorf("got verdict store %v of a disabled plugin, want none", store)
		}
		if err := plugin.Validate(t.Context(), create(9), interfaces()); err != nil {
			t.Error(err)
		}
	})
}
