// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
)

const (
	alphaGates = "--feature-gates=ValidatingAdmissionPolicySingleton=true,ValidatingAdmissionPolicyValidationFailurePolicy=true," +
		"ValidatingAdmissionPolicyFallbackBinding=true,AdmissionPolicyTypeEnforcement=true,AdmissionPolicyLookups=true,AdmissionPolicyExpressionScopes=true,AdmissionPolicyCauses=true," +
		"AdmissionPolicyRequestTime=true,MutatingAdmissionPolicySingleton=true,MutatingAdmissionPolicyFallbackBinding=true"
	allVersions = "--runtime-config=" + group + "/v1beta1=true," + group + "/v1alpha1=true"
)

// versions are the versions that serve each kind.
var versions = map[string][]string{
	"ValidatingAdmissionPolicy":        {"v1"},
	"ValidatingAdmissionPolicyBinding": {"v1"},
	"MutatingAdmissionPolicy":          {"v1", "v1beta1", "v1alpha1"},
}

// gated are objects that use every field behind an alpha gate, each named after its case.
// Requests name their case in a label.
var gated = []string{`
kind: ValidatingAdmissionPolicy
metadata: {name: singleton}
spec:
  policyType: Singleton
  matchConstraints:
    objectSelector: {matchLabels: {case: singleton}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", message: never}]
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: lenient}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {case: lenient}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: object.data.missing == 'x', failurePolicy: Ignore}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: lenient}
spec: {policyName: lenient, validationActions: [Deny]}
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: default}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {case: default}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", message: by default}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: special}
spec:
  policyName: default
  validationActions: [Audit]
  matchResources: {objectSelector: {matchLabels: {special: "true"}}}
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: default}
spec: {policyName: default, bindingType: Fallback, validationActions: [Deny]}
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: typed}
spec:
  typeChecking: Enforced
  matchConstraints:
    objectSelector: {matchLabels: {case: typed}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
    - {apiGroups: [gates.example.com], apiVersions: [v1], operations: [CREATE], resources: [boxes]}
  validations: [{expression: object.data.some == 'other data', message: other data is needed}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: typed}
spec: {policyName: typed, validationActions: [Deny]}
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: looking}
spec:
  lookups: [{name: namespaces, apiVersion: v1, kind: Namespace}]
  matchConstraints:
    objectSelector: {matchLabels: {case: looking}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "!lookups.namespaces.get('default').hasValue()", message: the namespace is there}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: looking}
spec: {policyName: looking, validationActions: [Deny]}
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: timed}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {case: timed}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: request.time < timestamp('2020-01-01T00:00:00Z'), message: too late}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: timed}
spec: {policyName: timed, validationActions: [Deny]}
`, `
kind: ValidatingAdmissionPolicy
metadata: {name: caused}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {case: caused}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", message: with a field, fieldPath: data.some}]
`, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: caused}
spec: {policyName: caused, validationActions: [Deny]}
`, `
kind: MutatingAdmissionPolicy
metadata: {name: typed}
spec:
  typeChecking: Enforced
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'some': 'data'}}"}}]
  reinvocationPolicy: Never
`}

// boxes have type errors in policy "typed".
const boxes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.gates.example.com}
spec:
  group: gates.example.com
  names: {kind: Box, plural: boxes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {data: {type: object, properties: {some: {type: integer}}}}}}
`

const (
	byTypes = "ValidatingAdmissionPolicy 'typed' denied request: failed to configure policy: spec.validations[0].expression does not fit gates.example.com/v1, Kind=Box: " +
		"ERROR: <input>:1:18: found no matching overload for '_==_' applied to '(int, string)'\n | object.data.some == 'other data'\n | .................^"
	byFallback  = "ValidatingAdmissionPolicy 'default' with binding 'default' denied request: by default"
	byCaused    = "ValidatingAdmissionPolicy 'caused' with binding 'caused' denied request: with a field"
	bySingleton = "ValidatingAdmissionPolicy 'singleton' denied request: never"
)

// requests maps labels of requests to the expected message, empty if admitted.
type requests map[string]string

