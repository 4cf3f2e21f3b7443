// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// authorizers are examples of expressions that call the authorizer.
func authorizers() map[string]example {
	ask := func(expression string, want ...string) example {
		return example{spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(expression)}, want: want}
	}
	denied := func(expression string) example { return ask(expression, "denied: failed expression: "+expression) }
	const (
		read  = "authorizer.requestResource.check('read')"
		write = "authorizer.requestResource.check('write')"
		// A check costs 350,000 units.
		three = read + ".allowed() && " + read + ".allowed() && " + read + ".allowed()"
	)
	return map[string]example{
		"allowed":               ask(read + ".allowed()"),
		"not allowed":           denied(write + ".allowed()"),
		"reason":                ask(read + ".reason() == 'you may read'"),
		"no reason":             ask(write + ".reason() == ''"),
		"refused":               ask("!authorizer.requestResource.check('refuse').allowed() && authorizer.requestResource.check('refuse').reason() == 'you may not'"),
		"errored":               ask("authorizer.requestResource.check('fail').errored() && authorizer.requestResource.check('fail').error() == 'authorizer is down'"),
		"errored is no error":   denied("authorizer.requestResource.check('fail').allowed()"),
		"resource":              denied("authorizer.group('apps').resource('deployments').namespace('blue').name('web').check('delete').allowed()"),
		"resource, get":         ask("authorizer.group('apps').resource('deployments').namespace('blue').name('web').check('get').allowed()"),
		"subresource":           ask("authorizer.group('').resource('pods').subresource('log').check('get').allowed()"),
		"path":                  ask("authorizer.path('/healthz').check('get').allowed()"),
		"path, write":           denied("authorizer.path('/healthz').check('post').allowed()"),
		"service account":       ask("authorizer.serviceAccount('blue', 'robot').path('/').check('get').allowed()"),
		"bad service account":   ask("authorizer.serviceAccount('blue', '').path('/').check('get').allowed()", "denied: expression 'authorizer.serviceAccount('blue', '').path('/').check('get').allowed()' resulted in error: Invalid service account name"),
		"empty path":            ask("authorizer.path('').check('get').allowed()", "denied: expression 'authorizer.path('').check('get').allowed()' resulted in error: path must not be empty"),
		"field selector":        ask("authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n1').check('list').allowed()"),
		"label selector":        ask("authorizer.group('').resource('pods').labelSelector('app=web').check('list').allowed()"),
		"ternary":               ask(write+".allowed() ? true : object.spec.replicas <= 5", "denied: failed expression: "+write+".allowed() ? true : object.spec.replicas <= 5"),
		"several times":         ask(read + ".reason() == " + read + ".reason()"),
		"too often":             ask(three, "denied: expression '"+three+"' resulted in error: operation cancelled: actual cost limit exceeded"),
		"as a variable's value": {spec: v1.ValidatingAdmissionPolicySpec{Variables: let("on", "authorizer.requestResource"), Validations: validating("variables.on.check('write').allowed()")}, want: says("denied: failed expression: variables.on.check('write').allowed()")},
		"not in a message":      {spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", MessageExpression: read + ".reason()", Message: "fixed"}}}, want: says("denied: fixed")},
	}
}
