// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

// full maps each resource to a spec in YAML that sets every field to a value other than its
// default.
var full = map[string]string{
	policies: fullPolicy, bindings: fullBinding,
	mutatingPolicies: fullMutatingPolicy, mutatingBindings: fullMutatingBinding,
}

const fullPolicy = `
paramKind:
  apiVersion: v1
  kind: ConfigMap
matchConstraints:
  namespaceSelector:
    matchLabels: {tier: gold}
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}
  objectSelector:
    matchExpressions:
    - {key: exempt, operator: DoesNotExist}
  resourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [CREATE, UPDATE]
    resources: [deployments, deployments/scale]
    resourceNames: [web, shop]
    scope: Namespaced
  - apiGroups: ["*"]
    apiVersions: ["*"]
    operations: ["*"]
    resources: [widgets/*]
    scope: "*"
  excludeResourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [DELETE]
    resources: ["*"]
    scope: Cluster
  matchPolicy: Exact
validations:
- expression: variables.replicas <= 5
  message: five at most
  messageExpression: "'five at most, not ' + string(variables.replicas)"
  reason: RequestEntityTooLarge
- expression: object.spec.replicas > int(params.data['least'])
failurePolicy: Ignore
auditAnnotations:
- key: replicas
  valueExpression: string(variables.replicas)
matchConditions:
- name: humans
  expression: "!request.userInfo.username.startsWith('system:')"
- name: always
  expression: "true"
variables:
- name: replicas
  expression: object.spec.replicas
- name: doubled
  expression: variables.replicas * 2
`

const fullBinding = `
policyName: demo
paramRef:
  name: limits
  namespace: default
  parameterNotFoundAction: Allow
matchResources:
  namespaceSelector:
    matchLabels: {tier: gold}
  objectSelector:
    matchLabels: {app: web}
  resourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [deployments]
    resourceNames: [web]
    scope: Namespaced
  excludeResourceRules:
  - apiGroups: [apps]
    apiVersions: [v1beta1]
    operations: [DELETE]
    resources: [statefulsets]
    scope: Cluster
  matchPolicy: Exact
validationActions: [Warn, Audit]
`

// fullMutatingPolicy and fullMutatingBinding set every field that Kubernetes knows of mutating
// policies and their bindings.
const fullMutatingPolicy = `
paramKind:
  apiVersion: v1
  kind: ConfigMap
matchConstraints:
  namespaceSelector:
    matchLabels: {tier: gold}
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}
  objectSelector:
    matchExpressions:
    - {key: exempt, operator: DoesNotExist}
  resourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [CREATE, UPDATE]
    resources: [deployments, deployments/scale]
    resourceNames: [web, shop]
    scope: Namespaced
  - apiGroups: ["*"]
    apiVersions: ["*"]
    operations: [CONNECT]
    resources: [widgets/*]
    scope: "*"
  excludeResourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [DELETE]
    resources: ["*"]
    scope: Cluster
  matchPolicy: Exact
mutations:
- patchType: JSONPatch
  jsonPatch:
    expression: |-
      [JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b"), value: params.data.b}]
- patchType: ApplyConfiguration
  applyConfiguration:
    expression: "Object{spec: Object.spec{replicas: variables.doubled}}"
reinvocationPolicy: IfNeeded
failurePolicy: Ignore
matchConditions:
- name: humans
  expression: "!request.userInfo.username.startsWith('system:')"
- name: always
  expression: "true"
variables:
- name: replicas
  expression: object.spec.replicas
- name: doubled
  expression: variables.replicas * 2
`

const fullMutatingBinding = `
policyName: demo
paramRef:
  name: limits
  namespace: default
  parameterNotFoundAction: Allow
matchResources:
  namespaceSelector:
    matchLabels: {tier: gold}
  objectSelector:
    matchLabels: {app: web}
  resourceRules:
  - apiGroups: [apps]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [deployments]
    resourceNames: [web]
    scope: Namespaced
  excludeResourceRules:
  - apiGroups: [apps]
    apiVersions: [v1beta1]
    operations: [DELETE]
    resources: [statefulsets]
    scope: Cluster
  matchPolicy: Exact
`
