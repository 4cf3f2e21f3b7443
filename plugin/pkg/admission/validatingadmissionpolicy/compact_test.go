// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"celador.io/admission/policytest"
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

// The informers cache what the plugin and the status controller read: policies without most
// metadata. Bindings have an informer for those who ask for it.
func TestCachedObjects(t *testing.T) {
	p := atMost("few", "5")
	p.ObjectMeta = storedMeta("few")
	p.Spec.MatchConstraints = inTeam("blue")
	p.Status.ObservedGeneration = 3
	b := policytest.Binding("b", "few", v1.Deny)
	b.ObjectMeta = storedMeta("b")
	synctest.Test(t, func(t *testing.T) {
		_, s := started(t, p.DeepCopy(), b.DeepCopy())
		informers := s.policyInformers.Admissionregistration().V1()
		got, err := informers.ValidatingAdmissionPolicies().Lister().Get("few")
		want := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "few", UID: "uid-of-1", ResourceVersion: "7", Generation: 3}, Spec: p.Spec, Status: p.Status}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("policy differs (-want +got):\n%s%v", diff, err)
		}
		// The informers are part of the configuration that embedders get.
		lister := informers.ValidatingAdmissionPolicyBindings().Lister()
		s.policyInformers.Start(s.stop)
		synctest.Wait()
		all, err := lister.List(labels.Everything())
		if err != nil || len(all) != 1 || !equality.Semantic.DeepEqual(all[0].Spec, b.Spec) {
			t.Errorf("the lister of bindings returns %v, %v", all, err)
		}
	})
}
