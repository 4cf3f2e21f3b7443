// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestQueueForEstablishing(t *testing.T) {
	for name, test := range map[string]struct {
		accepted, established bool
		masters               int
		want                  []time.Duration
	}{
		"names not accepted":  {masters: 1},
		"one API server":      {accepted: true, masters: 1, want: []time.Duration{0}},
		"three API servers":   {accepted: true, masters: 3, want: []time.Duration{5 * time.Second}},
		"already established": {accepted: true, established: true, masters: 1},
	} {
		t.Run(name, func(t *testing.T) {
			crd := widgets()
			for condition, met := range map[apiextensionsv1.CustomResourceDefinitionConditionType]bool{
				apiextensionsv1.NamesAccepted: test.accepted, apiextensionsv1.Established: test.established,
			} {
				if !met {
					apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{Type: condition, Status: apiextensionsv1.ConditionFalse})
				}
			}
			var got []time.Duration
			queueForEstablishing(func(name string, delay time.Duration) {
				if name != crd.Name {
					t.Errorf("queued %s", name)
				}
				got = append(got, delay)
			}, test.masters).OnUpdate(crd, crd)
			if len(got) != len(test.want) || len(got) == 1 && got[0] != test.want[0] {
				t.Errorf("got delays %v, want %v", got, test.want)
			}
		})
	}
}
