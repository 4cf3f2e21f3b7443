// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// difference is a wanted difference between Celador's errors and Kubernetes'. The tests fail on any
// other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the reason for two different errors. An empty
	// error stands for none.
	explains func(celador, upstream string) bool
	// shows returns the errors of both for an object with the difference.
	shows func(*testing.T) (celador, upstream []string)
	// celador and upstream are these errors, and empty for none.
	celador, upstream string
}

var differences = []difference{
	{
		name:   "values of required fields",
		reason: "The error for a required field that is missing lists the values that the field can have. Kubernetes' error lists them for other values only.",
		explains: func(celador, upstream string) bool {
			detail, found := strings.CutPrefix(celador, upstream)
			return found && strings.HasPrefix(upstream, "FieldValueRequired ") && strings.HasSuffix(upstream, " Required value") &&
				strings.HasPrefix(detail, `: supported values: "`)
		},
		shows:    errorsOf(validBinding, "spec: {paramRef: {name: limit}}", ourBinding, stockBinding),
		celador:  `FieldValueRequired spec.paramRef.parameterNotFoundAction Required value: supported values: "Deny", "Allow"`,
		upstream: "FieldValueRequired spec.paramRef.parameterNotFoundAction Required value",
	},
	{
		name:   "audit annotations that are text or null",
		reason: "The branches of a conditional may be a string and null, so an audit annotation can be there or not (KEP-3488). Kubernetes accepts only the one or the other.",
		explains: func(celador, upstream string) bool {
			return celador == "" && textOrNull.MatchString(upstream)
		},
		shows:    errorsOf(validPolicy, `spec: {auditAnnotations: [{key: a, valueExpression: "true ? 'a' : null"}]}`, ourPolicy, stockPolicy),
		upstream: "FieldValueInvalid spec.auditAnnotations[0].valueExpression Invalid value: \"true ? 'a' : null\": compilation failed: ERROR: <input>:1:6: found no matching overload for '_?_:_' applied to '(bool, string, null)'\n | true ? 'a' : null\n | .....^",
	},
	{
		name:   "operations of JSON patches",
		reason: "A constant that is no operation of a JSON patch is an error when the policy is written. Kubernetes stores the policy, which then always fails.",
		explains: func(celador, upstream string) bool {
			return upstream == "" && unknownOperation.MatchString(celador)
		},
		shows: errorsOf(validMutatingPolicy, `spec: {mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'swap'}]"}}]}`, ourMutatingPolicy, stockMutatingPolicy),
		celador: "FieldValueInvalid spec.mutations[0].jsonPatch.expression Invalid value: \"[JSONPatch{op: 'swap'}]\": compilation failed: ERROR: <input>:1:16: unknown operation 'swap' of a JSON patch: " +
			"must be one of add, copy, move, remove, replace, test\n | [JSONPatch{op: 'swap'}]\n | ...............^",
	},
	{
		name:   "the time of a request",
		reason: "request.time is a field with a feature gate, which the error names. Kubernetes has no such field.",
		explains: func(celador, upstream string) bool {
			const detail = ": request.time requires the AdmissionPolicyRequestTime feature gate to be enabled"
			common, found := strings.CutSuffix(celador, detail)
			return found && strings.HasPrefix(upstream, common+": compilation failed: ") && strings.Contains(upstream, "undefined field 'time'")
		},
		shows:    errorsOf(validPolicy, `spec: {validations: [{expression: request.time > timestamp(0)}]}`, ourPolicy, stockPolicy),
		celador:  `FieldValueInvalid spec.validations[0].expression Invalid value: "request.time > timestamp(0)": request.time requires the AdmissionPolicyRequestTime feature gate to be enabled`,
		upstream: "FieldValueInvalid spec.validations[0].expression Invalid value: \"request.time > timestamp(0)\": compilation failed: ERROR: <input>:1:8: undefined field 'time'\n | request.time > timestamp(0)\n | .......^",
	},
}

