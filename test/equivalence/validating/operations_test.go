// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// operations are examples of all operations of the API.
func operations() map[string]example {
	on := func(request, expression string) example {
		return example{spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(expression)}, on: request}
	}
	denied := func(request, expression string) example {
		e := on(request, expression)
		e.want = says("denied: failed expression: " + expression)
		return e
	}
	return map[string]example{
		"create":                    on("create", "request.operation == 'CREATE' && object != null && oldObject == null"),
		"update":                    on("update", "request.operation == 'UPDATE' && object.spec.replicas == 9 && oldObject.spec.replicas == 3"),
		"update grows":              denied("update", "object.spec.replicas <= oldObject.spec.replicas"),
		"update unchanged":          on("update unchanged", "object.spec == oldObject.spec"),
		"delete":                    on("delete", "request.operation == 'DELETE' && object == null && oldObject.spec.replicas == 9"),
		"delete options":            on("delete in foreground", "request.options.propagationPolicy == 'Foreground' && !has(request.options.kind)"),
		"delete without object":     on("delete without", "object == null && oldObject == null"),
		"delete without, is read":   {spec: v1.ValidatingAdmissionPolicySpec{Validations: validating("oldObject.spec.replicas == 9")}, on: "delete without", want: says("denied: expression 'oldObject.spec.replicas == 9' resulted in error: no such key: spec")},
		"delete collection":         on("delete collection", "!has(request.name) && oldObject.metadata.name == 'web'"),
		"connect":                   on("exec", "request.operation == 'CONNECT' && request.resource.resource == 'pods' && request.subResource == 'exec' && object.command == ['sh']"),
		"connect is forbidden":      denied("exec", "request.subResource != 'exec'"),
		"connect otherwise":         on("attach", "object.tty && object.kind == 'PodAttachOptions'"),
		"connect has no options":    on("exec", "!has(request.options) || request.options == null"),
		"connect without metadata":  {spec: v1.ValidatingAdmissionPolicySpec{Validations: validating("object.metadata.name == 'p'")}, on: "exec", want: says("denied: expression 'object.metadata.name == 'p'' resulted in error: no such key: metadata")},
		"scale":                     on("scale", "request.requestSubResource == 'scale' && object.kind == 'Scale' && object.spec.replicas == 9"),
		"debug":                     on("debug", "object.spec.ephemeralContainers.size() == 1 && !has(oldObject.spec.ephemeralContainers)"),
		"status":                    on("update status", "request.subResource == 'status' && request.requestSubResource == 'status'"),
		"dry run":                   on("create dry", "request.dryRun && request.options.dryRun == ['All']"),
		"no dry run":                on("create", "!request.dryRun"),
		"nameless":                  on("create nameless", "!has(request.name) && !has(object.metadata.name) && object.metadata.generateName == 'web-'"),
		"without user":              on("create nameless", "!has(request.userInfo.username) && !has(request.userInfo.groups)"),
		"apply":                     on("create by apply", "request.operation == 'CREATE' && request.options.force && request.options.fieldManager == 'kubectl'"),
		"namespace":                 on("create namespace", "request.namespace == 'green' && object.metadata.name == 'green' && namespaceObject == null"),
		"delete namespace":          on("delete namespace", "oldObject.metadata.name == 'red' && namespaceObject == null"),
		"cluster scoped":            on("create node", "!has(request.namespace) && namespaceObject == null && object.metadata.name == 'n1'"),
		"delete without options":    on("delete node", "!has(request.options) || request.options == null"),
		"custom resource":           on("create widget", "object.spec.parts == ['a', 'b'] && object.spec.ratio == 0.5 && object.spec.replicas == 9"),
		"custom resource, status":   on("update widget status", "request.subResource == 'status' && object.spec.replicas > oldObject.spec.replicas"),
		"custom resource, deletion": denied("delete widget", "oldObject.spec.replicas <= 5"),
		"in another namespace":      on("create in red", "namespaceObject.metadata.labels.name == 'red' && namespaceObject.metadata.annotations['purpose'] == 'test'"),
		"in a bare namespace":       on("create in bare", "!has(namespaceObject.metadata.labels) && namespaceObject.status.phase == 'Active'"),
		"by robot":                  on("create by robot", "request.userInfo.username == 'system:serviceaccount:blue:robot'"),
	}
}
