// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// Whoever writes a spec with lookups must be allowed to list and watch what they find, whatever part
// of the spec changes, and whether the gate is on or off. alice may do so with services, not with
// secrets. The message names the lookup and the verb.
func TestAuthorsOfLookups(t *testing.T) {
	const denied = `must have "list" permission on secrets in all namespaces`
	first := func(edit func(*v1.Lookup)) change {
		return func(obj policy.APIObject) { edit(&(*fieldsOf(obj).lookups)[0]) }
	}
	services, secrets := lookup("found", "Service"), lookup("found", "Secret")
	index := first(func(l *v1.Lookup) { l.Index = new("item.metadata.name") })
	consistency := first(func(l *v1.Lookup) { l.Consistency = new(v1.LatestLookupConsistency) })
	scope := first(func(l *v1.Lookup) { l.Scope = new(v1.ClusterLookupScope) })
	kind := first(func(l *v1.Lookup) { l.Kind = "Secret" })
	for _, k := range policyKinds {
		demo := k.demo
		for name, tc := range map[string]struct {
			off          bool
			stored, sent policy.APIObject // a create if stored is nil
			field        string           // of the error, if there is one
			want         int              // lookups that are stored
		}{
			"create":                            {sent: demo(secrets), field: "spec.lookups[0]"},
			"create, off: dropped":              {off: true, sent: demo(secrets)},
			"create: the second one":            {sent: demo(services, lookup("other", "Secret")), field: "spec.lookups[1]"},
			"create: of others":                 {sent: demo(services), want: 1},
			"add":                               {stored: demo(), sent: demo(secrets), field: "spec.lookups[0]"},
			"add, off: dropped":                 {off: true, stored: demo(), sent: demo(secrets)},
			"add, off: another one is in use":   {off: true, stored: demo(services), sent: demo(services, lookup("other", "Secret")), field: "spec.lookups[1]"},
			"index":                             {stored: demo(secrets), sent: demo(secrets, index), field: "spec.lookups[0]"},
			"index, off":                        {off: true, stored: demo(secrets), sent: demo(secrets, index), field: "spec.lookups[0]"},
			"consistency":                       {stored: demo(secrets), sent: demo(secrets, consistency), field: "spec.lookups[0]"},
			"consistency, off":                  {off: true, stored: demo(secrets), sent: demo(secrets, consistency), field: "spec.lookups[0]"},
			"scope":                             {stored: demo(secrets), sent: demo(secrets, scope), field: "spec.lookups[0]"},
			"kind":                              {stored: demo(services), sent: demo(services, kind), field: "spec.lookups[0]"},
			"kind, off":                         {off: true, stored: demo(services), sent: demo(services, kind), field: "spec.lookups[0]"},
			"expression":                        {stored: demo(secrets), sent: demo(secrets, k.other), field: "spec.lookups[0]"},
			"expression, off":                   {off: true, stored: demo(secrets), sent: demo(secrets, k.other), field: "spec.lookups[0]"},
			"match constraints":                 {stored: demo(secrets), sent: demo(secrets, resources("replicasets")), field: "spec.lookups[0]"},
			"labels":                            {stored: demo(secrets), sent: demo(secrets, label), want: 1},
			"labels, off":                       {off: true, stored: demo(secrets), sent: demo(secrets, label), want: 1},
			"remove":                            {stored: demo(secrets), sent: demo()},
			"remove, off":                       {off: true, stored: demo(secrets), sent: demo()},
			"index of others, with consistency": {stored: demo(services), sent: demo(services, index, consistency), want: 1},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyLookups, !tc.off)
				err := write(k.strategy, tc.stored, tc.sent)
				if tc.field != "" {
					if err == nil || !strings.Contains(err.Error(), tc.field+": Forbidden: user \"alice\" "+denied) {
						t.Errorf("got error %v, want %s at %s", err, denied, tc.field)
					}
					return
				}
				if got := len(*fieldsOf(tc.sent).lookups); err != nil || got != tc.want {
					t.Errorf("stores %d lookups, or: %v; want %d", got, err, tc.want)
				}
			})
		}
	}
}
