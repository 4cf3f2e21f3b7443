// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/audit"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
)

var (
	web  = audit.Reference{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "shop", Name: "web", UID: "u1"}
	node = audit.Reference{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "n1", Position: manifest.Position{File: "nodes.yaml", Line: 7}}
)

// auditReport has a finding of each kind, a policy that was not evaluated, and objects that were
// not.
var auditReport = &audit.Report{
	Objects: 12,
	Policies: []audit.PolicyResult{
		{
			Name: "limits", Binding: "everywhere", Actions: []v1.ValidationAction{v1.Warn, v1.Audit}, Counts: audit.Counts{Passed: 3, Violated: 2, Failed: 1},
			Violations: []audit.Violation{
				{Object: web, Index: 1, Outcome: validating.Denied, Message: "too <large>", Reason: "Invalid", Field: "spec.replicas"},
				{Object: node, Index: -1, Outcome: validating.Failed, Message: "no such key"},
			}, ViolationsCount: 5,
		},
		{Name: "users", NotAuditable: "reads the user"},
	},
	Namespaces:  map[string]*audit.Counts{"": {Failed: 1}, "shop": {Passed: 3, Violated: 2}},
	Unevaluated: []audit.Unevaluated{{Object: node, Err: errors.New("unknown kind")}, {Object: web, Err: errors.New("unknown kind")}, {Object: web, Err: errors.New("unknown field")}}, UnevaluatedCount: 4,
	Unread: []error{errors.New("secrets: forbidden")},
}

