// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import v1 "celador.io/api/admissionregistration/v1"

// reinvocations are examples of the second round of admission and of the order of policies.
func reinvocations() map[string]example {
	two := func(first, second spec) example {
		return example{
			spec:     first,
			others:   []*v1.MutatingAdmissionPolicy{policyOf("second.example.com", second)},
			bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", usualPolicy), bindingOf("b", "second.example.com")},
		}
	}
	on := func(name string, e example, want ...string) example {
		e.on, e.want = name, want
		return e
	}
	failing := func(text string, e example) example {
		e.fails = text
		return e
	}
	conditional := with(applying(labelled("seen", "has(object.metadata.labels.touched) ? 'yes' : 'no'")), reinvoked)
	return map[string]example{
		"never":                     {on: "create touched", spec: applying(increment), want: []string{`"replicas":10`}},
		"if needed":                 {on: "create touched", spec: with(applying(increment), reinvoked), want: []string{`"replicas":11`}},
		"not needed":                {spec: with(applying(increment), reinvoked), want: []string{`"replicas":11`}},
		"unchanged and not needed":  {spec: with(applying("Object{spec: Object.spec{replicas: 9}}"), reinvoked)},
		"unchanged and touched":     {on: "create touched", spec: with(applying("Object{spec: Object.spec{replicas: 9}}"), reinvoked), want: []string{`"replicas":9`, `"touched":"yes"`}},
		"sees what others did":      {on: "create touched", spec: conditional, want: []string{`"seen":"yes"`}},
		"widget":                    {on: "create widget touched", spec: with(applying(increment), reinvoked), want: []string{`"replicas":11`}},
		"pod":                       {on: "create pod touched", spec: conditional, want: []string{`"seen":"yes"`}},
		"condition of before":       {on: "create touched", spec: with(applying(increment), reinvoked, when("!has(object.metadata.labels.touched)")), want: []string{`"replicas":10`}},
		"condition that fails then": {on: "create touched", spec: with(applying(increment), when("!has(object.metadata.labels.touched) || object.spec.none == 'x'")), want: []string{`"replicas":10`}, fails: `expression '!has(object.metadata.labels.touched) || object.spec.none == 'x'' resulted in error: no such key: none`},
		"error in the first":        {on: "create touched", spec: with(applying(one, "Object{spec: Object.spec{replicas: object.none}}"), reinvoked), want: []string{hasOne}, fails: `expression 'Object{spec: Object.spec{replicas: object.none}}' resulted in error: no such key: none`},
		"error in the second":       {on: "create touched", spec: with(applying("Object{spec: Object.spec{replicas: has(object.metadata.labels.touched) ? object.none : 5}}"), reinvoked), want: []string{`"replicas":5`}, fails: `expression 'Object{spec: Object.spec{replicas: has(object.metadata.labels.touched) ? object.none : 5}}' resulted in error: no such key: none`},
		"failing test":              {on: "create touched", spec: with(patching("[JSONPatch{op: 'test', path: '/metadata/labels/touched', value: 'yes'}, JSONPatch{op: 'replace', path: '/spec/replicas', value: 1}]"), reinvoked), want: []string{`"replicas":1`}},
		"first because of second":   on("create", two(with(applying(increment), reinvoked), applying(one)), `"replicas":11`, hasOne),
		"second because of first":   on("create", two(applying(one), with(applying(increment), reinvoked)), hasOne, `"replicas":11`),
		"both":                      on("create", two(with(applying(increment), reinvoked), with(applying("Object{spec: Object.spec{replicas: object.spec.replicas * 2}}"), reinvoked)), `"replicas":42`),
		"neither":                   on("create", two(applying(increment), applying("Object{spec: Object.spec{replicas: object.spec.replicas * 2}}")), `"replicas":20`),
		"one of both":               on("create touched", two(with(applying(increment), reinvoked), applying("Object{spec: Object.spec{replicas: object.spec.replicas * 2}}")), `"replicas":21`),
		"two bindings":              {spec: with(applying(increment), reinvoked), bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", usualPolicy), bindingOf("b", usualPolicy)}, want: []string{`"replicas":13`}},
		"first fails":               failing(`policy 'policy.example.com' with binding 'a' denied request: expression 'Object{spec: Object.spec{replicas: object.none}}' resulted in error: no such key: none`, on("create", two(applying("Object{spec: Object.spec{replicas: object.none}}"), applying(one)), hasOne)),
		"both fail":                 failing(`policy 'policy.example.com' with binding 'a' denied request: expression 'Object{spec: Object.spec{replicas: object.none}}' resulted in error: no such key: none`, two(applying("Object{spec: Object.spec{replicas: object.none}}"), applying(invalid))),
		"first fails, ignored":      on("create", two(with(applying("Object{spec: Object.spec{replicas: object.none}}"), ignoring), applying(one)), hasOne),
		"one patches no number":     failing(`policy 'second.example.com' with binding 'b' denied request: patched object is not valid: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`, on("create", two(applying(one), patching("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 'many'}]")), hasOne)),
		"one for another object":    on("create", two(with(applying(one), matched(ofObjects("app", "parts"))), applying(increment)), `"replicas":10`),
	}
}
