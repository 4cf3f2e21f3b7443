// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
)

// inputs are examples that show every variable in audit annotations and messages.
func inputs() map[string]example {
	optional := func(path string) string { return fmt.Sprintf("string(%s.orValue('none'))", path) }
	first := map[string]string{
		"request": "apps/v1/Deployment", "user": "jane/u1", "options": "true", "object": "some", "old object": "null", "namespace object": "some",
	}
	result := map[string]example{}
	for name, expressions := range map[string][]string{
		"request": {
			"request.kind.group + '/' + request.kind.version + '/' + request.kind.kind",
			"request.resource.group + '/' + request.resource.version + '/' + request.resource.resource",
			"request.requestKind.group + '/' + request.requestKind.version + '/' + request.requestKind.kind",
			"request.requestResource.group + '/' + request.requestResource.resource + '/' + request.requestSubResource",
			"request.name + '/' + request.namespace + '/' + request.operation + '/' + request.subResource",
			"string(request.dryRun) + string(has(request.dryRun))", "string(has(request.uid))", "string(request.userInfo == request.userInfo)",
		},
		"user": {
			"request.userInfo.username + '/' + request.userInfo.uid", "request.userInfo.groups.join(',')",
			"string(request.userInfo.extra.size())", "request.userInfo.extra['example.com/team'].join(',')",
			"string(has(request.userInfo.extra))", "string('oncall' in request.userInfo.groups)",
		},
		"options": {
			"string(has(request.options))", "request.options == null ? 'null' : 'some'", optional("request.options.?kind"), optional("request.options.?apiVersion"),
			optional("request.options.?fieldManager"), optional("request.options.?propagationPolicy"), optional("request.options.?dryRun[?0]"), optional("request.options.?force"),
		},
		"object": {
			"object == null ? 'null' : 'some'", optional("object.?kind"), optional("object.?apiVersion"), optional("object.?metadata.?name"), optional("object.?metadata.?generateName"),
			optional("object.?spec.?replicas"), optional("object.?metadata.?labels.?app"), "string(has(object.status))", "string(has(object.metadata.creationTimestamp))",
			"string(type(object.spec.replicas) == int)", "string(object.spec.size())", "string(object.spec.exists(k, k == 'replicas'))", optional("object.?command[?0]"),
			"string(object == object)", "string(object == oldObject)", "string(object.spec == oldObject.spec)", "string(object.spec.parts == ['a', 'b'])",
			"object.metadata.labels.map(k, k + object.metadata.labels[k]).join(',')", "string('app' in object.metadata.labels)",
			"object.spec.template.spec.containers.map(c, c.name).join(',')", "string(has(object.spec.template.spec.containers[0].resources))", "string(has(object.spec.strategy))",
		},
		"old object": {
			"oldObject == null ? 'null' : 'some'", optional("oldObject.?kind"), optional("oldObject.?apiVersion"), optional("oldObject.?metadata.?name"), optional("oldObject.?spec.?replicas"),
			"string(oldObject.spec.replicas < object.spec.replicas)",
		},
		"namespace object": {
			"namespaceObject == null ? 'null' : 'some'", "namespaceObject.metadata.name", "namespaceObject.metadata.labels.name", "namespaceObject.metadata.annotations['purpose']",
			"string(has(namespaceObject.metadata.finalizers))", "string(has(namespaceObject.status.phase)) + string(has(namespaceObject.spec.finalizers))",
			"string(has(namespaceObject.metadata.uid))", "string(namespaceObject.metadata.creationTimestamp)", "string(has(namespaceObject.kind))",
		},
	} {
		// With failurePolicy Ignore, the error of one expression does not affect the others.
		s := ignoring(v1.ValidatingAdmissionPolicySpec{AuditAnnotations: note(expressions...)})
		for _, expression := range expressions {
			s.Validations = append(s.Validations, v1.Validation{Expression: "request.operation == ''", MessageExpression: expression})
		}
		result[name] = example{spec: s, compared: true}
		if message, ok := first[name]; ok {
			only := s
			only.AuditAnnotations, only.Validations = nil, s.Validations[:1]
			result[name+", first"] = example{spec: only, want: says("denied: " + message)}
		}
		reversed := s
		reversed.Validations = slices.Clone(s.Validations)
		slices.Reverse(reversed.Validations)
		reversed.MatchConstraints = matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
		result[name+" in another version"] = example{spec: reversed, compared: true}
	}
	return result
}
