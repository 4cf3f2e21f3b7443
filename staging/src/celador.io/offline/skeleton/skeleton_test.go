// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/skeleton"
	"celador.io/offline/suite"
)

// validatingPolicy returns a policy of one resource with the given rest of its spec.
func validatingPolicy(group, version, resource, rest string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["` + group + `"], apiVersions: [` + version + `], operations: [CREATE, UPDATE], resources: [` + resource + `]}]
` + rest
}

// runSkeleton writes the suite of a policy file, and returns the result of each case by name.
func runSkeleton(t *testing.T, policy string) (results map[string]string, text string) {
	t.Helper()
	directory := t.TempDir()
	file := filepath.Join(directory, "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := skeleton.New(t.Context(), clustertest.Backend, file, directory)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, "suite.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := new(suite.Loader).Load(path)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, content)
	}
	checkSwapped(t, tests[0], directory)
	results = map[string]string{}
	for _, c := range (&suite.Runner{Backend: clustertest.Backend}).Run(t.Context(), tests)[0].Cases {
		if strings.Contains(c.Name, skeleton.Todo) && c.Passed() {
			t.Errorf("case %s passes before it is filled in:\n%s", c.Name, content)
		}
		result := "passed"
		if c.Err != nil {
			result = "error: " + c.Err.Error()
		} else if !c.Passed() {
			result = c.Mismatches[0].Field + ": want " + c.Mismatches[0].Want + ", got " + string(c.Decision)
		}
		results[c.Name] = result
	}
	return results, string(content)
}

// checkSwapped runs a suite with the requests of the cases that satisfy and violate the same
// validation swapped. A case that passes with either tests nothing.
func checkSwapped(t *testing.T, test *suite.Test, directory string) {
	t.Helper()
	changed := *test.Suite
	changed.Cases = slices.Clone(test.Suite.Cases)
	swapped := map[string]bool{}
	for i := 0; i+1 < len(changed.Cases); i++ {
		first, second := &changed.Cases[i], &changed.Cases[i+1]
		if name, found := strings.CutSuffix(first.Name, " is satisfied"); found && second.Name == name+" is violated" && !strings.Contains(first.Name, skeleton.Todo) {
			first.Request, second.Request = second.Request, first.Request
			swapped[first.Name], swapped[second.Name] = true, true
		}
	}
	text, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, "swapped.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := new(suite.Loader).Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range (&suite.Runner{Backend: clustertest.Backend}).Run(t.Context(), tests)[0].Cases {
		if swapped[c.Name] && c.Passed() {
			t.Errorf("case %s passes with the other request, too:\n%s", c.Name, text)
		}
	}
}

func TestSkeletons(t *testing.T) {
	both := map[string]string{"validations[0] is satisfied": "passed", "validations[0] is violated": "passed"}
	for _, test := range []struct {
		name, policy string
		want         map[string]string
		contains     []string
	}{
		{
			name: "number", policy: validatingPolicy("apps", "v1", "deployments", `  validations: [{expression: object.spec.replicas <= 5}]`),
			want: both, contains: []string{"replicas: 5\n", "replicas: 6\n", "# object.spec.replicas <= 5\n", "The file has no binding of p."},
		},
		{
			name: "labels", policy: validatingPolicy("", "v1", "configmaps", `  validations: [{expression: "has(object.metadata.labels) && 'team' in object.metadata.labels"}]`),
			want: both,
		},
		{
			name: "containers", policy: validatingPolicy("", "v1", "pods", `  variables: [{name: all, expression: object.spec.containers}]
  validations: [{expression: "variables.all.all(c, !c.image.endsWith(':latest'))"}]`),
			want: both, contains: []string{":latest\n"},
		},
		{
			name: "match condition and two validations", policy: validatingPolicy("apps", "v1", "deployments", `  matchConditions: [{name: a, expression: "object.metadata.name == 'web'"}]
  validations: [{expression: object.spec.replicas >= 2}, {expression: "object.metadata.?annotations['owner'].orValue('') == 'me'"}]`),
			want: map[string]string{
				"validations[0] is satisfied": "passed", "validations[0] is violated": "passed", "validations[1] is satisfied": "passed", "validations[1] is violated": "passed",
			},
		},
		{
			name: "selectors and a binding that warns", policy: validatingPolicy("", "v1", "services", `  validations: [{expression: object.spec.type != 'NodePort'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Warn]
  matchResources:
    namespaceSelector: {matchLabels: {env: prod}}
    objectSelector: {matchExpressions: [{key: tier, operator: In, values: [web]}]}`),
			want: both,
		},
		{
			name: "audit only", policy: validatingPolicy("apps", "v1", "deployments", `  validations: [{expression: object.spec.replicas <= 5}, {expression: object.spec.replicas >= 2}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Audit]}`),
			want: map[string]string{
				"validations[0] is satisfied": "passed", "validations[0] is violated": "passed", "validations[1] is satisfied": "passed", "validations[1] is violated": "passed",
			},
		},
		{
			name: "a binding that denies elsewhere", policy: validatingPolicy("apps", "v1", "deployments", `  validations: [{expression: object.spec.replicas <= 5}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Warn]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: c}
