// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"testing"

	kubernetesv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/policytest"
)

// An informer has one handler.
type informer struct {
	cache.ResourceEventHandler
	cache.ResourceEventHandlerRegistration
	synced bool
}

// AddEventHandler implements policy.Informer.
func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.ResourceEventHandler = handler
	return i, nil
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (i *informer) HasSynced() bool { return i.synced }

// A store takes the Go types of both APIs, from the caller and from informers. Each step says which
// policies are in effect afterwards.
func TestTypes(t *testing.T) {
	kubernetesPolicy := func(message string) *kubernetesv1.ValidatingAdmissionPolicy {
		rules := []kubernetesv1.NamedRuleWithOperations{{RuleWithOperations: kubernetesv1.RuleWithOperations{
			Operations: []kubernetesv1.OperationType{"*"},
			Rule:       kubernetesv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
		}}}
		return &kubernetesv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "p"},
			Spec: kubernetesv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &kubernetesv1.MatchResources{ResourceRules: rules},
				Validations:      []kubernetesv1.Validation{{Expression: "false", Message: message}},
			},
		}
	}
	kubernetesBinding := &kubernetesv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec:       kubernetesv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: []kubernetesv1.ValidationAction{kubernetesv1.Deny}},
	}
	binding := policytest.Binding("b", "p")
	s := newStore(false, nil)
	informer := &informer{}
	if err := s.Follow(informer); err != nil {
		t.Fatal(err)
	}
	if err := s.Synced(); err == nil || err.Error() != "policies and bindings are not listed yet" {
		t.Errorf("got %v", err)
	}
	informer.synced = true
	if err := s.Synced(); err != nil {
		t.Error(err)
	}
	for i, step := range []struct {
		change  func() error
		want    []string
		wantErr string
	}{
		{func() error { return s.Set(kubernetesPolicy("1"), kubernetesBinding) }, []string{"p/b: 1"}, ""},
		{func() error { return s.Set(denyingWith("p", "2")) }, []string{"p/b: 2"}, ""},
		{
			func() error { return s.Set(denyingWith("p", "3"), &corev1.Pod{}) }, []string{"p/b: 2"},
			"unexpected object of type *v1.Pod: want *v1.ValidatingAdmissionPolicy or *v1.ValidatingAdmissionPolicyBinding",
		},
		{func() error { informer.OnUpdate(nil, kubernetesPolicy("4")); return nil }, []string{"p/b: 4"}, ""},
		{func() error { informer.OnDelete(kubernetesBinding); return nil }, nil, ""},
		{func() error { informer.OnAdd(binding, false); return nil }, []string{"p/b: 4"}, ""},
		{func() error {
			informer.OnDelete(cache.DeletedFinalStateUnknown{Key: "p", Obj: kubernetesPolicy("4")})
			return nil
		}, nil, ""},
		{func() error { informer.OnAdd(kubernetesPolicy("5"), true); return nil }, []string{"p/b: 5"}, ""},
		{func() error { informer.OnAdd(&corev1.Pod{}, true); informer.OnDelete(&corev1.Pod{}); return nil }, []string{"p/b: 5"}, ""},
	} {
		err := step.change()
		if (err != nil || step.wantErr != "") && (err == nil || err.Error() != step.wantErr) {
			t.Errorf("step %d: got %v, want %s", i, err, step.wantErr)
		}
		if got := denials(t, s.Snapshot()); !slices.Equal(got, step.want) {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
	}
}
