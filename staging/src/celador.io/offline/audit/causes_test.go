// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"testing"

	"celador.io/offline/audit"
	"celador.io/offline/cluster/clustertest"
)

// The violation of a validation with a fieldPath has the field.
func TestAuditOfFieldPaths(t *testing.T) {
	policy := auditPolicy("p", "  validations: [{expression: \"int(object.data.size) < 5\", message: too large, fieldPath: .data.size}]")
	report := runAudit(t, audit.Config{Added: clustertest.Parse(t, policy)}, clustertest.Parse(t, auditObjects)...)
	if found := report.Policies[0].Violations; len(found) != 2 || found[0].Field != "data.size" || found[1].Field != "data.size" {
		t.Errorf("violations %+v", found)
	}
}
