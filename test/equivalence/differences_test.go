// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/equivalence/readings"
)

// difference is one between Celador and upstream that is wanted. Nothing else may differ.
type difference struct {
	name, reason string
	// explains says whether a pair of different outcomes is due to it. It is nil when
	// comparisons never meet the difference.
	explains func(celador, upstream outcome) bool
	// shows has it occur: it returns whether it did. When it does not any more, the
	// difference is to be removed from the list.
	shows func(t *testing.T) bool
}

// differences are all that are wanted.
func differences() []difference {
	return []difference{
		{
			name: "order",
			reason: "Celador looks at policies, bindings and params in the order of their names, so that the same request always gets the same error. " +
				"Upstream looks at them in random order. Comparisons make up for that.",
			shows: ordersDiffer,
		},
		{
			name: "unneeded messages",
			reason: "Celador evaluates a messageExpression only when its validation failed. Upstream evaluates all of them, " +
				"and when that exceeds the cost budget, even satisfied validations of the policy fail.",
			explains: func(celador, upstream outcome) bool {
				const exceeded = "failed messageExpression: "
				return strings.Contains(upstream.text(), exceeded) && !strings.Contains(celador.text(), exceeded)
			},
			shows: unneededMessagesDiffer,
		},
		{
			name: "vanished kinds of params",
			reason: "When a kind of params is no longer served, Celador says so, as upstream does after a restart. A running upstream keeps its informer, " +
				"which has no objects any more.",
			shows: vanishedKindsDiffer,
		},
		{
			name:   "unknown actions",
			reason: "A binding with a validationAction that is none, which the API does not accept, fails the requests it is about, with a message. Upstream ignores the action.",
			explains: func(celador, upstream outcome) bool {
				return strings.HasPrefix(celador.Error, "unrecognized validation action ")
			},
			shows: unknownActionsDiffer,
		},
		{
			name:   "names of Go types",
			reason: "A few errors of CEL, such as for a list indexed by an object, name the Go type of a value. These types are Celador's own.",
			explains: func(celador, upstream outcome) bool {
				return celador.text() != upstream.text() && slices.Equal(celador.withoutGoTypes(), upstream.withoutGoTypes())
			},
			shows: namesOfGoTypesDiffer,
		},
		{
			name: "limits",
			reason: "Celador bounds the memory and the work of expressions that cost little, such as sums of strings whose type is not known, comparisons of nested lists " +
				"and quantities with large exponents. Upstream fills its memory, or goes on after the client has gone.",
			shows: limitsDiffer,
		},
	}
}

func (o outcome) withoutGoTypes() []string {
	var result []string
	for _, line := range o.brief() {
		result = append(result, readings.GoTypes.Replace(line))
	}
	slices.Sort(result)
	return result
}

// explain returns the difference that two different outcomes are due to, if any.
func explain(celador, upstream outcome) *difference {
	for _, d := range differences() {
		if d.explains != nil && d.explains(celador, upstream) {
			return &d
		}
	}
	return nil
}

// text returns all that an outcome says.
func (o outcome) text() string { return strings.Join(o.brief(), "\n") }

func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if !d.shows(t) {
					t.Errorf("does not show any more: %s", d.reason)
				}
			})
		})
	}
}

func ordersDiffer(t *testing.T) bool {
	s := scenario{Policies: []*v1.ValidatingAdmissionPolicy{policyOf(usualPolicy, never)}}
	for _, name := range []string{"d", "b", "a", "c"} {
		s.Bindings = append(s.Bindings, bindingOf(name, usualPolicy, v1.Deny))
	}
	c := start(t, s)
	request := fixed["create"]
	upstream := map[string]bool{}
	for range 100 {
		if got, want := examine(t, c.celador, request).text(), "denied by "+usualPolicy+" with a: failed expression: false"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		upstream[examine(t, c.upstream, request).text()] = true
		c.shuffle(t)
	}
	return len(upstream) > 1
}

func unneededMessagesDiffer(t *testing.T) bool {
	spec := v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(900_000)}, Validations: times(11)}
	for i := range 2 {
		spec.Validations[i].MessageExpression = search + " ? 'one' : 'two'"
	}
	c := start(t, example{spec: spec}.scenario())
	got := c.compare(t, fixed, true)
	if got.unexplained != nil {
		t.Error(got)
	}
	return len(got.explained) > 0
}

func vanishedKindsDiffer(t *testing.T) bool {
	param := limit("blue", "a", 5)
	c := start(t, withParams(limitKind, mostOf, byName("a"), nil, param).scenario())
	request := fixed["create"]
	c.removeParam(t, param)
	c.vanish(t, paramKinds[2])
	const unknown = "denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'"
	if got := examine(t, c.celador, request).text(); got != unknown {
		t.Errorf("got %q, want %q", got, unknown)
	}
	return examine(t, c.upstream, request).text() == noneFound
}

func unknownActionsDiffer(t *testing.T) bool {
	e := example{spec: never, bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, "Applaud")}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.unexplained != nil {
		t.Error(got)
	}
	return len(got.explained) > 0 && got.upstream["create"].Error == ""
}

func namesOfGoTypesDiffer(t *testing.T) bool {
	e := example{spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "object.spec.template.spec.containers[object.spec] == 1"}}}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.unexplained != nil {
		t.Error(got)
	}
	return len(got.explained) > 0
}

func limitsDiffer(t *testing.T) bool {
	c := start(t, example{spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "quantity('1e1001').isGreaterThan(quantity('1'))"}}}}.scenario())
	request := fixed["create"]
	const exceeds = "exponent of a quantity: 1001 exceeds the limit of 1000"
	return strings.Contains(examine(t, c.celador, request).text(), exceeds) && examine(t, c.upstream, request).Error == ""
}
