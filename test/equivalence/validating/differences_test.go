// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/warningtext"
	"celador.io/celador/test/equivalence/harness"
)

// difference is a wanted difference between Celador and Kubernetes. The tests fail on any other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the reason for two different outcomes. It is nil
	// if comparisons never meet the difference.
	explains func(celador, upstream outcome) bool
	// shows provokes the difference and reports whether it occurred. Remove the difference from
	// the list when it no longer occurs.
	shows func(t *testing.T) bool
}

// differences returns the wanted differences.
func differences() []difference {
	return []difference{
		{
			name: "order",
			reason: "Celador looks at policies, bindings and params in the order of their names, so that the same request always gets the same error. " +
				"Upstream looks at them in random order. Comparisons allow for that.",
			shows: ordersDiffer,
		},
		{
			name: "unneeded messages",
			reason: "Celador evaluates a messageExpression only when its validation failed. Upstream evaluates all of them, " +
				"and when that exceeds the cost budget, even satisfied validations of the policy fail.",
			explains: func(celador, upstream outcome) bool {
				spoiled := upstream.exceededBy()
				if upstream.without(spoiled).Error != upstream.Error {
					// Whether another policy denies the request is unknown here.
					celador.Error, celador.Status = "", metav1.Status{}
				}
				return len(spoiled) > 0 && reflect.DeepEqual(celador.without(spoiled), upstream.without(spoiled))
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
				failed := strings.HasPrefix(celador.Error, "unrecognized validation action ") && upstream.Error == ""
				celador.Error, celador.Status = "", metav1.Status{}
				return failed && reflect.DeepEqual(celador.unordered(), upstream.unordered())
			},
			shows: unknownActionsDiffer,
		},
		{
			name:   "text or null",
			reason: "The branches of an annotation's valueExpression may be a text and null, as KEP-3488 says. Upstream fails to compile the expression.",
			shows:  textOrNullDiffers,
		},
		{
			name:   "names of Go types",
			reason: "A few errors of CEL, such as for a list indexed by an object, name the Go type of a value. These types are Celador's own.",
			explains: func(celador, upstream outcome) bool {
				return reflect.DeepEqual(celador.withoutGoTypes(), upstream.withoutGoTypes())
			},
			shows: namesOfGoTypesDiffer,
		},
		{
			name: "control characters in warnings",
			reason: "Warnings have spaces in place of white space with line breaks, tabs and other control characters. Upstream's server drops a warning with such a character, because " +
				"headers cannot have it.",
			explains: func(celador, upstream outcome) bool {
				return reflect.DeepEqual(celador.unordered(), upstream.withHeaders().unordered())
			},
			shows: warningsDiffer,
		},
		{
			name: "null params",
			reason: "An expression that reads a field of params, while the binding has no paramRef, says so. Upstream says that a key is missing, as if the param " +
				"did not have it.",
			explains: func(celador, upstream outcome) bool {
				return strings.Contains(celador.text(), harness.NullParams) &&
					reflect.DeepEqual(celador.replaced(harness.WithoutKeys), upstream.replaced(harness.WithoutKeys))
			},
			shows: nullParamsDiffer,
		},
		{
			name: "limits",
			reason: "Celador bounds the memory and the work of expressions that cost little, such as sums of strings whose type is not known, comparisons of nested lists " +
				"and quantities with large exponents. Upstream exhausts its memory, or continues after the client has disconnected.",
			shows: limitsDiffer,
		},
		{
			name: "types that are too large",
			reason: "An expression with a type that is made of more than 4096 types does not compile, or one whose types take too long to check. " +
				"Upstream takes exponential time to check such types, and a core is busy for hours.",
			explains: func(celador, upstream outcome) bool {
				return strings.Contains(celador.text(), "compilation error: ") && strings.Contains(celador.text(), "type is too large: ") &&
					!strings.Contains(upstream.text(), "compilation error: ")
			},
			shows: tooLargeTypesDiffer,
		},
		{
			name: "variables of large types",
			reason: "A variable is dynamic if its type is made of more than 2047 types, or if the large types of a policy's variables take too long to check. " +
				"Types of variables that read each other would grow exponentially otherwise.",
			explains: func(celador, upstream outcome) bool {
				return strings.Contains(upstream.text(), "found no matching overload for '_!=_' applied to '(list(map(map(map(map(map(map(map(map(map(map(") &&
					!strings.Contains(celador.text(), "compilation error: ")
			},
			shows: largeVariablesDiffer,
		},
		{
			name: "values that change",
			reason: "No function changes its arguments. Upstream appends to bytes in their spare capacity and to a list that optMap binds, and a comparison converts a quantity, " +
				"so that a value changes after another expression of the policy has used it.",
			shows: changingValuesDiffer,
		},
		{
			name: "abandoned requests",
			reason: "When the client of a request has gone or its time is up, Celador ends it with a timeout, whatever the failurePolicy is. Upstream evaluates all policies, " +
				"and admits the request if the failurePolicy of an interrupted expression is Ignore.",
			shows: abandonedRequestsDiffer,
		},
	}
}

