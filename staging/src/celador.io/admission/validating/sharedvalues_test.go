// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// producers holds expressions for values of every type. Values that cel-go or Kubernetes' libraries
// change in place come first.
var producers = []string{
	"bytes(object.metadata.name)", "b'' + bytes(object.metadata.name)", "bytes(object.metadata.name + '-and-a-longer-name')", "b'ab'", "b'a' + b'b'",
	"quantity(string(object.spec.replicas))", "quantity('1Gi')", "quantity(string(object.spec.replicas)).add(1)", "quantity('123456789012345678901234567890')",
	"optional.of([]).optMap(l, [l]).value()", "optional.of([]).optMap(l, {'a': l}).value()", "optional.of({}).optMap(m, [m]).value()", "[bytes(object.metadata.name)]", "{'a': bytes(object.metadata.name)}", "[quantity(string(object.spec.replicas))]",
	"optional.of(bytes(object.metadata.name))", "optional.of(quantity('1'))", "object.metadata.labels.map(k, bytes(k))",
	"['a', string(object.metadata.name)]", "object.metadata.labels.map(k, k)", "object.spec.template.spec.containers", "object.spec.template.spec.containers + object.spec.template.spec.containers", "{'a': object.metadata.name}", "object.metadata.labels",
	"object.metadata.labels.transformMap(k, v, v + 'x')", "object.metadata.name", "duration('1h')", "timestamp('2026-01-02T03:04:05Z')",
	"ip('10.0.0.1')", "url('https://a.example.com/p')", "semver('1.2.3')", "format.dns1123Label()",
}

// operations holds operators and methods to apply to $, a value of any type.
var operations = []string{
	"$ + b'0'", "$ + b'1'", "$ + bytes(object.metadata.name)", "b'0' + $", "$ + $", "$ + [1]", "$ + [2]", "[0] + $", "$ + 'x'", "$ + duration('1s')",
	"$[0] + b'0'", "$[0] + b'1'", "$[0] + [1]", "$[0] + [2]", "$.a + [1]", "$.a + [2]", "$.a + b'0'", "$.a + b'1'", "$.map(x, x + b'0')", "$.map(x, x + b'1')", "$.value() + b'0'", "$.value() + b'1'", "$.orValue(b'x') + b'2'",
	"$.isLessThan(quantity('123456789012345678901234567890'))", "$.isGreaterThan(quantity('123456789012345678901234567890'))", "$.compareTo(quantity('123456789012345678901234567890'))", "$ == quantity('123456789012345678901234567890')",
	"$.isInteger()", "$.asInteger()", "$.asApproximateFloat()", "sign($)", "$.add(quantity('123456789012345678901234567890')).isInteger()", "$.sub(1).asInteger()", "$[0].isInteger()", "$[0].isLessThan(quantity('123456789012345678901234567890'))", "$.value().isInteger()", "$.value().isLessThan(quantity('123456789012345678901234567890'))",
	"[$] == [quantity('123456789012345678901234567890')]", "quantity('123456789012345678901234567890') in [$]",
	"size($)", "string($)", "$ == $", "[$]", "[$, $]", "{'k': $}", "optional.of($)", "dyn($)", "type($)", "$ in [dyn($)]", "$ < $", "$.map(x, x)", "$.filter(x, true)", "$.all(x, x == x)", "$.transformList(i, v, [v])",
	"$.reverse()", "$.distinct()", "$.flatten()", "$.slice(0, 1)", "[$, $].flatten()", "$.indexOf($)", "sets.contains([dyn($)], [dyn($)])", "$.a", "$.?a", "$[?0]", "$.hasValue()", "optional.of($).optMap(x, [x]).value()",
	"$.sort()", "dyn($).map(x, string(x)).join()", "$.getSeconds()", "$.validate('a')",
}

// applied returns an expression in which an operation is applied to an operand.
func applied(operation, operand string) string {
	return strings.ReplaceAll(operation, "$", "("+operand+")")
}

// sharing returns a policy with a variable v, and variables that apply operations to v. It denies
// every request, unless each of them equals the operation applied to another value.
func sharing(name, producer string, operations ...string) *v1.ValidatingAdmissionPolicy {
	spec := v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{{Name: "v", Expression: producer}}}
	for i, operation := range operations {
		variable := fmt.Sprintf("r%d", i)
		spec.Variables = append(spec.Variables, v1.Variable{Name: variable, Expression: applied(operation, "variables.v")})
		// In this order, all operations are applied before the first comparison of the last
		// validation.
		spec.Validations = append(spec.Validations, policytest.Validations("dyn(variables."+variable+") == dyn("+applied(operation, producer)+")")...)
	}
	all := make([]string, len(operations))
	for i := range operations {
		all[i] = fmt.Sprintf("dyn(variables.r%d) == dyn(%s)", i, applied(operations[i], producer))
	}
	spec.Validations = append(spec.Validations, policytest.Validations(strings.Join(all, " && "))...)
	return policytest.Validating(name, spec)
}

// createLabelled returns a request to create a deployment with labels and containers.
func createLabelled() admission.Attributes {
	object := deploy(7)
	object.Labels = map[string]string{"app": "web"} // one, because the order of the entries of transformMap() is random
	object.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}, {Name: "log"}}
	return admission.NewAttributesRecord(object, nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
}

// violations returns the decisions of validations that are not satisfied.
func violations(result validating.Result) []validating.Decision {
	return slices.DeleteFunc(result.Decisions(), func(d validating.Decision) bool { return d.Outcome == validating.Admitted })
}

// Policies that share values have the same verdict as each of them alone, whatever the others do
// with the values, in all requests and in several requests at the same time.
func TestPoliciesThatShareValues(t *testing.T) {
	celtest.CheckKept(t)
	applicable := map[string]int{}
	for _, producer := range producers {
		var policies []any
		var valid []string
		for _, operation := range operations {
			alone := sharing("alone", producer, operation)
			if len(violations(evaluate(t, newServer(), createLabelled(), store(alone, policytest.Binding("alone", "alone")).Snapshot()))) > 0 {
				continue // the operation is not one of the type, or its result equals nothing
			}
			valid = append(valid, operation)
			applicable[operation]++
		}
		if len(valid) < 5 {
			t.Errorf("only %q are operations of %s", valid, producer)
		}
		add := func(operations ...string) {
			name := fmt.Sprintf("p%d", len(policies))
			policies = append(policies, sharing(name, producer, operations...), policytest.Binding(name, name))
		}
		for i, operation := range valid {
			add(operation)
			add(operation, valid[(i+1)%len(valid)], valid[(i+7)%len(valid)])
			add(valid[(i+3)%len(valid)], operation, operation)
		}
		snapshot, names := store(policies...).Snapshot(), map[string]*v1.ValidatingAdmissionPolicy{}
		for _, p := range policies {
			if p, ok := p.(*v1.ValidatingAdmissionPolicy); ok {
				names[p.Name] = p
			}
		}
		request := func() {
			server := newServer()
			engine := validating.NewEngine(validating.Config{Namespaces: server, Authorizer: server})
			result, err := engine.Evaluate(t.Context(), createLabelled(), server, snapshot)
			if err != nil {
				t.Error(err)
			}
			for _, d := range violations(result) {
				t.Errorf("%s: %s %s: %s", producer, d.Outcome, names[d.Policy].Spec.Validations[d.Index].Expression, d.Message)
			}
			result.Free()
		}
		for range 2 {
			request()
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(request)
		}
		group.Wait()
	}
	for _, operation := range operations {
		if applicable[operation] == 0 {
			t.Logf("%s is no operation of any value", operation)
		}
	}
}
