// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/audit"
	"celador.io/offline/cluster/clustertest"
)

func TestAuditOfLookups(t *testing.T) {
	const (
		lookups = "  lookups: [{name: secrets, apiVersion: v1, kind: Secret, scope: Cluster}]\n" +
			"  validations: [{expression: \"lookups.secrets.get('shop', object.metadata.name).hasValue()\", message: no secret}]"
		secrets = `
apiVersion: v1
kind: Secret
metadata: {name: good, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {generateName: ba, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: mistyped, namespace: shop}
dta: {}
---
apiVersion: v1
kind: Pod
metadata: {name: other}
dta: {}`
		undecoded = `mistyped: policies cannot look up the object: strict decoding error: unknown field "dta"`
	)
	unlisted := map[schema.GroupVersionKind]error{corev1.SchemeGroupVersion.WithKind("Secret"): errors.New("secrets: forbidden")}
	for _, test := range []struct {
		name, policies, objects string
		unlisted                map[schema.GroupVersionKind]error
		want                    []string
		errors                  int
	}{
		{
			"objects", auditPolicy("p", lookups), auditObjects, nil,
			[]string{"p/: 1 passed, 2 violated, 0 failed, 2 findings", "denied bad[0]: no secret", "denied without[0]: no secret", undecoded}, 1,
		},
		{
			"an object without a name", auditPolicy("p", lookups), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: baxxxxx}", nil,
			[]string{"p/: 1 passed, 0 violated, 0 failed, 0 findings", undecoded}, 1,
		},
		{
			"an object of the policies' files", auditPolicy("p", lookups) + "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: mistyped, namespace: shop}",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mistyped}", nil,
			[]string{"p/: 1 passed, 0 violated, 0 failed, 0 findings"}, 0,
		},
		{
			"a kind that cannot be listed", auditPolicy("p", lookups) + "\n---\n" + auditPolicy("q", lookups) + "\n---\n" + auditPolicy("r", "  validations: [{expression: \"true\"}]"),
			auditObjects, unlisted,
			[]string{"p: spec.lookups[0]: secrets: forbidden", "q: spec.lookups[0]: secrets: forbidden", "r/: 3 passed, 0 violated, 0 failed, 0 findings"}, 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := audit.Config{Added: clustertest.Parse(t, test.policies), Unlisted: test.unlisted}
			for _, object := range clustertest.Parse(t, secrets) {
				config.LookedUp = append(config.LookedUp, audit.Object{Unstructured: object})
			}
			report := runAudit(t, config, clustertest.Parse(t, test.objects)...)
			if diff := cmp.Diff(test.want, lines(report)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if report.Errors() != test.errors {
				t.Errorf("%d errors, want %d", report.Errors(), test.errors)
			}
		})
	}
}