// withoutGoTypes replaces the names of Go types in the errors of an outcome.
func (o outcome) withoutGoTypes() outcome { return o.replaced(harness.GoTypes.Replace) }

// replaced replaces the texts of the errors of an outcome.
func (o outcome) replaced(by func(string) string) outcome {
	o.Error, o.Status.Message = by(o.Error), by(o.Status.Message)
	if details := o.Status.Details; details != nil {
		o.Status.Details = details.DeepCopy()
		for i := range details.Causes {
			o.Status.Details.Causes[i].Message = by(details.Causes[i].Message)
		}
	}
	o.Warnings, o.Annotations = slices.Clone(o.Warnings), maps.Clone(o.Annotations)
	for i, text := range o.Warnings {
		o.Warnings[i] = by(text)
	}
	for key, text := range o.Annotations {
		o.Annotations[key] = by(text)
	}
	return o.unordered()
}

// decision matches the message of a policy with a binding.
var decision = regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']*)' with binding '([^']*)'(?:: | denied request: )(.*)`)

// failure is an element of the audit annotation that lists validation failures.
type failure struct{ Message, Policy, Binding string }

func failureOf(text string) failure {
	if found := decision.FindStringSubmatch(text); found != nil {
		return failure{Message: found[3], Policy: found[1], Binding: found[2]}
	}
	var f failure
	_ = json.Unmarshal([]byte(text), &f) // The number of failures is none.
	return f
}

// exceededBy returns the policies and bindings whose messages exceed the cost budget.
func (o outcome) exceededBy() map[failure]bool {
	result := map[failure]bool{}
	for _, text := range slices.Concat([]string{o.Error}, o.Warnings, o.failures()) {
		if f := failureOf(text); strings.HasPrefix(f.Message, "failed messageExpression: validation failed due to running out of cost budget") {
			result[failure{Policy: f.Policy, Binding: f.Binding}] = true
		}
	}
	return result
}

// without returns a copy of the outcome without the decisions of the given policies and
// bindings.
func (o outcome) without(said map[failure]bool) outcome {
	by := func(text string) bool {
		f := failureOf(text)
		return said[failure{Policy: f.Policy, Binding: f.Binding}]
	}
	if by(o.Error) {
		o.Error, o.Status = "", metav1.Status{}
	}
	o.Warnings = slices.DeleteFunc(slices.Clone(o.Warnings), by)
	if failures, ok := o.Annotations[failuresAnnotation]; ok {
		o.Annotations = maps.Clone(o.Annotations)
		delete(o.Annotations, failuresAnnotation)
		others := slices.DeleteFunc(outcome{Annotations: map[string]string{failuresAnnotation: failures}}.failures(), func(text string) bool { return failureOf(text).Policy == "" || by(text) })
		if len(others) > 0 {
			slices.Sort(others)
			o.Annotations[failuresAnnotation] = "[" + strings.Join(others, ",") + "]"
		}
	}
	return o.unordered()
}

// withHeaders returns a copy with warnings that headers can carry.
func (o outcome) withHeaders() outcome {
	o.Warnings = slices.Clone(o.Warnings)
	for i, text := range o.Warnings {
		o.Warnings[i] = warningtext.Of(text)
	}
	return o
}

// explain returns the name of the difference that is the reason for two different outcomes, or
// an empty string. The warnings may differ in control characters, too.
func explain(celador, upstream outcome) string {
	for _, theirs := range []outcome{upstream, upstream.withHeaders()} {
		for _, d := range differences() {
			if d.explains != nil && d.explains(celador, theirs) {
				return d.name
			}
		}
	}
	return ""
}

