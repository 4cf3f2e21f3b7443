// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/audit"
	"celador.io/offline/cluster/clustertest"
)

// Policies read the time of the audit, the same for all objects.
func TestAuditOfRequestTime(t *testing.T) {
	objects := clustertest.Parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}")
	run := func(expression string) *audit.Report {
		t.Helper()
		policies := auditPolicy("p", "  validations: [{expression: "+expression+", messageExpression: string(request.time)}]")
		return runAudit(t, audit.Config{Added: clustertest.Parse(t, policies)}, []*unstructured.Unstructured{objects[0], objects[1]}...)
	}
	before := time.Now()
	if diff := cmp.Diff([]string{"p/: 2 passed, 0 violated, 0 failed, 0 findings"}, lines(run("request.time >= timestamp('"+before.UTC().Add(-time.Second).Format(time.RFC3339)+"')"))); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	report := run("request.time == timestamp(0)")
	var times []string
	for _, p := range report.Policies {
		for _, v := range p.Violations {
			times = append(times, v.Message)
		}
	}
	if len(times) != 2 || times[0] != times[1] {
		t.Errorf("the times are %q, want one for both objects", times)
	}
}
