// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/equivalence/harness"
)

// manifests are objects with fields of many types.
var manifests = map[string]string{
	"pod": `
apiVersion: v1
kind: Pod
metadata:
  name: rich
  namespace: blue
  creationTimestamp: "2026-01-02T03:04:05Z"
  deletionTimestamp: "2026-01-02T03:04:06Z"
  deletionGracePeriodSeconds: 30
  generation: 7
  labels: {app: shop, example.com/team: blue}
  annotations: {example.com/note: ""}
  finalizers: [example.com/a, example.com/b]
  ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u1, controller: true, blockOwnerDeletion: false}]
  managedFields: [{manager: kubectl, operation: Update, apiVersion: v1, time: "2026-01-02T03:04:05Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:containers": {}}}}]
spec:
  activeDeadlineSeconds: 600
  hostNetwork: true
  priority: -5
  terminationGracePeriodSeconds: 0
  nodeSelector: {}
  tolerations: [{key: a, operator: Exists, tolerationSeconds: 9}, {}]
  securityContext: {runAsUser: 0, runAsNonRoot: false, supplementalGroups: [1, 2]}
  containers:
  - name: main
    image: registry.example.com/shop:1.2
    command: [sh, -c, ""]
    ports: [{containerPort: 80, protocol: TCP}, {containerPort: 443, hostPort: 0}]
    env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
    resources: {limits: {cpu: "1", memory: 1Gi, example.com/gpu: "2"}, requests: {cpu: 250m}}
    livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 3}
    readinessProbe: {httpGet: {path: /, port: http}}
  volumes:
  - {name: e, emptyDir: {sizeLimit: 10Mi}}
  - {name: s, secret: {secretName: x, defaultMode: 420, optional: false}}
status:
  phase: Running
  startTime: "2026-01-02T03:04:05Z"
  conditions: [{type: Ready, status: "True", lastTransitionTime: null}]
`,
	"secret": `
apiVersion: v1
kind: Secret
metadata: {name: rich, namespace: blue}
immutable: false
type: Opaque
data: {plain: aGVsbG8=, empty: "", binary: /wD+}
`,
	"configmap": `
apiVersion: v1
kind: ConfigMap
metadata:
  {name: a, namespace: blue, uid: u1, resourceVersion: "7", creationTimestamp: "2026-01-02T03:04:05Z", labels: {app: shop}, annotations: {a: ""}, finalizers: [a.example.com/f]}
immutable: true
data: {most: "5", empty: ""}
binaryData: {binary: /wD+}
`,
	"event": `
apiVersion: v1
kind: Event
metadata: {name: rich, namespace: blue}
involvedObject: {kind: Pod, name: p}
eventTime: "2026-01-02T03:04:05.678901Z"
firstTimestamp: "2026-01-02T03:04:05Z"
lastTimestamp: null
count: 3
`,
	"service": `
apiVersion: v1
kind: Service
metadata: {name: rich, namespace: blue}
spec:
  ports: [{port: 80, targetPort: http}, {port: 81, targetPort: 8081, nodePort: 30000}]
  selector: {app: shop}
  internalTrafficPolicy: Local
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 10}}
`,
	"widget": `
apiVersion: example.com/v1
kind: Widget
metadata: {name: rich, namespace: blue, labels: {}}
spec:
  int: 3
  long: 9007199254740993
  negative: -1
  float: 1.5
  whole: 2.0
  "true": true
  nothing: null
  text: "é\u0000\n"
  empty: ""
  noElements: []
  noEntries: {}
  list: [1, two, null, [3], {four: 4}]
  same: [a, a]
  nested: {a: {b: {c: [{d: e}]}}}
  in: reserved
  namespace: reserved
  a.b: dotted
  a/b: slashed
  a-b: dashed
  __x__: underscored
`,
}

