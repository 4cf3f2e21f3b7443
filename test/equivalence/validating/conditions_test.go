// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// conditions are examples of match conditions: a false condition exempts the request, otherwise
// failurePolicy applies to errors, and otherwise the policy is evaluated.
func conditions() map[string]example {
	spec := func(conditions ...string) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{MatchConditions: when(conditions...), Validations: validating("false")}
	}
	const (
		creates = "request.operation == 'CREATE'"
		missing = "object.missing == 2"
		// The error lists the errors of all conditions.
		both = "denied: [expression '" + failing + "' resulted in error: no such key: missing, expression '" + missing + "' resulted in error: no such key: missing]"
	)
	withVariables := spec("variables.creates")
	withVariables.Variables = let("creates", creates)
	withFailing := spec("variables.bad == 1")
	withFailing.Variables = let("bad", "object.missing")
	withAnnotation := spec("false")
	withAnnotation.AuditAnnotations = note("'noted'")
	equivalent := spec("request.resource.group == 'apps' && request.requestResource.group == 'apps'", "request.kind.group == 'extensions' && request.requestKind.group == 'apps'", "object.apiVersion == 'extensions/v1beta1'")
	equivalent.MatchConstraints = matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
	many := spec()
	for range 64 {
		many.MatchConditions = append(many.MatchConditions, when("true")...)
	}
	return map[string]example{
		"true":                        {spec: spec(creates), want: says(neverDenied)},
		"false":                       {spec: spec(creates), on: "update"},
		"true and true":               {spec: spec(creates, "object.metadata.name == 'web'"), want: says(neverDenied)},
		"true and false":              {spec: spec(creates, "object.metadata.name == 'api'")},
		"false and true":              {spec: spec("false", creates)},
		"error":                       {spec: spec(failing), want: says(failingFailed)},
		"error, ignored":              {spec: ignoring(spec(failing))},
		"error and true":              {spec: spec(failing, "true"), want: says(failingFailed)},
		"true and error":              {spec: spec("true", failing), want: says(failingFailed)},
		"true and error, ignored":     {spec: ignoring(spec("true", failing))},
		"error and false":             {spec: spec(failing, "false")},
		"false and error":             {spec: spec("false", failing)},
		"error and false, ignored":    {spec: ignoring(spec(failing, "false"))},
		"two errors":                  {spec: spec(failing, missing), want: says(both)},
		"two errors, ignored":         {spec: ignoring(spec(failing, missing))},
		"uncompilable":                {spec: spec("object +"), compared: true},
		"uncompilable twice":          {spec: spec("object +", "object +"), compared: true},
		"uncompilable, twice ignored": {spec: ignoring(spec("object +", "object +")), compared: true},
		"uncompilable, differently":   {spec: spec("object +", "object -"), compared: true},
		"uncompilable and an error":   {spec: spec("object +", failing), compared: true},
		"the same error twice":        {spec: spec(failing, failing), want: says(failingFailed)},
		"two errors and false":        {spec: spec(failing, missing, "false")},
		"does not compile":            {spec: spec(invalid), want: says(invalidFailed)},
		"does not compile, ignored":   {spec: ignoring(spec(invalid))},
		"does not compile and false":  {spec: spec(invalid, "false")},
		"no bool":                     {spec: spec(wrongType), want: says(notABool)},
		"authorizer allows":           {spec: spec("authorizer.requestResource.check('read').allowed()"), want: says(neverDenied)},
		"authorizer does not allow":   {spec: spec("authorizer.requestResource.check('write').allowed()")},
		"authorizer fails":            {spec: spec("authorizer.requestResource.check('fail').errored()"), want: says(neverDenied)},
		"namespace is not there":      {spec: spec("namespaceObject == null"), want: says(neverDenied)},
		"namespace cannot be read":    {spec: spec("namespaceObject.metadata.name == 'blue'"), want: says("denied: expression 'namespaceObject.metadata.name == 'blue'' resulted in error: no such key: metadata")},
		"requested resource":          {spec: equivalent, want: says(neverDenied)},
		"requested resource, the one": {spec: equivalent, on: "create legacy"},
		"variable true":               {spec: withVariables, want: says(neverDenied)},
		"variable false":              {spec: withVariables, on: "update"},
		"variable fails":              {spec: withFailing, want: says("denied: expression 'variables.bad == 1' resulted in error: composited variable \"bad\" fails to evaluate: no such key: missing")},
		"variable fails, ignored":     {spec: ignoring(withFailing)},
		"no annotation either":        {spec: withAnnotation},
		"as many as there may be":     {spec: many, want: says(neverDenied)},
		"exempt a user":               {spec: spec("!('system:serviceaccounts' in request.userInfo.groups)"), on: "create by robot"},
		"exempt no other user":        {spec: spec("!('system:serviceaccounts' in request.userInfo.groups)"), want: says(neverDenied)},
		"nobody":                      {spec: spec("request.userInfo.?username.orValue('') == 'jane'"), on: "create nameless"},
		"old object only":             {spec: spec("oldObject != null && object == null"), on: "delete", want: says(neverDenied)},
	}
}