spec: {policyName: p, validationActions: [Deny], matchResources: {objectSelector: {matchExpressions: [{key: never, operator: In, values: [x]}, {key: never, operator: DoesNotExist}]}}}`),
			want: both,
		},
		{
			name: "warning that no object gets", policy: validatingPolicy("", "v1", "pods", `  validations: [{expression: "size(object.spec.containers) < 3"}, {expression: "size(object.spec.containers) > 3"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Warn]}`),
			want: map[string]string{
				"TODO validations[0] is satisfied": "violations: want 0, got Allowed", "TODO validations[0] is violated": "validation: want 0, got Allowed",
				"TODO validations[1] is satisfied": "violations: want 0, got Allowed", "validations[1] is violated": "passed",
			},
		},
		{
			name: "names of resources", policy: strings.Replace(validatingPolicy("apps", "v1", "deployments", `  validations: [{expression: object.spec.replicas <= 5}]`),
				"resources: [deployments]", "resources: [deployments], resourceNames: [web, api]", 1),
			want: both, contains: []string{"name: web\n"},
		},
		{
			name: "namespace of the request", policy: validatingPolicy("", "v1", "configmaps", `  matchConditions: [{name: a, expression: "request.namespace == 'shop'"}]
  validations: [{expression: "object.metadata.name != 'x'"}]`),
			want: both, contains: []string{"namespace: shop\n"},
		},
		{
			name: "namespaces in a list", policy: validatingPolicy("", "v1", "configmaps", `  variables: [{name: allowed, expression: "['shop', 'lab']"}]
  validations: [{expression: "request.namespace in ['shop', 'lab']"}, {expression: "namespaceObject.metadata.name != 'lab'"}]`),
			want: map[string]string{
				"validations[0] is satisfied": "passed", "validations[0] is violated": "passed", "validations[1] is satisfied": "passed", "validations[1] is violated": "passed",
			},
		},
		{
			name: "name and namespace of an update", policy: strings.Replace(validatingPolicy("", "v1", "configmaps", `  validations: [{expression: "request.name != 'x' && request.namespace != 'shop'"}]`), "CREATE, UPDATE", "UPDATE", 1),
			want: both,
		},
		{
			name: "several kinds", policy: strings.Replace(validatingPolicy("", "v1", "pods", `  validations:
  - expression: "object.kind != 'Deployment' || object.spec.replicas <= 5"
  - expression: "object.kind != 'Pod' || object.metadata.name != 'x'"`),
				"resources: [pods]}", "resources: [pods]}, {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets, deployments]}", 1),
			want: map[string]string{
				"validations[0] is satisfied": "passed", "validations[0] is violated": "passed", "validations[1] is satisfied": "passed", "validations[1] is violated": "passed",
			},
			contains: []string{"kind: Deployment\n", "replicas: 6\n", "kind: Pod\n"},
		},
		{
			name: "params", policy: validatingPolicy("apps", "v1", "deployments", `  paramKind: {apiVersion: v1, kind: ConfigMap}
  validations: [{expression: "object.spec.replicas <= int(params.data.max)"}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: default}
