// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/matching"
)

func TestMismatch(t *testing.T) {
	selecting := func(label string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{label: "x"}}
	}
	for want, m := range map[string]*v1.MatchResources{
		"":                                 {ResourceRules: listing("apps/v1/deployments")},
		"no resourceRules match":           {ResourceRules: listing("apps/v1/daemonsets"), NamespaceSelector: selecting("none")},
		"excludeResourceRules match":       {ExcludeResourceRules: listing("*/*/deployments"), ResourceRules: listing("apps/v1/daemonsets")},
		"namespaceSelector does not match": {NamespaceSelector: selecting("none"), ObjectSelector: selecting("none")},
		"objectSelector does not match":    {ObjectSelector: selecting("none")},
	} {
		request := asks["create deployment"].request(t)
		criteria := matching.Compile(m)
		if got := criteria.Mismatch(request); got != want {
			t.Errorf("mismatch is %q, want %q", got, want)
		}
		if _, matches, err := criteria.Match(request); err != nil || matches != (want == "") {
			t.Errorf("%q: matches: %t, error: %v", want, matches, err)
		}
	}
}
