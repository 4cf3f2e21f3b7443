// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDenials(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// spec is the spec in YAML, without match constraints.
		spec string
		data map[string]string
		// text is the message, empty if the request is admitted.
		text   string
		reason metav1.StatusReason
		code   int32
	}{
		"satisfied": {
			spec: `validations: [{expression: object.data.size == 'small'}]`,
			data: map[string]string{"size": "small"},
		},
		"not satisfied": {
			spec: `validations: [{expression: "  object.data.size == 'small' "}]`,
			data: map[string]string{"size": "big"},
			text: "failed expression: object.data.size == 'small'", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"first of two": {
			spec: `validations: [{expression: "true", message: one}, {expression: "false", message: two}, {expression: "false", message: three}]`,
			text: "two", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"message": {
			spec: `validations: [{expression: "false", message: " too big "}]`,
			text: "too big", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"message expression": {
			spec: `validations: [{expression: "false", message: too big, messageExpression: "object.data.size + ' is too big'"}]`,
			data: map[string]string{"size": "huge"},
			text: "huge is too big", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"message expression that fails": {
			spec: `validations: [{expression: "false", message: too big, messageExpression: string(object.data.missing)}]`,
			data: map[string]string{"size": "huge"},
			text: "too big", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"reason Invalid": {
			spec: `validations: [{expression: "false", message: m, reason: Invalid}]`,
			text: "m", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"reason Forbidden": {
			spec: `validations: [{expression: "false", message: m, reason: Forbidden}]`,
			text: "m", reason: metav1.StatusReasonForbidden, code: 403,
		},
		"reason RequestEntityTooLarge": {
			spec: `validations: [{expression: "false", message: m, reason: RequestEntityTooLarge}]`,
			text: "m", reason: metav1.StatusReasonRequestEntityTooLarge, code: 413,
		},
		"error": {
			spec: `validations: [{expression: object.data.missing == 'x'}]`,
			data: map[string]string{"size": "big"},
			text: "expression 'object.data.missing == 'x'' resulted in error: no such key: missing", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"error with failure policy Ignore": {
			spec: `
failurePolicy: Ignore
validations: [{expression: object.data.missing == 'x'}]`,
			data: map[string]string{"size": "big"},
		},
		"unsatisfied with failure policy Ignore": {
			spec: `
failurePolicy: Ignore
validations: [{expression: object.data.missing == 'x'}, {expression: "false"}]`,
			data: map[string]string{"size": "big"},
			text: "failed expression: false", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"out of budget": {
			spec: `validations: [{expression: "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, ` +
				`[0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f >= 0))))))"}]`,
			text: "expression '[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, " +
				"[0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f >= 0))))))' " +
				"resulted in error: operation cancelled: actual cost limit exceeded", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"match condition exempts": {
			spec: `
matchConditions: [{name: "yes", expression: "true"}, {name: big, expression: object.data.size == 'big'}]
validations: [{expression: "false"}]`,
			data: map[string]string{"size": "small"},
		},
		"match conditions apply": {
			spec: `
matchConditions: [{name: "yes", expression: "true"}, {name: big, expression: object.data.size == 'big'}]
validations: [{expression: "false"}]`,
			data: map[string]string{"size": "big"},
			text: "failed expression: false", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"match condition fails": {
			spec: `
matchConditions: [{name: missing, expression: object.data.missing == 'x'}]
validations: [{expression: "true"}]`,
			data: map[string]string{"size": "big"},
			text: "expression 'object.data.missing == 'x'' resulted in error: no such key: missing", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"match condition fails with failure policy Ignore": {
			spec: `
failurePolicy: Ignore
matchConditions: [{name: missing, expression: object.data.missing == 'x'}]
validations: [{expression: "false"}]`,
			data: map[string]string{"size": "big"},
		},
		"variables": {
			spec: `
variables: [{name: size, expression: object.data.size}, {name: loud, expression: variables.size.upperAscii()}]
validations: [{expression: variables.loud == 'SMALL', messageExpression: "variables.loud + '!'"}]`,
			data: map[string]string{"size": "big"},
			text: "BIG!", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"authorizer": {
			spec: `
validations:
- expression: authorizer.group('').resource('configmaps').namespace(request.namespace).check('create').allowed()
- expression: "!authorizer.requestResource.check('create').allowed()"
  message: allowed`,
			text: "allowed", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"namespace": {
			spec: `
validations:
- expression: namespaceObject.metadata.labels['tier'] != 'gold'
  messageExpression: "'in ' + namespaceObject.metadata.name.substring(0, 5)"`,
			text: "in test-", reason: metav1.StatusReasonInvalid, code: 422,
		},
		"request": {
			spec: `
validations:
- expression: >-
    !(request.operation == 'CREATE' && request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' &&
    request.name == object.metadata.name && request.namespace == namespaceObject.metadata.name && request.dryRun != true &&
    'system:masters' in request.userInfo.groups && oldObject == null)
  message: seen`,
			text: "seen", reason: metav1.StatusReasonInvalid, code: 422,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := admin.Namespace(t, map[string]string{"tier": "gold"})
			by := enforce(t, ns, configMaps("CREATE")+tc.spec)
			err := newConfigMap(t, ns, tc.data)
			if tc.text == "" {
				testserver.ExpectAdmitted(t, err)
				return
			}
			by.expectDenied(t, err, tc.text, tc.reason, tc.code)
		})
	}
}

// The error is the first denial in the order of policy names and then of binding names.
func TestSeveralPolicies(t *testing.T) {
	t.Parallel()
	ns := admin.Namespace(t, nil)
	first := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false", message: first}]`)
	second := writePolicy(t, configMaps("CREATE")+`validations: [{expression: "false", message: second}]`)
	binding := min(bind(t, first, testserver.In(ns)), bind(t, first, testserver.In(ns)))
	other := bind(t, second, testserver.In(ns))
	settle(t)
	err := newConfigMap(t, ns, nil)
	if first < second {
		denier{first, binding}.expectInvalid(t, err, "first")
	} else {
		denier{second, other}.expectInvalid(t, err, "second")
	}
}