// text returns the lines of brief as one text.
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

// TestExplanations checks that a difference does not explain outcomes that differ in other
// ways, too.
func TestExplanations(t *testing.T) {
	t.Parallel()
	const prefix = "ValidatingAdmissionPolicy 'a' with binding 'b' denied request: "
	const index = "expression resulted in error: invalid qualifier type: *"
	exceeded := outcome{Error: prefix + "failed messageExpression: validation failed due to running out of cost budget, no further validation rules will be run"}
	typed, named := outcome{Error: index + "values.structValue"}, outcome{Error: index + "common.reflectSchemalessTypedStruct"}
	unknown := outcome{Error: "unrecognized validation action Applaud"}
	for name, pair := range map[string]struct{ celador, upstream outcome }{
		"unneeded messages": {outcome{}, exceeded},
		"unknown actions":   {unknown, outcome{}},
		"names of Go types": {typed, named},
	} {
		if explain(pair.celador, pair.upstream) != name {
			t.Errorf("%s is not explained", name)
		}
		for what, change := range map[string]func(*outcome){
			"a warning": func(o *outcome) {
				o.Warnings = []string{"Validation failed for ValidatingAdmissionPolicy 'c' with binding 'd': no"}
			},
			"an annotation": func(o *outcome) { o.Annotations = map[string]string{"c/key": "value"} },
			"an audited failure": func(o *outcome) {
				o.Annotations = map[string]string{failuresAnnotation: `[{"message":"no","policy":"c","binding":"d"}]`}
			},
		} {
			one, other := pair, pair
			change(&one.celador)
			change(&other.upstream)
			if explain(one.celador, one.upstream) != "" || explain(other.celador, other.upstream) != "" {
				t.Errorf("%s explains %s", name, what)
			}
		}
	}
	for what, pair := range map[string]struct{ celador, upstream outcome }{
		"another denial":                       {unknown, outcome{Error: prefix + "no"}},
		"another error":                        {typed, outcome{Error: index + "other"}},
		"another status":                       {typed, outcome{Error: named.Error, Status: metav1.Status{Code: 500}}},
		"a denial that upstream does not have": {outcome{Error: prefix + "no"}, outcome{}},
	} {
		if name := explain(pair.celador, pair.upstream); name != "" {
			t.Errorf("%s explains %s", name, what)
		}
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
		c.Shuffle(t)
	}
	return len(upstream) > 1
}

func abandonedRequestsDiffer(t *testing.T) bool {
	loop := v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: validating("lists.range(1000).all(i, i >= 0)")}
	c := start(t, example{spec: loop}.scenario())
	request := fixed["create"]
	request.Timeout = -1
	celador, upstream := examine(t, c.celador, request), examine(t, c.upstream, request)
	if got, want := celador.Error, "Timeout: request did not complete within requested timeout"; got != want || celador.Status.Code != 504 {
		t.Errorf("got %q, want %q", got, want)
	}
	return upstream.Error == ""
}

func unneededMessagesDiffer(t *testing.T) bool {
	spec := v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(900_000)}, Validations: times(11)}
	for i := range 2 {
		spec.Validations[i].MessageExpression = search + " ? 'one' : 'two'"
	}
	c := start(t, example{spec: spec}.scenario())
	got := c.compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0
}

func vanishedKindsDiffer(t *testing.T) bool {
	param := limit("blue", "a", 5)
	c := start(t, withParams(limitKind, mostOf, byName("a"), nil, param).scenario())
	request := fixed["create"]
	c.Remove(t, param)
	c.vanish(t, harness.ParamKinds[2])
	const unknown = "denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'"
	if got := examine(t, c.celador, request).text(); got != unknown {
		t.Errorf("got %q, want %q", got, unknown)
	}
	return examine(t, c.upstream, request).text() == noneFound
}

func unknownActionsDiffer(t *testing.T) bool {
	e := example{spec: never, bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, "Applaud")}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0 && got.upstream["create"].Error == ""
}

