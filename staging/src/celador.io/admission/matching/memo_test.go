// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

// A Memo returns what Criteria.Match returns, whatever the order of criteria.
func TestMemo(t *testing.T) {
	r := ask{operation: admission.Create, resource: pods, kind: pod, namespace: "blue"}.request(t)
	var criteria []*matching.Criteria
	for _, match := range []*v1.MatchResources{{NamespaceSelector: blue}, {NamespaceSelector: notBlue}, {NamespaceSelector: invalid}, {ResourceRules: listing("/v1/pods")}} {
		criteria = append(criteria, matching.Compile(match))
	}
	var memo matching.Memo
	for _, i := range []int{0, 0, 1, 1, 0, 2, 2, 3, 3, 1, 2} {
		target, matches, err := memo.Match(criteria[i], r)
		wantTarget, want, wantErr := criteria[i].Match(r)
		if target != wantTarget || matches != want || text(err) != text(wantErr) {
			t.Errorf("criteria %d: got %v, %t, %v; want %v, %t, %v", i, target, matches, err, wantTarget, want, wantErr)
		}
	}
}
