// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
)

const policiesPath = "/apis/admissionregistration.k8s.io/v1/"

// allGates are the alpha gates of Celador.
var allGates = "--feature-gates=" + strings.Join([]string{
	"ValidatingAdmissionPolicySingleton=true", "ValidatingAdmissionPolicyValidationFailurePolicy=true", "ValidatingAdmissionPolicyFallbackBinding=true",
	"AdmissionPolicyTypeEnforcement=true", "MutatingAdmissionPolicyInlineExpressions=true", "CustomResourceDefaultExpressions=true",
}, ",")

// An object is a manifest at a path of the API.
type object struct{ path, manifest string }

// onConfigMaps matches the config maps with the value of label test.
func onConfigMaps(label string) string {
	return `
  matchConstraints:
    objectSelector: {matchLabels: {test: ` + label + `}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`
}

// sharedCases are objects with fields that Kubernetes does not know. The response to the creation of probe, which is not stored, contains one of two texts
// before Kubernetes' server has written the object at path touched, and the other one or none afterwards. An empty text means that the request is admitted
// and that the response does not contain the other.
var sharedCases = []struct {
	name          string
	objects       []object
	touched       string
	probe         object
	before, after string
}{
	{
		name: "x-kubernetes-default",
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
		name: "policyType",
		objects: []object{{policiesPath + "validatingadmissionpolicies", `
metadata: {name: singleton}
spec:
  policyType: Singleton` + onConfigMaps("singleton") + `
  validations: [{expression: "false", message: refused by singleton}]`}},
		touched: policiesPath + "validatingadmissionpolicies/singleton",
		probe:   configMap("singleton"), before: "refused by singleton", after: "",
	},
	{
		name: "validations[].failurePolicy",
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
		name: "typeChecking",
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
		name: "bindingType",
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
	{
		name: "mutations[].condition",
		objects: []object{{policiesPath + "mutatingadmissionpolicies", `
metadata: {name: conditional}
spec:
  reinvocationPolicy: Never` + onConfigMaps("conditional") + `
  mutations:
  - condition: "false"
    patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"mutated": "yes"}}]'}`}, {policiesPath + "mutatingadmissionpolicybindings", `
metadata: {name: conditional}
spec: {policyName: conditional}`}},
		touched: policiesPath + "mutatingadmissionpolicies/conditional",
		probe:   configMap("conditional"), before: "", after: `"mutated":"yes"`,
	},
}

func configMap(label string) object {
	return object{"/api/v1/namespaces/default/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe, labels: {test: " + label + "}}}"}
}

func box(label string) object {
	return object{"/apis/shared.example.com/v1/boxes", "{apiVersion: shared.example.com/v1, kind: Box, metadata: {name: probe, labels: {test: " + label + "}}, size: 4}"}
}

// A write of Kubernetes' server drops the fields that it does not know, and leaves the generation of the object as it is. Celador's server, which runs
// on the same etcd, does what the stored object says, and not what it said before.
func TestKubernetesOnTheSameStore(t *testing.T) {
	ours := start(t, celador, []string{allGates})
	ours.awaitReady(t)
	for _, tc := range sharedCases {
		for _, o := range tc.objects {
			if text, err := ours.post(t.Context(), o, false); err != nil {
				t.Fatalf("%s: %v: %s", tc.name, err, text)
			}
		}
		ours.awaitResponse(t, tc.probe, tc.before, tc.after)
	}
	// Its controllers would write the status of a new definition.
	theirs := start(t, kubernetes, []string{"--etcd-prefix=" + ours.prefix})
	theirs.awaitReady(t)
	for _, tc := range sharedCases {
		t.Run(tc.name, func(t *testing.T) {
			ours.awaitResponse(t, tc.probe, tc.before, tc.after)
			before := ours.generation(t, tc.touched)
			if err := theirs.client.Patch(types.MergePatchType).AbsPath(tc.touched).Body([]byte(`{"metadata":{"labels":{"touched":"yes"}}}`)).Do(t.Context()).Error(); err != nil {
				t.Fatal(err)
			}
			ours.awaitResponse(t, tc.probe, tc.after, tc.before)
			if after := ours.generation(t, tc.touched); after != before {
				t.Errorf("generation was %d before the write of Kubernetes and is %d, so the test tests nothing", before, after)
			}
		})
	}
}

// post creates an object, or only validates it.
func (s *server) post(ctx context.Context, o object, dryRun bool) (string, error) {
	body, err := yaml.YAMLToJSON([]byte(o.manifest))
	if err != nil {
		return "", err
	}
	// Without this, the client would repeat requests that the server asks it to repeat.
	request := s.client.Post().MaxRetries(0).AbsPath(o.path).SetHeader("Content-Type", "application/json").Body(body)
	if dryRun {
		request = request.Param("dryRun", "All")
	}
	text, err := request.Do(ctx).Raw()
	return string(text), err
}

// awaitResponse waits until the response to the creation of an object contains want, or if want is empty, until the object is admitted and the response does not
// contain other.
func (s *server) awaitResponse(t *testing.T, probe object, want, other string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := s.post(ctx, probe, true)
		if want == "" && (err != nil || strings.Contains(text, other)) {
			return fmt.Errorf("got error %v and %s, want it admitted without %q", err, text, other)
		}
		if !strings.Contains(text, want) {
			return fmt.Errorf("got error %v and %s, want %q", err, text, want)
		}
		return nil
	})
}

// generation returns the generation of an object.
func (s *server) generation(t *testing.T, path string) int64 {
	t.Helper()
	text, err := s.client.Get().AbsPath(path).Do(t.Context()).Raw()
	var stored struct{ Metadata struct{ Generation int64 } }
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stored.Metadata.Generation
}
