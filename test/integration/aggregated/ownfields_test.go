// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregated

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"

	bakery "celador.io/celador/examples/aggregated-apiserver/bakery/v1"
	"celador.io/celador/test/integration/testserver"
)

const ownGates = "--feature-gates=ValidatingAdmissionPolicySingleton=true,ValidatingAdmissionPolicyValidationFailurePolicy=true," +
	"ValidatingAdmissionPolicyFallbackBinding=true,AdmissionPolicyTypeEnforcement=true,MutatingAdmissionPolicyInlineExpressions=true"

// ownFields are policies with fields that Kubernetes does not have. The policies of each case
// decide about the orders of a customer with the name of the case.
var ownFields = map[string]struct {
	validating []v1.ValidatingAdmissionPolicySpec
	mutating   []v1.MutatingAdmissionPolicySpec
	// bindings bind the first validating policy. The other policies have bindings without a spec of
	// their own, unless unbound is set.
	bindings []v1.ValidatingAdmissionPolicyBindingSpec
	unbound  bool
	// celador and kubernetes are the results of an order behind these servers, or refused.
	celador, kubernetes string
}{
	"singleton": {
		validating: []v1.ValidatingAdmissionPolicySpec{{PolicyType: ptr.To(v1.SingletonPolicy), Validations: policytest.Validations("false")}},
		unbound:    true,
		celador:    "denied request", kubernetes: "admitted",
	},
	"validation-failure": {
		validating: []v1.ValidatingAdmissionPolicySpec{{Validations: []v1.Validation{{Expression: "object.spec.items[1].loaves > 0", FailurePolicy: ptr.To(v1.Ignore)}}}},
		celador:    "admitted", kubernetes: "index out of bounds",
	},
	"fallback": {
		validating: []v1.ValidatingAdmissionPolicySpec{{Validations: policytest.Validations("false")}},
		bindings: []v1.ValidatingAdmissionPolicyBindingSpec{
			{ValidationActions: []v1.ValidationAction{v1.Warn}},
			{ValidationActions: []v1.ValidationAction{v1.Deny}, BindingType: ptr.To(v1.FallbackBinding)},
		},
		celador: "admitted", kubernetes: "denied request",
	},
	"enforced": {
		validating: []v1.ValidatingAdmissionPolicySpec{{TypeChecking: ptr.To(v1.EnforcedTypeChecking), Validations: policytest.Validations("object.spec.?price.orValue(2) > 1")}},
		celador:    "undefined field 'price'", kubernetes: "admitted",
	},
	"enforced-mutation": {
		mutating: []v1.MutatingAdmissionPolicySpec{{TypeChecking: ptr.To(v1.EnforcedTypeChecking), Mutations: []v1.Mutation{deliver("object.spec.?price.hasValue() ? 'courier' : 'pickup'")}}},
		celador:  "undefined field 'price'", kubernetes: "admitted, pickup",
	},
	"condition": {
		mutating: []v1.MutatingAdmissionPolicySpec{{Mutations: []v1.Mutation{withCondition(deliver("'courier'"), "object.spec.items.size() > 1")}}},
		celador:  "admitted", kubernetes: "admitted, courier",
	},
	"expression": {
		mutating: []v1.MutatingAdmissionPolicySpec{{Mutations: []v1.Mutation{{Expression: ptr.To(`JSONPatch{op: "add", path: "/spec/delivery", value: "courier"}`)}}}},
		celador:  "admitted, courier", kubernetes: refused,
	},
	"message": {
		mutating: []v1.MutatingAdmissionPolicySpec{{Mutations: []v1.Mutation{{Expression: ptr.To("false"), Message: ptr.To("no orders today"), Reason: ptr.To(metav1.StatusReasonInvalid)}}}},
		celador:  "no orders today", kubernetes: refused,
	},
	"merge-patch": {
		mutating: []v1.MutatingAdmissionPolicySpec{{Mutations: []v1.Mutation{{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: `{"spec": {"delivery": "courier"}}`}}}}},
		celador:  "admitted, courier", kubernetes: refused,
	},
	"reinvocation": {
		mutating: []v1.MutatingAdmissionPolicySpec{
			{Mutations: []v1.Mutation{withReinvocation(deliver("object.spec.?delivery.orValue('') == 'courier' ? 'express' : object.spec.?delivery.orValue('')"))}},
			{Mutations: []v1.Mutation{deliver("object.spec.?delivery.orValue('') == '' ? 'courier' : object.spec.delivery")}},
		},
		celador: "admitted, express", kubernetes: "admitted, courier",
	},
}

// refused is the result of a case whose policy the main server refuses.
const refused = "refused"

// deliver returns a mutation that sets how an order is delivered.
func deliver(expression string) v1.Mutation {
	return policytest.JSONPatch(`[JSONPatch{op: "add", path: "/spec/delivery", value: ` + expression + `}]`)
}

