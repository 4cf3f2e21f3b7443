// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"celador.io/admission/policytest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "celador.io/api/admissionregistration/v1"
)

// storedMeta returns metadata of a stored object, with labels, annotations and managed fields.
func storedMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, UID: "uid-of-1", ResourceVersion: "7", Generation: 3,
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "Helm", "team": "blue"},
		Annotations: map[string]string{"meta.helm.sh/release-name": "policies"},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "helm", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)},
		}},
	}
}

func inTeam(team string) *v1.MatchResources {
	return &v1.MatchResources{
		MatchPolicy:       new(v1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": team}},
		ObjectSelector:    &metav1.LabelSelector{},
		ResourceRules: []v1.NamedRuleWithOperations{{ResourceNames: []string{"web"}, RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.Create},
			Rule:       v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}, Scope: new(v1.AllScopes)},
		}}},
	}
}

// cachedBindings returns the bindings in the informer's cache, by name.
func (s *server) cachedBindings(t *testing.T) map[string]*v1.ValidatingAdmissionPolicyBinding {
	t.Helper()
	bindings, err := s.policyInformers.Admissionregistration().V1().ValidatingAdmissionPolicyBindings().Lister().List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]*v1.ValidatingAdmissionPolicyBinding{}
	for _, b := range bindings {
		result[b.Name] = b
	}
	return result
}

// Objects in the informers' caches equal the objects that the server returned, except fields that are
// dropped.
func TestCompactObjectsAreEqual(t *testing.T) {
	ref := func(name string) *v1.ParamRef {
		return &v1.ParamRef{Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
	}
	selected := &v1.ParamRef{Namespace: "blue", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"set": "a"}}}
	long := map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("{}", 100)}
	specs := []v1.ValidatingAdmissionPolicyBindingSpec{
		{},
		{PolicyName: "p", MatchResources: &v1.MatchResources{}},
		{PolicyName: "p", MatchResources: inTeam("blue")},
		{PolicyName: "q", MatchResources: inTeam("red"), ParamRef: ref("a")},
		{PolicyName: "q", MatchResources: &v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{}}, ParamRef: ref("b")},
		{PolicyName: "p", MatchResources: &v1.MatchResources{ObjectSelector: &metav1.LabelSelector{}}, ParamRef: selected},
		{PolicyName: "p", BindingType: new(v1.FallbackBinding)},
	}
	for _, actions := range [][]v1.ValidationAction{
		{v1.Deny}, {v1.Warn}, {v1.Audit}, {v1.Deny, v1.Audit}, {v1.Audit, v1.Deny}, {v1.Warn, v1.Audit}, {v1.Audit, v1.Warn}, {v1.Audit, v1.Warn, "Applaud"},
	} {
		specs = append(specs, v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: actions})
	}
	var objects []runtime.Object
	bindings := map[string]*v1.ValidatingAdmissionPolicyBinding{}
	for i := range 3 * len(specs) {
		b := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: storedMeta(fmt.Sprint("b", i)), Spec: *specs[i%len(specs)].DeepCopy()}
		switch i % 3 {
		case 1:
			b.Labels, b.Annotations = map[string]string{"team": "red"}, long
		case 2:
			b.Labels, b.Annotations = nil, map[string]string{}
		}
		objects = append(objects, b.DeepCopy())
		b.ManagedFields = nil
		bindings[b.Name] = b
	}
	policy := atMost("p", "5")
	policy.ObjectMeta = storedMeta("p")
	policy.Spec.MatchConstraints = inTeam("blue")
	synctest.Test(t, func(t *testing.T) {
		_, s := started(t, append(objects, policy.DeepCopy())...)
		if diff := cmp.Diff(bindings, s.cachedBindings(t)); diff != "" {
			t.Errorf("bindings differ (-want +got):\n%s", diff)
		}
		got, err := s.policyInformers.Admissionregistration().V1().ValidatingAdmissionPolicies().Lister().Get("p")
		policy.ManagedFields = nil
		if diff := cmp.Diff(policy, got); diff != "" || err != nil {
			t.Errorf("policy differs (-want +got):\n%s%v", diff, err)
		}
	})
}

// Equal parts of objects in the informers' caches share memory, until an object changes.
func TestCompactObjectsShare(t *testing.T) {
	binding := func(name, team, param string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
		b := policytest.Binding(name, "few", actions...)
		b.ObjectMeta = storedMeta(name)
		b.Spec.MatchResources, b.Spec.ParamRef = inTeam(team), &v1.ParamRef{Name: param}
		return b
	}
	few := atMost("few", "5")
	few.Spec.MatchConstraints = inTeam("blue")
	synctest.Test(t, func(t *testing.T) {
		_, s := started(t, few, binding("a", "blue", "x", v1.Deny, v1.Audit), binding("b", "blue", "x", v1.Deny, v1.Audit), binding("c", "red", "y", v1.Deny))
		check := func(when string, aWithB, policyWithB bool) {
			t.Helper()
			cached := s.cachedBindings(t)
			policy, err := s.policyInformers.Admissionregistration().V1().ValidatingAdmissionPolicies().Lister().Get("few")
			if err != nil {
				t.Fatal(err)
			}
			a, b, c := cached["a"], cached["b"], cached["c"]
			for part, same := range map[string][2]bool{
				"match resources of a and b":                {a.Spec.MatchResources == b.Spec.MatchResources, aWithB},
				"match resources of b and the policy's":     {b.Spec.MatchResources == policy.Spec.MatchConstraints, policyWithB},
				"match resources of b and c":                {b.Spec.MatchResources == c.Spec.MatchResources, false},
				"params of a and b":                         {a.Spec.ParamRef == b.Spec.ParamRef, true},
				"params of b and c":                         {b.Spec.ParamRef == c.Spec.ParamRef, false},
				"actions of a and b":                        {&a.Spec.ValidationActions[0] == &b.Spec.ValidationActions[0], true},
				"actions of b and c":                        {&b.Spec.ValidationActions[0] == &c.Spec.ValidationActions[0], false},
				"labels of a and b":                         {sameMap(a.Labels, b.Labels), true},
				"annotations of b and c":                    {sameMap(b.Annotations, c.Annotations), true},
				"labels of a and annotations of a, unequal": {sameMap(a.Labels, a.Annotations), false},
			} {
				if same[0] != same[1] {
					t.Errorf("%s: %s are the same: %v, want %v", when, part, same[0], same[1])
				}
			}
		}
		check("when listed", true, true)
		changed := binding("a", "green", "x", v1.Deny, v1.Audit)
		if _, err := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		check("when a has changed", false, true)
		if _, err := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(t.Context(), binding("a", "blue", "x", v1.Deny, v1.Audit), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		check("when a is as before", true, true)
	})
}

func sameMap(a, b map[string]string) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
