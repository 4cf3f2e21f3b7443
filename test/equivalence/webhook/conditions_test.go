// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"
)

// Expressions of several examples.
const (
	creates   = "request.operation == 'CREATE'"
	failing   = "object.spec.missing.field == 1"
	missing   = "object.missing == 2"
	invalid   = "object.spec.replicas <"
	wrongType = "object.spec.replicas"
	leases    = "request.resource.group != 'coordination.k8s.io' || request.resource.resource != 'leases'"
	reads     = "authorizer.requestResource.check('read').allowed()"
)

// Errors of these expressions.
const (
	failingSays   = "expression '" + failing + "' resulted in error: no such key: missing"
	missingSays   = "expression '" + missing + "' resulted in error: no such key: missing"
	invalidSays   = "compilation error: compilation failed: ERROR: <input>:1:23: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.spec.replicas <\n | ......................^"
	notABoolSays  = "compilation error: must evaluate to bool but got dyn"
	exceededSays  = "validation failed due to running out of cost budget, no further validation rules will be run"
	unknownKind   = `no kind "Deployment" is registered for version "apps/v9" in scheme "pkg/runtime/scheme.go:111"`
	cancelledSays = "resulted in error: operation cancelled: actual cost limit exceeded"
)

// forbidden returns the error of a request to create deployment web for which match conditions
// could not be evaluated.
func forbidden(because string) string {
	return `refused (Forbidden 403): deployments.apps "web" is forbidden: ` + because
}

// search returns an expression that searches a text in itself, which costs about 900,000 units.
func search() string {
	text := "'" + strings.Repeat("a", 9490) + "'"
	return text + ".contains(" + text + ")"
}