// TestValues compares the values of expressions that read each field of objects with fields of
// many types.
func TestValues(t *testing.T) {
	for name, manifest := range manifests {
		r, content := requestFor(t, name, manifest)
		t.Run(name, func(t *testing.T) { compareValues(t, r, "object", content.Object, nil) })
	}
	r, widget := requestFor(t, "widget", manifests["widget"])
	_, configMap := requestFor(t, "configmap", manifests["configmap"])
	asked := plugincel.CreateAdmissionRequest(r.Attributes(), metav1.GroupVersionResource(r.Resource), metav1.GroupVersionKind(r.Kind))
	t.Run("old object", func(t *testing.T) { compareValues(t, r, "oldObject", widget.Object, nil) })
	t.Run("request", func(t *testing.T) {
		compareValues(t, r, "request", *harness.Translate(t, asked, &map[string]any{}), nil)
	})
	t.Run("namespace", func(t *testing.T) { compareValues(t, r, "namespaceObject", harness.Namespace("blue").Object, nil) })
	t.Run("params", func(t *testing.T) { compareValues(t, r, "params", configMap.Object, configMap) })
	limit := widget.DeepCopy()
	limit.SetAPIVersion(limitKind.APIVersion)
	limit.SetKind(limitKind.Kind)
	t.Run("custom params", func(t *testing.T) { compareValues(t, r, "params", limit.Object, limit) })
}

// compareValues compares all readings of a value and of its parts.
func compareValues(t *testing.T, r request, root string, content map[string]any, param *unstructured.Unstructured) {
	t.Helper()
	var s scenario
	var kind *v1.ParamKind
	var ref *v1.ParamRef
	if param != nil {
		s.Params = append(s.Params, param)
		kind = &v1.ParamKind{APIVersion: param.GetAPIVersion(), Kind: param.GetKind()}
		ref = &v1.ParamRef{Name: param.GetName()}
	}
	var validations []v1.Validation
	for _, path := range harness.Paths(root, content) {
		for _, reading := range harness.Readings {
			validations = append(validations, show(path, root, reading))
		}
	}
	// A single policy would exceed its cost budget.
	for some := range slices.Chunk(validations, 500) {
		policy := policyOf(fmt.Sprintf("p%d", len(s.Policies)), v1.ValidatingAdmissionPolicySpec{ParamKind: kind, Validations: some})
		binding := bindingOf(policy.Name, policy.Name, v1.Warn)
		binding.Spec.ParamRef = ref
		s.Policies, s.Bindings = append(s.Policies, policy), append(s.Bindings, binding)
	}
	got := compareIn(t, s, map[string]request{"it": r})
	if got.Unexplained != nil {
		t.Error(got)
	}
	if outcome := got.celador["it"]; len(outcome.Warnings) != len(validations) {
		t.Errorf("%d of %d values were seen: %s", len(outcome.Warnings), len(validations), outcome.text())
	}
}

// show returns a validation that always fails with a message that contains the value of an
// expression or its error.
func show(path, root, reading string) v1.Validation {
	other := path
	if root == "object" {
		other = harness.OtherRoot(path, root, "oldObject")
	}
	expression := harness.Read(reading, path, other)
	return v1.Validation{Expression: "dyn(" + expression + ") == 'no such value'", MessageExpression: "'%s'.format([" + expression + "])"}
}

// requestFor returns an update request for the object in a manifest, and the decoded object.
func requestFor(t *testing.T, name, manifest string) (request, *unstructured.Unstructured) {
	t.Helper()
	content := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON([]byte(manifest))
	must(t, err)
	must(t, json.Unmarshal(text, content))
	kind := content.GroupVersionKind()
	object, old := runtime.Object(content), runtime.Object(content.DeepCopy())
	if kind.GroupVersion() == corev1.SchemeGroupVersion {
		versioned, err := legacyscheme.Scheme.New(kind)
		must(t, err)
		must(t, json.Unmarshal(text, versioned))
		object, err = legacyscheme.Scheme.ConvertToVersion(versioned, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
		must(t, err)
		old = object.DeepCopyObject()
	}
	return request{
		Operation: admission.Update, Resource: kind.GroupVersion().WithResource(name + "s"), Kind: kind, Namespace: "blue", Name: "rich",
		Object: object, Old: old, Options: &metav1.UpdateOptions{}, User: harness.Jane,
	}, content
}
