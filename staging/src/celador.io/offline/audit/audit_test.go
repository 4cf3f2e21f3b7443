// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/audit"
	"celador.io/offline/cluster/clustertest"
)

// sequence yields objects to audit.
func sequence(objects ...*unstructured.Unstructured) iter.Seq2[audit.Object, error] {
	return func(yield func(audit.Object, error) bool) {
		for _, object := range objects {
			if !yield(audit.Object{Unstructured: object}, nil) {
				return
			}
		}
	}
}

func runAudit(t testing.TB, config audit.Config, objects ...*unstructured.Unstructured) *audit.Report {
	t.Helper()
	config.Backend = clustertest.Backend
	a, err := audit.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	report, err := a.Audit(t.Context(), sequence(objects...), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// lines describes a report in a few words for each policy, finding and object without an
// evaluation.
func lines(report *audit.Report) (lines []string) {
	for _, p := range report.Policies {
		if p.NotAuditable != "" {
			lines = append(lines, p.Name+": "+p.NotAuditable)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s/%s: %d passed, %d violated, %d failed, %d findings", p.Name, p.Binding, p.Passed, p.Violated, p.Failed, p.ViolationsCount))
		for _, f := range p.Violations {
			lines = append(lines, fmt.Sprintf("%s %s[%d]: %s", f.Outcome, f.Object.Name, f.Index, f.Message))
		}
	}
	for _, u := range report.Unevaluated {
		lines = append(lines, u.Object.Name+": "+u.Err.Error())
	}
	return lines
}

// auditPolicy returns a policy of ConfigMaps with the given fields of spec.
func auditPolicy(name, spec string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ` + name + `}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
` + spec
}

func auditBinding(name, policy, spec string) string {
	return `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ` + name + `, creationTimestamp: "2026-05-01T00:00:00Z"}
spec:
  policyName: ` + policy + `
  validationActions: [Warn]
` + spec
}

const auditObjects = `
apiVersion: v1
kind: ConfigMap
metadata: {name: good, namespace: shop, creationTimestamp: "2026-04-01T00:00:00Z"}
data: {size: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: bad
  namespace: shop
  creationTimestamp: "2026-04-01T00:00:00Z"
  managedFields: [{manager: kubectl, operation: Update, apiVersion: v1, time: "2026-06-01T00:00:00Z"}]
data: {size: "9"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: without, namespace: other, creationTimestamp: "2026-04-01T00:00:00Z"}`

func TestAudit(t *testing.T) {
	const small = "  validations: [{expression: \"int(object.data.size) < 5\", message: too large}]"
	const missing = "expression 'int(object.data.size) < 5' resulted in error: no such key: data"
	for _, test := range []struct {
		name     string
		policies string
		// config is completed with the policies.
		config audit.Config
		want   []string
	}{
		{
			"without a binding", auditPolicy("p", small), audit.Config{},
			[]string{"p/: 1 passed, 1 violated, 1 failed, 2 findings", "denied bad[0]: too large", "failed without[0]: " + missing},
		},
		{
			"ignored failures", auditPolicy("p", "  failurePolicy: Ignore\n"+small), audit.Config{},
			[]string{"p/: 1 passed, 1 violated, 1 failed, 2 findings", "denied bad[0]: too large", "failed without[0]: " + missing},
		},
		{
			"bindings", auditPolicy("p", small) + auditBinding("a", "p", "  matchResources: {objectSelector: {matchLabels: {a: b}}}") +
				auditBinding("b", "p", "  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}"), audit.Config{},
			[]string{"p/a: 0 passed, 0 violated, 0 failed, 0 findings", "p/b: 1 passed, 1 violated, 0 failed, 1 findings", "denied bad[0]: too large"},
		},
		{
			"since the binding", auditPolicy("p", small) + auditBinding("a", "p", ""), audit.Config{SinceBinding: true},
			[]string{"p/a: 0 passed, 1 violated, 0 failed, 1 findings", "denied bad[0]: too large"},
		},
		{
			"since a binding that does not exist", auditPolicy("p", small) + "\n---\n" + auditPolicy("q", small) + auditBinding("a", "p", ""), audit.Config{SinceBinding: true},
			[]string{"p/a: 0 passed, 1 violated, 0 failed, 1 findings", "denied bad[0]: too large", "q: the policy has no binding, since whose creation objects could have been written"},
		},
		{
			"a limit of findings", auditPolicy("p", "  validations: [{expression: \"false\", message: never}]"), audit.Config{MaxViolations: 2},
			[]string{"p/: 0 passed, 3 violated, 0 failed, 3 findings", "denied good[0]: never", "denied bad[0]: never"},
		},
		{
			"selected policies", auditPolicy("p", small) + "\n---\n" + auditPolicy("q", "  validations: [{expression: \"true\"}]"),
			audit.Config{Select: func(policy string) bool { return policy == "q" }},
			[]string{"q/: 3 passed, 0 violated, 0 failed, 0 findings"},
		},
		{
			"the old object", auditPolicy("p", "  validations: [{expression: \"oldObject == null || true\"}]"), audit.Config{},
			[]string{"p: spec.validations[0].expression: the expression reads oldObject, which an audit does not know"},
		},
		{
			"the user in a variable", auditPolicy("p", "  variables: [{name: admins, expression: \"'admins' in request.userInfo.groups\"}]\n"+
				"  validations: [{expression: variables.admins}]"), audit.Config{},
			[]string{"p: spec.variables[0].expression: the expression reads request.userInfo, which an audit does not know"},
		},
		{
			"the request as a whole", auditPolicy("p", "  validations: [{expression: \"[request].all(r, r.name != 'x')\"}]"), audit.Config{},
			[]string{"p: spec.validations[0].expression: the expression reads request.userInfo, which an audit does not know"},
		},
		{
			"other fields of the request", auditPolicy("p", "  validations: [{expression: \"request.operation == 'CREATE' && request.namespace == 'shop'\", message: elsewhere}]"), audit.Config{},
			[]string{"p/: 2 passed, 1 violated, 0 failed, 1 findings", "denied without[0]: elsewhere"},
		},
		{
			"the authorizer", auditPolicy("p", "  matchConditions: [{name: a, expression: \"authorizer.path('/').check('get').allowed()\"}]\n"+small), audit.Config{},
			[]string{"p: spec.matchConditions[0].expression: the expression reads authorizer, which an audit does not know"},
		},
		{
			"other operations", strings.Replace(auditPolicy("p", small), "[CREATE]", "[UPDATE, DELETE]", 1), audit.Config{},
			[]string{"p: spec.matchConstraints: the policy matches no CREATE of an object, and an audit presents objects as created"},
		},
		{
			"params without a binding", auditPolicy("p", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"+small), audit.Config{},
			[]string{"p: spec.paramKind: the policy needs params, and no binding selects them"},
		},
		{
			"params", auditPolicy("p", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: \"object.metadata.name != params.data.name\", message: reserved}]") +
				auditBinding("a", "p", "  paramRef: {name: names, namespace: settings, parameterNotFoundAction: Deny}") +
				"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: names, namespace: settings}\ndata: {name: good}", audit.Config{},
			[]string{"p/a: 2 passed, 1 violated, 0 failed, 1 findings", "denied good[0]: reserved"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			// Objects of a server and those of files give the same report.
			for _, stored := range []bool{false, true} {
				config := test.config
				if config.Added = clustertest.Parse(t, test.policies); stored {
					config.Added, config.Stored = nil, config.Added
				}
				if diff := cmp.Diff(test.want, lines(runAudit(t, config, clustertest.Parse(t, auditObjects)...))); diff != "" {
					t.Errorf("stored %t: report (-want +got):\n%s", stored, diff)
				}
			}
		})
	}
}

func TestAuditOfUnknownObjects(t *testing.T) {
	policy := strings.Replace(auditPolicy("p", "  validations: [{expression: \"true\"}]"), `apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]`,
		`apiGroups: ["", example.com], apiVersions: [v1], operations: [CREATE], resources: [configmaps, things]`, 1)
	objects := clustertest.Parse(t, `
apiVersion: example.com/v1
kind: Thing
metadata: {name: matched}
---
apiVersion: other.example.com/v1
kind: Other
metadata: {name: unmatched}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mistyped}
dta: {}`)
	want := []string{
		"p/: 0 passed, 0 violated, 0 failed, 0 findings",
		`matched: kind Thing: API group "example.com" is not served: custom resources need their CustomResourceDefinition among the objects`,
		`mistyped: strict decoding error: unknown field "dta"`,
	}
	report := runAudit(t, audit.Config{Added: clustertest.Parse(t, policy)}, objects...)
	if diff := cmp.Diff(want, lines(report)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if report.Errors() != 2 || report.Objects != 0 {
		t.Errorf("%d errors, %d objects", report.Errors(), report.Objects)
	}
}

// TestAuditOfFiles audits objects as files have them, with policies, bindings and namespaces that
// replace those of a server.
func TestAuditOfFiles(t *testing.T) {
	policy := strings.Replace(auditPolicy("p", "  validations:\n  - {expression: \"object.metadata.namespace == 'default'\", message: namespace}\n"+
		"  - {expression: \"object.metadata.name.startsWith('web-')\", message: name}"), "resources: [configmaps]", "resources: [configmaps/*]", 1)
	const namespace = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {environment: test}}"
	binding := auditBinding("b", "p", "  matchResources: {namespaceSelector: {matchLabels: {environment: test}}}")
	config := audit.Config{Stored: clustertest.Parse(t, auditPolicy("p", "  validations: [{expression: \"false\"}]")+binding+namespace), Added: clustertest.Parse(t, policy+binding+namespace)}
	objects := clustertest.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: web-}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web-2, namespace: other}")
	want := []string{"p/b: 1 passed, 0 violated, 0 failed, 0 findings"}
	if diff := cmp.Diff(want, lines(runAudit(t, config, objects...))); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestAuditOfSubresources has a policy that no object as a whole can violate.
func TestAuditOfSubresources(t *testing.T) {
	policy := strings.Replace(auditPolicy("p", "  validations: [{expression: \"false\"}]"), "resources: [configmaps]", "resources: [pods/eviction, '*/status']", 1)
	want := []string{"p: spec.matchConstraints: the policy matches no CREATE of an object, and an audit presents objects as created"}
	if diff := cmp.Diff(want, lines(runAudit(t, audit.Config{Added: clustertest.Parse(t, policy)}))); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
