// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

// converted is a request whose objects the API server has converted to apps/v1. The client has
// requested apps/v2.
type converted struct{ admission.Attributes }

func (converted) GetKind() schema.GroupVersionKind         { return deployment }
func (converted) GetResource() schema.GroupVersionResource { return deployments }
func (c converted) Original() admission.Attributes         { return c.Attributes }

// Criteria match the resource that the client requested, and those that are equivalent to it. If a
// rule lists the resource of the converted objects, policies read these.
func TestConverted(t *testing.T) {
	request := ask{operation: admission.Update, resource: deployments2, kind: deployment2, namespace: "blue", name: "web"}.attributes()
	sent, original := matching.Target{Resource: deployments, Kind: deployment}, matching.Target{Resource: deployments2, Kind: deployment2}
	for name, test := range map[string]struct {
		criteria *v1.MatchResources
		want     matching.Target // empty if the criteria do not match
		wantErr  string
	}{
		"converted":                   {equivalently(listing("apps/v1/deployments")...), sent, ""},
		"original":                    {equivalently(listing("apps/v2/deployments")...), original, ""},
		"both":                        {equivalently(listing("apps/v2/deployments", "apps/v1/deployments")...), sent, ""},
		"all":                         {equivalently(listing("*/*/*")...), sent, ""},
		"no rules":                    {&v1.MatchResources{}, sent, ""},
		"a third version":             {equivalently(listing("extensions/v1beta1/deployments")...), matching.Target{}, "unable to convert to extensions/v1beta1, Resource=deployments: unknown kind"},
		"another resource":            {equivalently(listing("apps/v1/daemonsets")...), matching.Target{}, ""},
		"exactly the converted":       {exactly(listing("apps/v1/deployments")...), matching.Target{}, ""},
		"exactly the original":        {exactly(listing("apps/v2/deployments")...), original, ""},
		"without the original":        {&v1.MatchResources{ExcludeResourceRules: listing("apps/v2/deployments")}, matching.Target{}, ""},
		"without the converted":       {&v1.MatchResources{ExcludeResourceRules: listing("apps/v1/deployments")}, matching.Target{}, ""},
		"without exactly the former":  {&v1.MatchResources{MatchPolicy: new(v1.Exact), ExcludeResourceRules: listing("apps/v2/deployments")}, matching.Target{}, ""},
		"without exactly the latter":  {&v1.MatchResources{MatchPolicy: new(v1.Exact), ExcludeResourceRules: listing("apps/v1/deployments")}, sent, ""},
		"exactly, without the latter": {&v1.MatchResources{MatchPolicy: new(v1.Exact), ResourceRules: listing("apps/v2/deployments"), ExcludeResourceRules: listing("apps/v1/deployments")}, original, ""},
	} {
		t.Run(name, func(t *testing.T) {
			criteria := matching.Compile(test.criteria)
			r := matching.NewRequest(t.Context(), converted{request}, served(), stored())
			target, matches, err := criteria.Match(r)
			if target != test.want || matches != (test.want != matching.Target{}) || text(err) != test.wantErr {
				t.Errorf("got %v, %t, %v; want %v, %q", target, matches, err, test.want, test.wantErr)
			}
			candidates := matching.NewIndex(1, func(int) *matching.Criteria { return criteria }).Candidates(r)
			if len(candidates) == 0 && (matches || err != nil) || len(candidates) > 0 && candidates[0].Certain && target != sent {
				t.Errorf("in the index it is %v", candidates)
			}
		})
	}
}