data: {max: "3"}`),
			want: map[string]string{"validations[0] is satisfied": "passed", "TODO validations[0] is violated": "decision: want Denied, got Allowed"},
		},
		{
			name: "custom resource", policy: validatingPolicy("example.com", "v1", "things", `  validations: [{expression: object.spec.size < 10}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec: {type: object, required: [size, mode], properties: {size: {type: integer, minimum: 2}, mode: {type: string, enum: [a, b]}}}`),
			want: both, contains: []string{"mode: a\n", "size: 10\n"},
		},
		{
			name: "custom resource with constraints of texts", policy: strings.Replace(validatingPolicy("example.com", "v1", "things", `  validations: [{expression: object.spec.size < 10}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, short, host, code, word]
            properties:
              size: {type: integer}
              short: {type: string, minLength: 3}
              word: {type: string, pattern: '^\S{2}$'}
              host: {type: string, minLength: 8, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?(\.(com|org))+$'}
              code: {type: string, pattern: '^(?i:a)\d{2,4}-[^x]$'}`), "apiVersions: [v1]", "apiVersions: ['*']", 1),
			want: both, contains: []string{"short: xxx\n", "word: xx\n", "apiVersion: example.com/v1\n", "size: 10\n"},
		},
		{
			// No object is valid.
			name: "a text longer than any", policy: validatingPolicy("example.com", "v1", "things", `  validations: [{expression: object.spec.size < 10}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, huge]
            properties:
              size: {type: integer}
              huge: {type: string, minLength: 9223372036854775807}`),
			want: map[string]string{"TODO validations[0] is satisfied": "decision: want Allowed, got Rejected", "TODO validations[0] is violated": "decision: want Denied, got Rejected"},
		},
		{
			name: "selected namespace and labels", policy: validatingPolicy("", "v1", "configmaps", `  validations: [{expression: "object.metadata.name != 'x'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Deny]
  matchResources:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}
    objectSelector: {matchLabels: {tier: web}}`),
			want: both, contains: []string{"namespace: shop\n", "tier: web\n"},
		},
		{
			name: "nothing is found", policy: validatingPolicy("", "v1", "pods", `  validations: [{expression: "size(object.spec.containers) < 3"}]`),
			want: map[string]string{"validations[0] is satisfied": "passed", "TODO validations[0] is violated": "decision: want Denied, got Allowed"},
		},
		{
			name: "deletion", policy: strings.Replace(validatingPolicy("", "v1", "configmaps", `  validations: [{expression: "oldObject.metadata.name != 'keep'"}]`), "CREATE, UPDATE", "DELETE", 1),
			want: both, contains: []string{"operation: DELETE\n"},
		},
		{
			name: "unknown resource", policy: validatingPolicy("example.com", "v1", "things", `  validations: [{expression: object.spec.size < 10}]`),
			want: map[string]string{"TODO validations[0] is satisfied": "error: ", "TODO validations[0] is violated": "error: "},
		},
		{
			name: "mutation", policy: `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'color': 'blue'}}"}}]`,
			want: map[string]string{"changes the object": "passed"}, contains: []string{"path: /data/color\n", "value: blue\n"},
		},
		{
			name:     "lookups",
			policy:   validatingPolicy("", "v1", "configmaps", "  lookups: [{name: secrets, apiVersion: v1, kind: Secret}]\n  validations: [{expression: \"lookups.secrets.list().size() == 0 && object.metadata.name != 'x'\"}]"),
			want:     map[string]string{"validations[0] is satisfied": "passed", "validations[0] is violated": "passed"},
			contains: []string{"metadata:\n  name: policy\nfeatureGates:\n  AdmissionPolicyLookups: true\nmanifests:\n"},
		},
		{
			name:     "the time of the request",
			policy:   validatingPolicy("", "v1", "configmaps", "  validations: [{expression: \"request.time > timestamp(0) && object.metadata.name != 'x'\"}]"),
			want:     map[string]string{"validations[0] is satisfied": "passed", "validations[0] is violated": "passed"},
			contains: []string{"featureGates:\n  AdmissionPolicyRequestTime: true\n", "\n    time: \"20"},
		},
		{
			name: "mutation of a pod", policy: `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions: [{name: marked, expression: "'proxy' in object.metadata.labels"}]
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'proxy', image: 'proxy'}]}}"}}]`,
			want: map[string]string{"changes the object": "passed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			results, text := runSkeleton(t, test.policy)
			for name, result := range results {
				if strings.HasPrefix(result, "error: ") && test.want[name] == "error: " {
					results[name] = "error: "
				}
			}
			if diff := cmp.Diff(test.want, results); diff != "" {
				t.Errorf("results (-want +got):\n%s\n%s", diff, text)
			}
			for _, part := range test.contains {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in:\n%s", part, text)
				}
			}
		})
	}
}

func TestNoSkeleton(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := skeleton.New(t.Context(), clustertest.Backend, file, ".")
	if err == nil || !strings.HasSuffix(err.Error(), "policy.yaml: no policy found: want a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy") {
		t.Errorf("error %v", err)
	}
	for rest, want := range map[string]string{
		"  validations: [{expression: object.spec.replicas <=}]":   "policy.yaml:7: spec.validations[0].expression: ",
		"  validations: [{expression: object.spec.replicas + ''}]": "policy.yaml:7: spec.validations[0].expression: ",
		"  validation: [{expression: 'true'}]":                     "policy.yaml:7: spec.validation: unknown field",
		"  validations: [{expression: 'true'}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\nspec: {policyName: p}\n": "policy.yaml:",
	} {
		if err := os.WriteFile(file, []byte(validatingPolicy("apps", "v1", "deployments", rest)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := skeleton.New(t.Context(), clustertest.Backend, file, "."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", rest, err, want)
		}
	}
}
