// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// annotations are examples of audit annotations.
func annotations() map[string]example {
	spec := func(expressions ...string) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{AuditAnnotations: note(expressions...)}
	}
	denying := func(spec v1.ValidatingAdmissionPolicySpec, expression string) v1.ValidatingAdmissionPolicySpec {
		spec.Validations = validating(expression)
		return spec
	}
	const bad = "string(object.missing)"
	const badFailed = "denied: expression 'string(object.missing)' resulted in error: no such key: missing"
	const dynamic = "denied: compilation error: must evaluate to one of [string null_type] but got dyn"
	exempt := spec("'one'")
	exempt.MatchConditions = when("false")
	warning := []*v1.ValidatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, v1.Warn)}
	return map[string]example{
		"two":                      {spec: spec("'by ' + request.operation + ' '", "'two'"), want: says("noted key0=by CREATE", "noted key1=two")},
		"with a denial":            {spec: denying(spec("'noted'"), few), want: says(fewDenied, "noted key0=noted")},
		"with an error":            {spec: denying(spec("'noted'"), failing), want: says(failingFailed, "noted key0=noted")},
		"null":                     {spec: spec("null", "'two'"), want: says("noted key1=two")},
		"empty":                    {spec: spec("''")},
		"blank":                    {spec: spec("' \\n'")},
		"sometimes":                {spec: spec("request.operation == 'CREATE' ? 'created' : ''"), on: "update"},
		"string or int":            {spec: spec("request.operation == 'CREATE' ? 'created' : 1"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:31: found no matching overload for '_?_:_' applied to '(bool, string, int)'\n | request.operation == 'CREATE' ? 'created' : 1\n | ..............................^")},
		"fails":                    {spec: spec("'one'", bad), want: says(badFailed, "noted key0=one")},
		"fails, ignored":           {spec: ignoring(spec(bad, "'two'")), want: says("noted key1=two")},
		"fails with a denial":      {spec: denying(spec(bad), few), want: says(fewDenied)},
		"fails, only warning":      {spec: spec(bad), bindings: warning, want: says(badFailed)},
		"does not compile":         {spec: spec("'one' +"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 'one' +\n | .......^")},
		"does not compile, ignore": {spec: ignoring(spec("'one' +", "'two'")), want: says("noted key1=two")},
		"of another type":          {spec: spec("1", "'two'"), want: says("denied: compilation error: must evaluate to one of [string null_type] but got int", "noted key1=two")},
		"of unknown type":          {spec: spec("object.metadata.name"), want: says(dynamic)},
		"authorizer is not there":  {spec: spec("authorizer.path('/').check('get').reason()"), want: says("denied: expression 'authorizer.path('/').check('get').reason()' resulted in error: no such attribute(s): authorizer")},
		"too long":                 {spec: spec("'" + repeat("a", 10*1024+1) + "'"), want: says("noted key0=" + repeat("a", 10*1024))},
		"longest":                  {spec: spec("'" + repeat("a", 10*1024) + "'"), want: says("noted key0=" + repeat("a", 10*1024))},
		"cut inside a character":   {spec: spec("'a" + repeat("é", 6*1024) + "'"), want: says("noted key0=a" + repeat("é", 5*1024)[:10*1024-1])},
		"of an exempt request":     {spec: exempt},
		"reads namespace":          {spec: spec("namespaceObject == null ? 'none' : namespaceObject.metadata.name"), want: says("noted key0=blue")},
		"reads whole namespace":    {spec: spec("dyn(namespaceObject.metadata).ownerReferences[0].name", "string(has(dyn(namespaceObject.metadata).managedFields))"), want: says(dynamic, "noted key1=true")},
		"reads owners":             {spec: spec("string(dyn(namespaceObject.metadata).ownerReferences[0].name)"), want: says("noted key0=owner")},
		"validation reads a part":  {spec: denying(spec("'noted'"), "has(dyn(namespaceObject.metadata).ownerReferences)"), want: says("denied: failed expression: has(dyn(namespaceObject.metadata).ownerReferences)", "noted key0=noted")},
		"reads no namespace":       {spec: spec("namespaceObject == null ? 'none' : namespaceObject.metadata.name"), on: "create node", want: says("noted key0=none")},
		"same key in two policies": {
			spec: spec("'one'"), others: []*v1.ValidatingAdmissionPolicy{policyOf("other.example.com", spec("'two'"))},
			bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf("a", usualPolicy, v1.Deny), bindingOf("b", "other.example.com", v1.Deny)},
			want:     says("noted key0=one", "noted other.example.com/key0=two"),
		},
		"same value through two bindings": {
			spec:     spec("'one'"),
			bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf("a", usualPolicy, v1.Deny), bindingOf("b", usualPolicy, v1.Audit)},
			want:     says("noted key0=one"),
		},
		"key that is used twice": {
			spec: v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "'one'"}, {Key: "a", ValueExpression: "'two'"}}},
			want: says("noted a=one, two"),
		},
		"key that is none": {
			spec: v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "a b", ValueExpression: "'one'"}, {Key: "c", ValueExpression: "'two'"}}},
			want: says("noted c=two"),
		},
	}
}