func withCondition(m v1.Mutation, condition string) v1.Mutation {
	m.Condition = &condition
	return m
}

func withReinvocation(m v1.Mutation) v1.Mutation {
	m.ReinvocationPolicy = ptr.To(v1.IfNeededReinvocationPolicy)
	return m
}

// Fields that only Celador has take effect behind Celador. Behind Kubernetes, which drops them or
// refuses the policy, the rest of the policy decides.
func TestOwnFields(t *testing.T) {
	for _, command := range []string{celador, kubernetes} {
		t.Run(command, func(t *testing.T) {
			var mainFlags []string
			if command == celador {
				mainFlags = []string{ownGates}
			}
			c := startCluster(t, command, mainFlags, []string{ownGates})
			c.register(t)
			for name, test := range ownFields {
				want := test.celador
				if command == kubernetes {
					want = test.kubernetes
				}
				for i, spec := range test.validating {
					c.createValidating(t, fmt.Sprintf("%s-%d", name, i), name, spec, test.bindings, test.unbound)
				}
				for i, spec := range test.mutating {
					err := c.createMutating(t, fmt.Sprintf("%s-%d", name, i), name, spec)
					if (want == refused) != apierrors.IsInvalid(err) || want != refused && err != nil {
						t.Fatalf("%s: got error %v, want %s", name, err, want)
					}
				}
			}
			// Once the server knows these policies, it knows the ones before.
			c.createValidating(t, "last", "last", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("has(object.spec.delivery)")}, nil, false)
			testserver.Eventually(t, func(ctx context.Context) error { return c.expectOrder(ctx, "last", "denied request") })
			testserver.ExpectAdmitted(t, c.createMutating(t, "last", "last", v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{deliver("'courier'")}}))
			testserver.Eventually(t, func(ctx context.Context) error { return c.expectOrder(ctx, "last", "admitted, courier") })

			for name, test := range ownFields {
				t.Run(name, func(t *testing.T) {
					want := test.celador
					if command == kubernetes {
						want = test.kubernetes
					}
					if want == refused {
						want = "admitted"
					}
					testserver.Eventually(t, func(ctx context.Context) error { return c.expectOrder(ctx, name, want) })
				})
			}
		})
	}
}

// ordersOf returns match constraints for the orders of a customer. Match conditions would not do:
// an Enforced policy with type errors fails all requests that its constraints match.
func ordersOf(customer string) *v1.MatchResources {
	match := policytest.Match(v1.Equivalent, policytest.Rule(bakery.GroupVersion.Group, bakery.GroupVersion.Version, "orders", v1.Create))
	match.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"customer": customer}}
	return match
}

// createValidating creates a policy for the orders of a customer with bindings, or with one that
// denies.
func (c *cluster) createValidating(t *testing.T, name, customer string, spec v1.ValidatingAdmissionPolicySpec, bindings []v1.ValidatingAdmissionPolicyBindingSpec, unbound bool) {
	t.Helper()
	spec.MatchConstraints = ordersOf(customer)
	client := c.Policies.AdmissionregistrationV1()
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	testserver.Must(client.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}))(t)
	if bindings == nil && !unbound {
		bindings = []v1.ValidatingAdmissionPolicyBindingSpec{{ValidationActions: []v1.ValidationAction{v1.Deny}}}
	}
	for i, spec := range bindings {
		spec.PolicyName = name
		binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)}, Spec: spec}
		testserver.Must(client.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}))(t)
	}
}

// createMutating creates a policy for the orders of a customer with a binding. It returns the error
// of the policy.
func (c *cluster) createMutating(t *testing.T, name, customer string, spec v1.MutatingAdmissionPolicySpec) error {
	t.Helper()
	spec.MatchConstraints = ordersOf(customer)
	spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	client := c.Policies.AdmissionregistrationV1()
	policy := &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	if _, err := client.MutatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := policytest.MutatingBinding(name, name)
	binding.ObjectMeta = metav1.ObjectMeta{Name: name}
	testserver.Must(client.MutatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}))(t)
	return nil
}

// expectOrder returns an error unless an order of the customer is denied with the wanted text, or
// is admitted with the wanted delivery.
func (c *cluster) expectOrder(ctx context.Context, customer, want string) error {
	wanted := order(1)
	wanted.SetLabels(map[string]string{"customer": customer})
	created, err := c.ordersIn(namespace).Create(ctx, wanted, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		if strings.HasPrefix(want, "admitted") || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got error %w, want %q", err, want)
		}
		return nil
	}
	got := "admitted"
	if delivery, ok := created.Object["spec"].(map[string]any)["delivery"]; ok {
		got += fmt.Sprintf(", %v", delivery)
	}
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