var (
	enforcedOn = requests{
		"case=singleton":            bySingleton,
		"case=lenient":              "",
		"case=default":              byFallback,
		"case=default,special=true": "",
		"case=typed":                byTypes,
		"case=caused":               byCaused,
		"case=looking":              "ValidatingAdmissionPolicy 'looking' with binding 'looking' denied request: the namespace is there",
		"case=timed":                "ValidatingAdmissionPolicy 'timed' with binding 'timed' denied request: too late",
	}
	enforcedOff = requests{
		"case=timed": "ValidatingAdmissionPolicy 'timed' with binding 'timed' denied request: " +
			"expression 'request.time < timestamp('2020-01-01T00:00:00Z')' resulted in error: no such key: time",
		"case=singleton": "",
		"case=lenient": "ValidatingAdmissionPolicy 'lenient' with binding 'lenient' denied request: " +
			"expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
		"case=default":              byFallback,
		"case=default,special=true": byFallback,
		"case=typed":                "ValidatingAdmissionPolicy 'typed' with binding 'typed' denied request: other data is needed",
		"case=caused":               byCaused,
		"case=looking": "ValidatingAdmissionPolicy 'looking' with binding 'looking' denied request: compilation error: compilation failed: " +
			"ERROR: <input>:1:2: undeclared reference to 'lookups' (in container '')\n | !lookups.namespaces.get('default').hasValue()\n | .^\n" +
			"ERROR: <input>:1:24: undeclared reference to 'get' (in container '')\n | !lookups.namespaces.get('default').hasValue()\n | .......................^",
	}
)

// Fields behind alpha gates are stored and in effect only while the gate is enabled. Stored
// fields stay in storage when it is disabled.
func TestAlphaGates(t *testing.T) {
	dir := t.TempDir()
	t.Run("on", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, allVersions, alphaGates), true}
		server.define(t, boxes)
		for _, text := range gated {
			if _, err := server.write(t, "v1", parse(t, text), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		server.expectEnforced(t, enforcedOn)
		server.expectStored(t)
		server.expectWritten(t)
		expectInvalid(t, server.bindSingleton(t, metav1.DryRunAll), "policy singleton is a Singleton, which takes effect without a binding")
		t.Run("examples", func(t *testing.T) { testExamples(t, server.Server) })
	})
	t.Run("off", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, allVersions), false}
		server.expectEnforced(t, enforcedOff)
		server.expectWritten(t)
		server.touch(t)
		server.expectStored(t)
		server.expectEnforced(t, enforcedOff)

		if err := server.bindSingleton(t); err != nil {
			t.Errorf("without its gate a Singleton takes bindings: %v", err)
		}
		server.expectEnforced(t, requests{"case=singleton": "ValidatingAdmissionPolicy 'singleton' with binding 'bound' denied request: never"})
	})
	t.Run("on again", func(t *testing.T) {
		server := gateServer{testserver.Start(t, dir, allVersions, alphaGates), true}
		server.expectEnforced(t, enforcedOn)
		server.expectStored(t)
		server.touch(t)
		server.expectStored(t)
		expectInvalid(t, server.bindSingleton(t, metav1.DryRunAll), "policy singleton is a Singleton, which takes effect without a binding")
	})
}

// gateServer is a server with the alpha gates on or off.
type gateServer struct {
	*testserver.Server
	on bool
}

// parse decodes an object from YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return obj
}

// resource returns a dynamic client for a policy or binding.
func (s gateServer) resource(t *testing.T, version, kind string) dynamic.ResourceInterface {
	t.Helper()
	resource, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	return s.Clients().Objects.Resource(resource)
}

// define creates a CustomResourceDefinition.
func (s gateServer) define(t *testing.T, text string) {
	t.Helper()
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	testserver.Must(s.Clients().Objects.Resource(definitions).Create(t.Context(), parse(t, text), metav1.CreateOptions{}))(t)
}

func (s gateServer) write(t *testing.T, version string, obj *unstructured.Unstructured, options metav1.CreateOptions) (*unstructured.Unstructured, error) {
	t.Helper()
	obj.SetAPIVersion(group + "/" + version)
	return s.resource(t, version, obj.GetKind()).Create(t.Context(), obj, options)
}

// bindSingleton creates a binding that names the Singleton.
func (s gateServer) bindSingleton(t *testing.T, dryRun ...string) error {
	t.Helper()
	_, err := s.write(t, "v1", parse(t, `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec: {policyName: singleton, validationActions: [Deny]}`), metav1.CreateOptions{DryRun: dryRun})
	return err
}