func writeAudit(t *testing.T, format string, r *audit.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Audits[format](&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAuditTable(t *testing.T) {
	for _, test := range []struct {
		name, want string
		report     *audit.Report
	}{
		{"findings", `NAMESPACE   OBJECT                RESULT     POLICY   MESSAGE
shop        deployment.apps/web   Violated   limits   spec.replicas: too <large>
<none>      node/n1               Error      limits   no such key
and 3 more findings

POLICY   BINDING      ACTIONS      PASSED   VIOLATED   ERRORS
limits   everywhere   Warn,Audit   3        2          1

Policy users was not evaluated: reads the user
nodes.yaml:7: node/n1 and others, 2 in all, were not evaluated: unknown kind
shop/deployment.apps/web was not evaluated: unknown field
1 more objects were not evaluated
Objects were not read: secrets: forbidden
Objects, evaluated as if they were created now: 12. Violations: 2, errors: 6.
`, auditReport},
		{"nothing found", `POLICY   BINDING   ACTIONS   PASSED   VIOLATED   ERRORS
p        <none>    <none>    1        0          0

Objects, evaluated as if they were created now: 1. Violations: 0, errors: 0.
`, &audit.Report{Objects: 1, Policies: []audit.PolicyResult{{Name: "p", Counts: audit.Counts{Passed: 1}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, writeAudit(t, "table", test.report)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuditJSON(t *testing.T) {
	var got report.Audit
	if err := json.Unmarshal([]byte(writeAudit(t, "json", auditReport)), &got); err != nil {
		t.Fatal(err)
	}
	object := report.AuditObject{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", UID: "u1"}
	want := report.AuditViolation{AuditObject: object, Result: "Violated", Validation: 1, Message: "too <large>", Reason: "Invalid", Field: "spec.replicas"}
	if len(got.Policies) != 2 || len(got.Policies[0].Findings) != 2 || got.Policies[0].Omitted != 3 {
		t.Fatalf("policies %+v", got.Policies)
	}
	if diff := cmp.Diff(want, got.Policies[0].Findings[0]); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
	if got.Policies[0].Findings[1].Validation != -1 {
		t.Errorf("a finding of no validation is %+v", got.Policies[0].Findings[1])
	}
	if position := got.Policies[0].Findings[1].Position; position.Line != 7 {
		t.Errorf("position %v of an object of a file", position)
	}
	if got.Objects != 12 || got.Violations != 2 || got.Errors != 6 || len(got.Unevaluated) != 3 || len(got.Unread) != 1 || got.Policies[1].NotAuditable != "reads the user" {
		t.Errorf("report %+v", got)
	}
}

func TestAuditJUnit(t *testing.T) {
	type suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
		} `xml:"testcase"`
	}
	var got struct {
		Suites []suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(writeAudit(t, "junit", auditReport)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Suites) != 3 {
		t.Fatalf("suites %+v", got.Suites)
	}
	limits := got.Suites[0]
	if limits.Name != "limits/everywhere" || limits.Tests != 6 || limits.Failures != 2 || limits.Errors != 1 || len(limits.Cases) != 2 {
		t.Fatalf("suite %+v", limits)
	}
	if c := limits.Cases[0]; c.Name != "shop/deployment.apps/web" || c.Failure == nil || c.Error != nil {
		t.Errorf("case %+v", c)
	}
	if c := limits.Cases[1]; c.Name != "node/n1" || c.Failure != nil || c.Error == nil {
		t.Errorf("case %+v", c)
	}
	if got.Suites[1].Skipped != 1 || got.Suites[1].Errors != 0 || got.Suites[2].Errors != 4 {
		t.Errorf("suites %+v", got.Suites)
	}
}

// Every format shows the field that a violation is about.
func TestAuditFields(t *testing.T) {
	for format, want := range map[string]string{
		"table": "spec.replicas: too <large>", "json": `"field": "spec.replicas"`, "junit": `message="spec.replicas: too &lt;large&gt;"`,
		"sarif": "deployment.apps/web: spec.replicas: too <large>", "openreports": "field: spec.replicas", "wgpolicy": "field: spec.replicas",
	} {
		if got := writeAudit(t, format, auditReport); strings.Count(got, want) != 1 {
			t.Errorf("%s does not have %s once:\n%s", format, want, got)
		}
	}
	if len(report.Audits) != 6 {
		t.Errorf("%d formats", len(report.Audits))
	}
}

func TestAuditSARIF(t *testing.T) {
	var got struct {
		Runs []struct {
			Results []struct {
				RuleID, Level string
				Locations     []map[string]any
			}
			Invocations []struct {
				ToolExecutionNotifications []struct{ Message struct{ Text string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(writeAudit(t, "sarif", auditReport)), &got); err != nil {
		t.Fatal(err)
	}
	var results []string
	for _, r := range got.Runs[0].Results {
		where := "nowhere"
		for _, location := range r.Locations {
			for key := range location {
				where = key
			}
		}
		results = append(results, r.RuleID+" "+r.Level+" "+where)
	}
	want := []string{
		"limits error logicalLocations", "limits warning physicalLocation",
		"unevaluated error physicalLocation", "unevaluated error logicalLocations", "unevaluated error logicalLocations",
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	var notifications []string
	for _, n := range got.Runs[0].Invocations[0].ToolExecutionNotifications {
		notifications = append(notifications, n.Message.Text)
	}
	if diff := cmp.Diff([]string{"Policy users was not evaluated: reads the user", "Objects were not read: secrets: forbidden"}, notifications); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
}

func TestReports(t *testing.T) {
	for format, kinds := range map[string][]string{
		"openreports": {"openreports.io/v1alpha1 ClusterReport ", "openreports.io/v1alpha1 Report shop"},
		"wgpolicy":    {"wgpolicyk8s.io/v1alpha2 ClusterPolicyReport ", "wgpolicyk8s.io/v1alpha2 PolicyReport shop"},
	} {
		objects, err := report.ReportsAPIs[format].Objects(auditReport, time.Unix(100, 5))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range objects {
			got = append(got, o.GetAPIVersion()+" "+o.GetKind()+" "+o.GetNamespace())
		}
		if diff := cmp.Diff(kinds, got); diff != "" {
			t.Errorf("%s: objects (-want +got):\n%s", format, diff)
		}
		text, err := json.Marshal(objects[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`"summary":{"error":2,"fail":2,"pass":3,"skip":0,"warn":0}`, `"policy":"limits"`, `"rule":"validations[1]"`, `"result":"fail"`, `"message":"too \u003clarge\u003e"`,
			`"timestamp":{"nanos":5,"seconds":100}`, `"resources":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"shop","uid":"u1"}]`,
			`"properties":{"binding":"everywhere","field":"spec.replicas","validationActions":"Warn,Audit"}`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %s does not contain %s", format, text, want)
			}
		}
		whole, err := json.Marshal(objects[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"summary":{"error":3,"fail":0,"pass":0,"skip":1,"warn":0}`, `"result":"skip"`, `"message":"secrets: forbidden"`} {
			if !strings.Contains(string(whole), want) {
				t.Errorf("%s: %s does not contain %s", format, whole, want)
			}
		}
		if documents := strings.Count(writeAudit(t, format, auditReport), "---\n"); documents != 2 {
			t.Errorf("%s: %d documents", format, documents)
		}
	}
	if report.ReportsAPIs["table"] != nil {
		t.Error("tables are objects of an API")
	}
}
