// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

// A sharedCase is about objects with a field that Kubernetes does not know. The response to the
// creation of probe, which is not stored, contains one of two texts before Kubernetes' server has
// written the object at path touched, and the other one or none afterwards. An empty text means
// that the request is admitted.
type sharedCase struct {
	// field is the field that Kubernetes drops, as the name of its Go type and its own.
	field         string
	objects       []object
	touched       string
	probe         object
	before, after string
	// refused is set if Kubernetes' server does not write the object, because it is invalid without
	// the field.
	refused bool
}

// sharedCases has a case for each field of a spec that Kubernetes does not know.
var sharedCases = []sharedCase{
	{
		field: "JSONSchemaProps.XDefault",
		objects: []object{{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `
metadata: {name: boxes.shared.example.com}
spec:
  group: shared.example.com
  names: {kind: Box, plural: boxes}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {size: {type: integer}, double: {type: integer, x-kubernetes-default: [{rule: self.size * 2}]}}`}},
		touched: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.shared.example.com",
		probe:   box("any"), before: `"double":8`, after: "",
	},
	{
		field: "ValidatingAdmissionPolicySpec.PolicyType",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: singleton}
spec:
  policyType: Singleton` + onConfigMaps("singleton") + `
  validations: [{expression: "false", message: refused by singleton}]`}},
		touched: policiesPath + "validatingadmissionpolicies/singleton",
		probe:   configMap("singleton"), before: "refused by singleton", after: "",
	},
	{
		field: "Validation.FailurePolicy",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: ignoring}
spec:` + onConfigMaps("ignoring") + `
  validations: [{expression: "object.data.missing == '1'", failurePolicy: Ignore}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: ignoring}
spec: {policyName: ignoring, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicies/ignoring",
		probe:   configMap("ignoring"), before: "", after: "no such key",
	},
	{
		field: "Validation.FieldPath",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: caused}
spec:` + onConfigMaps("caused") + `
  validations: [{expression: "false", message: about a field, fieldPath: data.size}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: caused}
spec: {policyName: caused, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicies/caused",
		probe:   configMap("caused"), before: `about a field","field":"data.size"}`, after: `about a field"}`,
	},
	{
		field: "Validation.Scope",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: scoped}
spec:` + onConfigMaps("scoped") + `
  validations: [{scope: {path: "metadata.labels[*]"}, expression: "self != 'scoped'", message: refused a label}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: scoped}
spec: {policyName: scoped, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicies/scoped",
		probe:   configMap("scoped"), before: "refused a label", after: "undeclared reference to 'self'", refused: true,
	},
	{
		field: "ValidatingAdmissionPolicySpec.TypeChecking",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: enforced}
spec:
  typeChecking: Enforced
  matchConstraints:
    objectSelector: {matchLabels: {test: enforced}}
    resourceRules: [{apiGroups: [shared.example.com], apiVersions: [v1], operations: [CREATE], resources: [boxes]}]
  validations: [{expression: "object.size != 'large' || object.size > 1"}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: enforced}
spec: {policyName: enforced, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicies/enforced",
		probe:   box("enforced"), before: "does not fit", after: "",
	},
	{
		field: "ValidatingAdmissionPolicySpec.Lookups",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: looking}
spec:
  lookups: [{name: namespaces, apiVersion: v1, kind: Namespace}]` + onConfigMaps("looking") + `
  validations: [{expression: "!lookups.namespaces.get('default').hasValue()", message: the namespace is there}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: looking}
spec: {policyName: looking, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicies/looking",
		probe:   configMap("looking"), before: "the namespace is there", after: "undeclared reference to 'lookups'", refused: true,
	},
	{
		field: "ValidatingAdmissionPolicyBindingSpec.BindingType",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: fallback}
spec:` + onConfigMaps("fallback") + `
  validations: [{expression: "false", message: refused by fallback}]`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: fallback-warns}
