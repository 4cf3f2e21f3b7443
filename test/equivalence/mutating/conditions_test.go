// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import v1 "celador.io/api/admissionregistration/v1"

// conditions are examples of match conditions and of failurePolicy.
func conditions() map[string]example {
	return map[string]example{
		"true":                   {spec: with(applying(one), when("object.spec.replicas > 5")), want: []string{hasOne}},
		"false":                  {spec: with(applying(one), when("object.spec.replicas > 50"))},
		"one of two false":       {spec: with(applying(one), when("true", "false"))},
		"error":                  {spec: with(applying(one), when(failing)), fails: `expression 'object.spec.none == 'x'' resulted in error: no such key: none`},
		"error, ignored":         {spec: with(applying(one), when(failing), ignoring)},
		"false before an error":  {spec: with(applying(one), when("false", failing))},
		"false after an error":   {spec: with(applying(one), when(failing, "false"))},
		"two errors":             {spec: with(applying(one), when(failing, "object.spec.other")), fails: `[expression 'object.spec.none == 'x'' resulted in error: no such key: none, compilation error: must evaluate to bool but got dyn]`},
		"does not compile":       {spec: with(applying(one), when(invalid)), fails: "compilation error: compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.('\n | object.spec.(\n | ............^"},
		"of wrong type":          {spec: with(applying(one), when(wrongType)), fails: `compilation error: must evaluate to bool but got string`},
		"too expensive":          {spec: with(applying(one), costly(0), when(search, search, search)), fails: `validation failed due to running out of cost budget, no further validation rules will be run`},
		"too expensive, ignored": {spec: with(applying(one), costly(0), when(search, search, search), ignoring)},
		"reads variables":        {spec: with(applying(one), let("v", "object.spec.replicas"), when("variables.v > 5")), want: []string{hasOne}},
		"reads params":           {spec: with(applying(one), parameterized(limitKind), when("params == null")), want: []string{hasOne}},
		"reads the namespace":    {spec: with(applying(one), when("namespaceObject.metadata.name == 'blue'")), fails: `expression 'namespaceObject.metadata.name == 'blue'' resulted in error: no such key: metadata`},
		"reads the authorizer":   {spec: with(applying(one), when("authorizer.requestResource.check('read').allowed()")), want: []string{hasOne}},
		"reads the request":      {spec: with(applying(one), when("request.resource.group == 'apps'"), matched(matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments")))), want: []string{hasOne}},
		"reads the old object":   {on: "update", spec: with(applying(one), when("object.spec.replicas != oldObject.spec.replicas")), want: []string{hasOne}},
		"sees what earlier policies did": {
			spec:     with(applying(two), when("has(object.metadata.labels.one)")),
			others:   []*v1.MutatingAdmissionPolicy{policyOf("earlier.example.com", applying(one))},
			bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", "earlier.example.com"), bindingOf("b", usualPolicy)},
			want:     []string{hasOne, hasTwo},
		},
		"and copies":   {spec: with(patching("[JSONPatch{op: 'add', path: '/metadata/annotations', value: object.metadata.labels}]"), when("true")), want: []string{`"annotations":{"app":"shop"}`}},
		"and elements": {spec: with(applying(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{volumes: [object.spec.template.spec.volumes[0]]}}}}`), when("true"))},
	}
}