// unknownOperation matches the error for a constant that is no operation of a JSON patch.
var unknownOperation = regexp.MustCompile(`^FieldValueInvalid spec\.mutations\[\d+\]\.jsonPatch\.expression (?s:.*): unknown operation '[^']*' of a JSON patch: `)

// textOrNull matches Kubernetes' error for an audit annotation with such branches.
var textOrNull = regexp.MustCompile(`^FieldValueInvalid spec\.auditAnnotations\[\d+\]\.valueExpression (?s:.*) '_\?_:_' applied to '\((bool|dyn), (string, null|null, string)\)'`)

// errorsOf returns a function that validates the creation of a patched object.
func errorsOf(base, patch string, ours, stock validator) func(*testing.T) (celador, upstream []string) {
	return func(t *testing.T) (celador, upstream []string) {
		t.Helper()
		manifest := patched(t, base, patch)
		got, err := ours(manifest, nil, withDefaults)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stock(manifest, nil, withDefaults)
		if err != nil {
			t.Fatal(err)
		}
		return causes(got), causes(want)
	}
}

// diff returns the differences between Kubernetes' errors and Celador's that are not wanted.
func diff(upstream, celador []string) string {
	explained := func(celador, upstream string) bool {
		return slices.ContainsFunc(differences, func(d difference) bool { return d.explains(celador, upstream) })
	}
	onlyUpstream := func(text string) bool { return !slices.Contains(celador, text) && explained("", text) }
	onlyCelador := func(text string) bool { return !slices.Contains(upstream, text) && explained(text, "") }
	upstream, celador = without(upstream, onlyUpstream), without(celador, onlyCelador)
	// cmp requires symmetric comparers.
	same := cmp.Comparer(func(a, b string) bool { return a == b || explained(a, b) || explained(b, a) })
	return cmp.Diff(upstream, celador, same, cmpopts.EquateEmpty())
}

func without(texts []string, unwanted func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(texts), unwanted)
}

// TestDifferences checks that the differences occur, and that they do not explain other ones.
func TestDifferences(t *testing.T) {
	for _, d := range differences {
		celador, upstream := d.shows(t)
		if got := strings.Join(celador, "\n"); got != d.celador {
			t.Errorf("%s does not show any more: %s\ngot %s", d.name, d.reason, got)
		}
		if got := strings.Join(upstream, "\n"); got != d.upstream {
			t.Errorf("%s does not show any more: %s\ngot %s", d.name, d.reason, got)
		}
		if diff := diff(upstream, celador); diff != "" {
			t.Errorf("%s is not explained:\n%s", d.name, diff)
		}
	}
	for name, pair := range map[string]struct{ celador, upstream string }{
		"another field":      {`FieldValueRequired spec.a Required value: supported values: "a"`, "FieldValueRequired spec.b Required value"},
		"another type":       {`FieldValueInvalid spec.a Invalid value: supported values: "a"`, "FieldValueInvalid spec.a Invalid value"},
		"another text":       {"FieldValueRequired spec.a Required value: must be a", "FieldValueRequired spec.a Required value"},
		"other values":       {`FieldValueRequired spec.a Required value: supported values: "a"`, `FieldValueRequired spec.a Required value: supported values: "b"`},
		"no error":           {"", "FieldValueRequired spec.a Required value"},
		"no error, number":   {"", "FieldValueInvalid spec.auditAnnotations[0].valueExpression Invalid value: \"\": found no matching overload for '_?_:_' applied to '(bool, int, null)'"},
		"no error, variable": {"", "FieldValueInvalid spec.variables[0].expression Invalid value: \"\": found no matching overload for '_?_:_' applied to '(bool, string, null)'"},
	} {
		of := func(text string) []string {
			return without([]string{text}, func(text string) bool { return text == "" })
		}
		if diff(of(pair.upstream), of(pair.celador)) == "" {
			t.Errorf("%s is explained", name)
		}
	}
}
