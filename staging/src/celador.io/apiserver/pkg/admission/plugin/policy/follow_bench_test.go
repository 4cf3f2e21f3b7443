// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/policy"
	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

// BenchmarkStart measures the time from the start of the informers until a store has 1,000
// policies and their bindings.
func BenchmarkStart(b *testing.B) {
	for round := 0; b.Loop(); round++ {
		b.StopTimer()
		stop := make(chan struct{})
		client := fake.NewSimpleClientset(thousandPolicies(round)...)
		factory := informers.NewSharedInformerFactory(client, 0)
		store := validating.NewEngine(validating.Config{}).NewStore()
		followed, err := policy.Follow[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding](wait.ContextForChannel(stop), store,
			factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer(), bindingsOf(client), sameSpec, policymetrics.For(b.Name()))
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		b.StartTimer()
		factory.Start(stop)
		if err := wait.PollUntilContextCancel(b.Context(), time.Millisecond, true, func(context.Context) (bool, error) { return followed.Synced(), nil }); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		close(stop)
		factory.Shutdown()
		b.StartTimer()
	}
}

// thousandPolicies returns policies and bindings. Their expressions differ in each round, so
// that no compiled expression is reused.
func thousandPolicies(round int) []kuberuntime.Object {
	var objects []kuberuntime.Object
	for i := range 1000 {
		p := &v1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)},
			Spec: v1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.Create},
					Rule:       v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
				}}}},
				Variables: []v1.Variable{{Name: "containers", Expression: fmt.Sprintf("object.spec.template.spec.containers.filter(c, c.name != 'c%d-%d')", i, round)}},
				Validations: []v1.Validation{
					{Expression: fmt.Sprintf("variables.containers.all(c, c.image.startsWith('registry.example.com/%d-%d/') && !c.image.endsWith(':latest'))", i, round)},
					{Expression: fmt.Sprintf("object.spec.replicas <= %d", 1000*round+i)},
				},
			},
		}
		objects = append(objects, p, bindingOf(p.Name))
	}
	return objects
}