func nullParamsDiffer(t *testing.T) bool {
	e := example{spec: v1.ValidatingAdmissionPolicySpec{ParamKind: harness.ConfigMapKind, Validations: validating(most)}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0
}

func namesOfGoTypesDiffer(t *testing.T) bool {
	e := example{spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "object.spec.template.spec.containers[object.spec] == 1"}}}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0
}

func textOrNullDiffers(t *testing.T) bool {
	c := start(t, example{spec: v1.ValidatingAdmissionPolicySpec{
		AuditAnnotations: []v1.AuditAnnotation{{Key: "key", ValueExpression: "request.operation == 'CREATE' ? 'created' : null"}},
	}}.scenario())
	request := fixed["create"]
	if got := examine(t, c.celador, request).Error; got != "" {
		t.Errorf("got %q", got)
	}
	return strings.Contains(examine(t, c.upstream, request).Error, "found no matching overload for '_?_:_'")
}

func changingValuesDiffer(t *testing.T) bool {
	const large = "quantity('123456789012345678901234567890')"
	for name, spec := range map[string]v1.ValidatingAdmissionPolicySpec{
		"bytes": {
			Variables:   []v1.Variable{{Name: "b", Expression: "bytes(object.metadata.name)"}, {Name: "c", Expression: "variables.b + b'0'"}, {Name: "d", Expression: "variables.b + b'1'"}},
			Validations: validating("variables.c != variables.d"),
		},
		"quantity": {
			Variables:   []v1.Variable{{Name: "q", Expression: "quantity('5')"}},
			Validations: validating("variables.q.isLessThan("+large+")", "variables.q.isInteger()"),
		},
		"list": {Validations: validating("optional.of([]).optMap(l, [l + [1], l + [2]]).value() == [[1], [2]]")},
	} {
		c := start(t, example{spec: spec}.scenario())
		request := fixed["create"]
		if got := examine(t, c.celador, request).Error; got != "" {
			t.Errorf("%s: got %q", name, got)
		}
		if examine(t, c.upstream, request).Error == "" {
			t.Errorf("%s: upstream admits the request", name)
			return false
		}
	}
	return true
}

func warningsDiffer(t *testing.T) bool {
	const prefix = "Validation failed for ValidatingAdmissionPolicy '" + usualPolicy + "' with binding '" + usualBinding + "': "
	spec := v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
		{Expression: "object.spec.replicas >\n  100"},
		{Expression: "false", Message: "one\ttwo"},
		{Expression: "false", MessageExpression: `'one\ttwo' + '\u0007' + object.metadata.name`},
		{Expression: "object.spec.none\n== 1"},
	}}
	c := start(t, example{spec: spec, bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, v1.Warn)}}.scenario())
	got := c.compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	want := []string{prefix + "failed expression: object.spec.replicas > 100", prefix + "one two", prefix + "one two\ufffdweb", prefix + "expression 'object.spec.none == 1' resulted in error: no such key: none"}
	if warnings := examine(t, c.celador, fixed["create"]).Warnings; !slices.Equal(warnings, want) {
		t.Errorf("got warnings %q, want %q", warnings, want)
	}
	return slices.Contains(got.Explained, "control characters in warnings")
}

func limitsDiffer(t *testing.T) bool {
	c := start(t, example{spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "quantity('1e1001').isGreaterThan(quantity('1'))"}}}}.scenario())
	request := fixed["create"]
	const exceeds = "exponent of a quantity: 1001 exceeds the limit of 1000"
	return strings.Contains(examine(t, c.celador, request).text(), exceeds) && examine(t, c.upstream, request).Error == ""
}

// doubling returns an expression whose type consists of at least 2^times types.
func doubling(times int) string { return "[0]" + strings.Repeat(".map(a, {a: a})", times) }

func tooLargeTypesDiffer(t *testing.T) bool {
	e := example{spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(doubling(12) + ".size() == 1")}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0
}

func largeVariablesDiffer(t *testing.T) bool {
	e := example{spec: v1.ValidatingAdmissionPolicySpec{
		Variables:   []v1.Variable{{Name: "large", Expression: doubling(11)}},
		Validations: validating("variables.large != 1"),
	}}
	got := start(t, e.scenario()).compare(t, fixed, true)
	if got.Unexplained != nil {
		t.Error(got)
	}
	return len(got.Explained) > 0
}