// touch updates the labels of every object through every version.
func (s gateServer) touch(t *testing.T) {
	t.Helper()
	for _, text := range gated {
		obj := parse(t, text)
		for _, version := range versions[obj.GetKind()] {
			client := s.resource(t, version, obj.GetKind())
			// The server writes the status at the same time.
			if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				got, err := client.Get(t.Context(), obj.GetName(), metav1.GetOptions{})
				if err != nil {
					return err
				}
				got.SetLabels(map[string]string{"touched": version, "on": strconv.FormatBool(s.on)})
				_, err = client.Update(t.Context(), got, metav1.UpdateOptions{})
				return err
			}); err != nil {
				t.Errorf("%s %s: %v", version, obj.GetName(), err)
			}
		}
	}
}

// fields returns the gated fields that an object sets.
func fields(obj *unstructured.Unstructured) map[string]any {
	set := map[string]any{}
	spec := obj.Object["spec"].(map[string]any)
	for _, name := range []string{"policyType", "bindingType", "typeChecking", "lookups"} {
		if value, ok := spec[name]; ok {
			set[name] = value
		}
	}
	validations, _ := spec["validations"].([]any)
	for i, validation := range validations {
		if value, ok := validation.(map[string]any)["failurePolicy"]; ok {
			set[fmt.Sprintf("validations[%d].failurePolicy", i)] = value
		}
	}
	return set
}

// expectStored checks that the stored objects have the fields in all versions.
func (s gateServer) expectStored(t *testing.T) {
	t.Helper()
	for _, text := range gated {
		want := parse(t, text)
		for _, version := range versions[want.GetKind()] {
			got, err := s.resource(t, version, want.GetKind()).Get(t.Context(), want.GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fields(want), fields(got)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", version, want.GetName(), diff)
			}
		}
	}
}

// expectWritten checks, in all versions, that created and updated objects keep the fields only
// while the gates are enabled.
func (s gateServer) expectWritten(t *testing.T) {
	t.Helper()
	dryRun := []string{metav1.DryRunAll}
	for _, text := range gated {
		for _, version := range versions[parse(t, text).GetKind()] {
			sent := parse(t, text)
			want := map[string]any{}
			if s.on {
				want = fields(sent)
			}
			sent.SetName("another")
			got, err := s.write(t, version, sent, metav1.CreateOptions{DryRun: dryRun})
			if !s.on && strings.Contains(text, "request.time") {
				expectInvalid(t, err, "spec.validations[0].expression: Invalid value: \"request.time < timestamp('2020-01-01T00:00:00Z')\": request.time requires the AdmissionPolicyRequestTime feature gate to be enabled")
				continue
			}
			if !s.on && strings.Contains(text, "lookups.") {
				// The expression does not compile without the field that is dropped.
				expectInvalid(t, err, "undeclared reference to 'lookups'")
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, fields(got)); diff != "" {
				t.Errorf("new %s of %s (-want +got):\n%s", version, text, diff)
			}
		}
	}
	for _, tc := range []struct{ kind, name, patch string }{
		{"ValidatingAdmissionPolicy", "default", `{"spec": {"policyType": "Singleton", "typeChecking": "Enforced", "validations": [{"expression": "true", "failurePolicy": "Ignore"}]}}`},
		{"ValidatingAdmissionPolicyBinding", "special", `{"spec": {"bindingType": "Fallback"}}`},
	} {
		want := map[string]any{}
		if s.on {
			want = fields(parse(t, tc.patch))
		}
		got, err := s.resource(t, "v1", tc.kind).Patch(t.Context(), tc.name, types.MergePatchType, []byte(tc.patch), metav1.PatchOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, fields(got)); diff != "" {
			t.Errorf("changed %s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// expectEnforced checks the results of requests once all earlier writes are in effect.
func (s gateServer) expectEnforced(t *testing.T, want requests) {
	t.Helper()
	client := clientsOf(s.Server)
	testserver.Eventually(t, func(ctx context.Context) error {
		got := requests{}
		for labels := range want {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{}}, Data: map[string]string{"some": "data"}}
			for label := range strings.SplitSeq(labels, ",") {
				key, value, _ := strings.Cut(label, "=")
				sent.Labels[key] = value
			}
			_, err := client.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil && !apierrors.IsInvalid(err) {
				return err
			}
			got[labels] = ""
			if err != nil {
				got[labels] = strings.TrimPrefix(err.Error(), `configmaps "data" is forbidden: `)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("answers (-want +got):\n%s", diff)
		}
		return nil
	})
}

func expectInvalid(t *testing.T, err error, text string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want %s", err, text)
	}
}