spec: {policyName: fallback, validationActions: [Audit]}`}, {policiesPath + "validatingadmissionpolicybindings", `
metadata: {name: fallback-denies}
spec: {policyName: fallback, bindingType: Fallback, validationActions: [Deny]}`}},
		touched: policiesPath + "validatingadmissionpolicybindings/fallback-denies",
		probe:   configMap("fallback"), before: "", after: "refused by fallback",
	},
	mutationCase("Condition", "conditional", `
  - condition: "false"
    patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": "yes"}}]'}`,
		"", `"mutated":"yes"`, false),
	mutationCase("Message", "explained", `
  - message: refused with a message
    patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": object.data.missing}}]'}`,
		"refused with a message", "no such key", false),
	mutationCase("Reason", "reasoned", `
  - reason: Forbidden
    patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": object.data.missing}}]'}`,
		`"reason":"Forbidden"`, `"reason":"Invalid"`, false),
	// The second mutation changes what the first one reads.
	mutationCase("ReinvocationPolicy", "reinvoked", `
  - reinvocationPolicy: IfNeeded
    patchType: JSONPatch
    jsonPatch: {expression: 'has(object.data) ? [JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": "again"}}] : []'}
  - patchType: JSONPatch
    jsonPatch: {expression: 'has(object.data) ? [] : [JSONPatch{op: "add", path: "/data", value: {"key": "value"}}]'}`,
		`"mutated":"again"`, "", false),
	mutationCase("Expression", "computed", `
  - expression: 'JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": "yes"}}'`,
		`"mutated":"yes"`, "", true),
	mutationCase("JSONMergePatch", "merged", `
  - patchType: JSONMergePatch
    jsonMergePatch: {expression: '{"metadata": {"annotations": {"mutated": "yes"}}}'}`,
		`"mutated":"yes"`, "", true),
	mutationCase("StrategicMergePatch", "strategic", `
  - patchType: StrategicMergePatch
    strategicMergePatch: {expression: '{"metadata": {"annotations": {"mutated": "yes"}}}'}`,
		`"mutated":"yes"`, "", true),
	{
		field: "MutatingAdmissionPolicySpec.TypeChecking",
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: checked}
spec:
  typeChecking: Enforced
  reinvocationPolicy: Never
  matchConstraints:
    objectSelector: {matchLabels: {test: checked}}
    resourceRules: [{apiGroups: [shared.example.com], apiVersions: [v1], operations: [CREATE], resources: [boxes]}]
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: 'object.size == "large" ? [JSONPatch{op: "remove", path: "/size"}] : []'}`}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: checked}
spec: {policyName: checked}`}},
		touched: policiesPath + "mutatingadmissionpolicies/checked",
		probe:   box("checked"), before: "does not fit", after: "",
	},
	{
		field: "MutatingAdmissionPolicySpec.PolicyType",
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: mutating-singleton}
spec:
  policyType: Singleton
  reinvocationPolicy: Never` + onConfigMaps("mutating-singleton") + `
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": "yes"}}]'}`}},
		touched: policiesPath + "mutatingadmissionpolicies/mutating-singleton",
		probe:   configMap("mutating-singleton"), before: `"mutated":"yes"`, after: "",
	},
	{
		field: "MutatingAdmissionPolicyBindingSpec.BindingType",
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: mutating-fallback}
spec:
  reinvocationPolicy: Never` + onConfigMaps("mutating-fallback") + `
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": has(object.metadata.annotations) ? "twice" : "once"}}]`}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: mutating-always}
spec: {policyName: mutating-fallback}`}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: mutating-fallback}
spec: {policyName: mutating-fallback, bindingType: Fallback}`}},
		touched: policiesPath + "mutatingadmissionpolicybindings/mutating-fallback",
		probe:   configMap("mutating-fallback"), before: `"mutated":"once"`, after: `"mutated":"twice"`,
	},
	{
		field: "MutatingAdmissionPolicySpec.Lookups",
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: looks}
spec:
  lookups: [{name: namespaces, apiVersion: v1, kind: Namespace}]
  reinvocationPolicy: Never` + onConfigMaps("looks") + `
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": lookups.namespaces.get("default").hasValue() ? "yes" : "no"}}]'}`}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: looks}
spec: {policyName: looks}`}},
		touched: policiesPath + "mutatingadmissionpolicies/looks",
		probe:   configMap("looks"), before: `"mutated":"yes"`, after: "undeclared reference to 'lookups'", refused: true,
	},
	{
		field: "CustomResourceConversion.Converters",
		objects: []object{{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `
metadata: {name: chests.shared.example.com}
spec:
  group: shared.example.com
  names: {kind: Chest, plural: chests}
  scope: Cluster
  conversion:
    strategy: ConversionRules
    converters:
    - {fromVersion: v1, toVersion: v2, rules: [{field: width, rule: self.size}]}
    - {fromVersion: v2, toVersion: v1, rules: [{field: size, rule: self.width}]}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {width: {type: integer}}}}}`}},
		touched: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/chests.shared.example.com",
		probe:   object{"/apis/shared.example.com/v1/chests", "{apiVersion: shared.example.com/v1, kind: Chest, metadata: {name: probe}, size: 4}"},
		before:  `"size":4`, after: "", refused: true,
	},
	{
		field: "CustomResourceConversion.Tables",
		objects: []object{{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `
metadata: {name: trunks.shared.example.com}
spec:
  group: shared.example.com
  names: {kind: Trunk, plural: trunks}
  scope: Cluster
  conversion:
    strategy: ConversionRules
    tables: [{name: sizes, map: {small: S}}]
    converters:
    - {fromVersion: v1, toVersion: v2, rules: [{field: width, rule: 'tables.sizes[self.size]'}]}
    - {fromVersion: v2, toVersion: v1, rules: [{field: size, rule: 'inverted.sizes[self.width]'}]}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {size: {type: string}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {width: {type: string}}}}}`}},
		touched: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trunks.shared.example.com",
		probe:   object{"/apis/shared.example.com/v1/trunks", "{apiVersion: shared.example.com/v1, kind: Trunk, metadata: {name: probe}, size: small}"},
		before:  `"size":"small"`, after: "", refused: true,
	},
}

// mutationCase returns the case of a field of mutations in a policy that a binding binds.
func mutationCase(field, name, mutations, before, after string, refused bool) sharedCase {
	return sharedCase{
		field: "Mutation." + field,
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: ` + name + `}
spec:
  reinvocationPolicy: Never` + onConfigMaps(name) + `
  mutations:` + mutations}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: ` + name + `}
spec: {policyName: ` + name + `}`}},
		touched: policiesPath + "mutatingadmissionpolicies/" + name,
		probe:   configMap(name), before: before, after: after, refused: refused,
	}
}