// conditions are examples of match conditions: a webhook is not called if a condition is false,
// otherwise failurePolicy applies to errors, and otherwise it is called.
func conditions() map[string]example {
	one := func(expressions ...string) scenario { return scenario{asking("a", "allow", when(expressions...))} }
	ignored := func(expressions ...string) scenario {
		return scenario{asking("a", "allow", when(expressions...), ignoring)}
	}
	noPolicy := one(failing)
	noPolicy[0].FailurePolicy = nil
	legacy := asking("a", "allow", when("request.resource.group == 'apps' && request.requestResource.group == 'apps'", "request.kind.group == 'extensions' && request.requestKind.group == 'apps'", "object.apiVersion == 'extensions/v1beta1'"), matching(rule("extensions", "v1beta1", "deployments")))
	return map[string]example{
		"none":                       {in: one(), want: says(asks("a"))},
		"true":                       {in: one(creates), want: says(asks("a"))},
		"false":                      {in: one(creates), on: "update"},
		"true and true":              {in: one(creates, "object.metadata.name == 'web'"), want: says(asks("a"))},
		"true and false":             {in: one(creates, "object.metadata.name == 'api'")},
		"false and true":             {in: one("false", creates)},
		"error":                      {in: one(failing), want: says(forbidden(failingSays))},
		"error, ignored":             {in: ignored(failing)},
		"error, no policy":           {in: noPolicy, want: says(forbidden(failingSays))},
		"error and true":             {in: one(failing, "true"), want: says(forbidden(failingSays))},
		"true and error":             {in: one("true", failing), want: says(forbidden(failingSays))},
		"true and error, ignored":    {in: ignored("true", failing)},
		"error and false":            {in: one(failing, "false")},
		"false and error":            {in: one("false", failing)},
		"error and false, ignored":   {in: ignored(failing, "false")},
		"two errors":                 {in: one(failing, missing), want: says(forbidden("[" + failingSays + ", " + missingSays + "]"))},
		"two errors, ignored":        {in: ignored(failing, missing)},
		"the same error twice":       {in: one(failing, failing), want: says(forbidden(failingSays))},
		"two errors and false":       {in: one(failing, missing, "false")},
		"false and two errors":       {in: one("false", failing, missing)},
		"does not compile":           {in: one(invalid), want: says(forbidden(invalidSays))},
		"does not compile, ignored":  {in: ignored(invalid)},
		"does not compile and false": {in: one(invalid, "false")},
		"no bool":                    {in: one(wrongType), want: says(forbidden(notABoolSays))},
		"no bool, ignored":           {in: ignored(wrongType)},
		"unknown name":               {in: one("params == null || true"), want: says(forbidden("compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null || true\n | ^"))},
		"no variables":               {in: ignored("variables.a == 1")},
		"namespace":                  {in: ignored("namespaceObject.metadata.name == 'blue'")},
		"budget":                     {in: one(search(), search()), want: says(asks("a"))},
		"budget exceeded":            {in: one(search(), search(), search()), want: says(forbidden(exceededSays))},
		"budget exceeded, ignored":   {in: ignored(search(), search(), search())},
		"budget exceeded and false":  {in: one("false", search(), search(), search()), want: says(forbidden(exceededSays))},
		"false, budget exceeded":     {in: one(search(), search(), search(), "false"), want: says(forbidden(exceededSays))},
		"budget of each webhook":     {in: scenario{asking("a", "allow", when(search(), search())), asking("b", "allow", when(search(), search()))}, want: says(asks("a", "b"))},
		"budget of one webhook": {
			in:   scenario{asking("a", "allow", when(search(), search())), asking("b", "allow", when(search(), search(), search()), ignoring), asking("c", "allow", when(search()))},
			want: says(asks("a", "c")),
		},
		"one call exceeds its limit": {in: one(search() + " && " + search()), want: says(forbidden("expression '" + search() + " && " + search() + "' " + cancelledSays))},
		"as many as there may be":    {in: one(slices.Repeat([]string{"true"}, 64)...), want: says(asks("a"))},
		"same in several webhooks": {
			in:   scenario{asking("a", "allow", when(creates, leases)), asking("b", "allow", when(leases, creates)), asking("c", "allow", when(leases, creates, "false"))},
			want: says(asks("a", "b")),
		},
		"errors of several webhooks": {
			in:   scenario{asking("a", "allow", when(failing), ignoring), asking("b", "allow", when(missing)), asking("c", "allow", when(failing))},
			want: says(forbidden(missingSays)),
		},
		"error after others are asked": {
			in:       scenario{asking("a", "deny"), asking("b", "allow", when(failing))},
			want:     says(forbidden(failingSays)),
			mutating: says(asks("a"), denied("a")),
		},
		"authorizer allows":           {in: one(reads), want: says(asks("a"))},
		"authorizer does not allow":   {in: one("authorizer.requestResource.check('write').allowed()")},
		"authorizer fails":            {in: one("authorizer.requestResource.check('fail').errored()"), want: says(asks("a"))},
		"authorizer of other":         {in: one("authorizer.group('').resource('pods').namespace('blue').check('get').allowed() && !authorizer.path('/').check('delete').allowed()"), want: says(asks("a"))},
		"break glass":                 {in: one("!authorizer.group('admissionregistration.k8s.io').resource('validatingwebhookconfigurations').name('hook').check('breakglass').allowed()"), want: says(asks("a"))},
		"requested resource":          {in: scenario{legacy}, want: says(asks("a"))},
		"requested resource, the one": {in: scenario{legacy}, on: "create legacy"},
		"exempt a user":               {in: one("!('system:serviceaccounts' in request.userInfo.groups)"), on: "create by robot"},
		"exempt no other user":        {in: one("!('system:serviceaccounts' in request.userInfo.groups)"), want: says(asks("a"))},
		"old object only":             {in: one("oldObject != null && object == null"), on: "delete", want: says(asks("a"))},
		"changed objects":             {in: one("object.spec.replicas > oldObject.spec.replicas"), on: "update", want: says(asks("a"))},
		"options":                     {in: one("request.dryRun && request.options.dryRun == ['All']"), on: "create dry", want: says(asks("a"))},
		"connect":                     {in: one("request.subResource == 'exec' && object.command == ['sh']"), on: "exec", want: says(asks("a"))},
		"conditions come last": {
			in: scenario{asking("a", "allow", when(failing), matching(rule("", "v1", "pods"))), asking("b", "allow", when(failing), inNamespaces(labelled("name", "red"))), asking("c", "allow", when(failing), ofObjects(labelled("app", "parts")))},
		},
		"custom resource":         {in: one("object.spec.replicas == 9 && object.spec.parts.exists(p, p == 'b')"), on: "create widget", want: says(asks("a"))},
		"custom resource, old":    {in: one("oldObject.spec.replicas < object.spec.replicas"), on: "update widget", want: says(asks("a"))},
		"custom resource as v2":   {in: scenario{asking("a", "allow", when("object.spec.size == 9", "object.apiVersion == 'example.com/v2'"), matching(rule("example.com", "v2", "widgets")))}, on: "create widget", want: says(asks("a"))},
		"custom resource, v1 too": {in: scenario{asking("a", "allow", when("object.spec.size == 9"), matching(rule("example.com", "v2", "widgets"))), asking("b", "allow", when("object.spec.replicas == 9"), matching(rule("example.com", "v1", "widgets"))), asking("c", "allow", when("object.spec.size == 9"), matching(rule("example.com", "v2", "widgets")))}, on: "create widget", want: says(asks("a", "b", "c"))},
		"unknown kind":            {in: scenario{asking("a", "allow", when("true"), matching(rule("apps", "v9", "deployments")))}, want: says(internal + unknownKind), mutating: says(internal + "Internal error occurred: " + unknownKind)},
		"unknown kind, excluded":  {in: scenario{asking("a", "allow", when("false"), matching(rule("apps", "v9", "deployments")))}, want: says(internal + unknownKind), mutating: says(internal + "Internal error occurred: " + unknownKind)},
	}
}

// denied returns the error of a webhook that denies a request without a reason.
func denied(name string) string {
	return fmt.Sprintf("refused ( 400): admission webhook %q denied the request without explanation", name+".example.com")
}
