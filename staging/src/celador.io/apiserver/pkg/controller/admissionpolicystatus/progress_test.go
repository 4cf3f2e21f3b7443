// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "celador.io/api/admissionregistration/v1"
)

const (
	onWidgets = `
matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]}
validations: [{expression: object.spec.size < 5}]
`
	withLimits = `
matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
paramKind: {apiVersion: example.com/v1, kind: Widget}
validations: [{expression: object.spec.replicas < params.spec.size}]
`
)

// recorded returns a status with the given observed generation and custom resources.
func recorded(generation, resources string) string {
	return `
observedGeneration: ` + generation + `
typeChecking: {}
conditions:
- {type: Available, status: "True", reason: Other, message: by another server, observedGeneration: ` + generation + `, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: TypeChecked, status: "True", reason: Other, message: by another server, observedGeneration: ` + generation + `, lastTransitionTime: "2026-01-01T00:00:00Z"}
observedCustomResources: [` + resources + `]
`
}

// A status is written if the policy or a custom resource is newer than recorded, and none is older.
func TestForwardProgress(t *testing.T) {
	widget := func(state string) string { return "{group: example.com, version: v1, kind: Widget, " + state + "}" }
	const integer = "{size: {type: integer}}"
	a3, a4 := widgets(t, "a", 3, integer), widgets(t, "a", 4, integer)
	b1 := widgets(t, "b", 1, integer)
	pending := b1.DeepCopy()
	pending.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	pending.ResourceVersion = "b0"
	type definitions []*apiextensionsv1.CustomResourceDefinition
	none := definitions{}

	const stock = "{observedGeneration: 2, typeChecking: {}}"
	for name, tc := range map[string]struct {
		spec, status string
		cached       definitions
		stored       definitions // cached, if nil
		want         string      // the custom resources in the written status
		written      bool
	}{
		"no status":                               {spec: onWidgets, status: "{}", cached: definitions{a3}, written: true, want: widget("generation: 3, uid: a")},
		"older generation":                        {spec: onWidgets, status: recorded("1", widget("generation: 3, uid: a")), cached: definitions{a3}, written: true, want: widget("generation: 3, uid: a")},
		"newer generation":                        {spec: onWidgets, status: recorded("3", widget("generation: 2, uid: a")), cached: definitions{a3}},
		"newer generation in conditions":          {spec: onWidgets, status: strings.Replace(recorded("3", ""), "observedGeneration: 3", "observedGeneration: 2", 1), cached: definitions{a3}},
		"status of Kubernetes' controller":        {spec: onWidgets, status: stock, cached: definitions{a3}, written: true, want: widget("generation: 3, uid: a")},
		"same states":                             {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")), cached: definitions{a3}},
		"definition is newer":                     {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")), cached: definitions{a4}, written: true, want: widget("generation: 4, uid: a")},
		"definition is older":                     {spec: onWidgets, status: recorded("2", widget("generation: 4, uid: a")), cached: definitions{a3}, stored: definitions{a4}},
		"definition is older, policy newer":       {spec: onWidgets, status: recorded("1", widget("generation: 4, uid: a")), cached: definitions{a3}, stored: definitions{a4}},
		"definition appears":                      {spec: onWidgets, status: recorded("2", ""), cached: definitions{b1}, written: true, want: widget("generation: 1, uid: b")},
		"definition appeared, and is gone":        {spec: onWidgets, status: recorded("2", ""), cached: definitions{b1}, stored: none},
		"definition goes":                         {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")), cached: none, written: true},
		"definition is not cached yet":            {spec: onWidgets, status: recorded("2", widget("generation: 1, uid: b")), cached: none, stored: definitions{b1}},
		"definition is another":                   {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")), cached: definitions{b1}, written: true, want: widget("generation: 1, uid: b")},
		"definition is another, cached is older":  {spec: onWidgets, status: recorded("2", widget("generation: 1, uid: b")), cached: definitions{a3}, stored: definitions{b1}},
		"definition is another, cached is newer":  {spec: onWidgets, status: recorded("2", widget("generation: 9, uid: a")), cached: definitions{b1}, written: true, want: widget("generation: 1, uid: b")},
		"definition is not in use yet":            {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")), cached: definitions{pending}, written: true},
		"definition is not in use in the cache":   {spec: onWidgets, status: recorded("2", widget("generation: 1, uid: b")), cached: definitions{pending}, stored: definitions{b1}},
		"params: no status":                       {spec: withLimits, status: "{}", cached: none, written: true, want: widget("generation: 0")},
		"params: same states":                     {spec: withLimits, status: recorded("2", widget("generation: 3, uid: a")), cached: definitions{a3}},
		"params: still missing":                   {spec: withLimits, status: recorded("2", widget("generation: 0")), cached: none},
		"params: appear":                          {spec: withLimits, status: recorded("2", widget("generation: 0")), cached: definitions{b1}, written: true, want: widget("generation: 1, uid: b")},
		"params: appeared, and are gone":          {spec: withLimits, status: recorded("2", widget("generation: 0")), cached: definitions{b1}, stored: none},
		"params: go":                              {spec: withLimits, status: recorded("2", widget("generation: 3, uid: a")), cached: none, written: true, want: widget("generation: 0")},
		"params: are not cached yet":              {spec: withLimits, status: recorded("2", widget("generation: 1, uid: b")), cached: none, stored: definitions{b1}},
		"params: not recorded by another version": {spec: withLimits, status: recorded("2", ""), cached: definitions{a3}, written: true, want: widget("generation: 3, uid: a")},
		"another version looks up more":           {spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")+", {group: x.io, version: v1, kind: X, generation: 0}"), cached: definitions{a3}},
		"another version looked up more, definition is newer": {
			spec: onWidgets, status: recorded("2", widget("generation: 3, uid: a")+", {group: x.io, version: v1, kind: X, generation: 0}"), cached: definitions{a4},
			written: true, want: widget("generation: 4, uid: a") + ", {group: x.io, version: v1, kind: X, generation: 0}",
		},
		"older generation looked up more": {
			spec: onWidgets, status: recorded("1", widget("generation: 3, uid: a")+", {group: x.io, version: v1, kind: X, generation: 0}"), cached: definitions{a3},
			written: true, want: widget("generation: 3, uid: a"),
		},
	} {
		check := func(t *testing.T, p runtime.Object) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, p, tc.cached...)
				if tc.stored != nil {
					c.store(t, tc.stored...)
				}
				c.run(t)
				if verdicts := c.verdicts.all(); len(verdicts) != 1 {
					t.Errorf("got verdicts %q, want one", verdicts)
				}
				sent := c.patches(t)
				if !tc.written {
					if len(sent) > 0 {
						t.Fatalf("the status is overwritten: %+v", sent)
					}
					return
				}
				if len(sent) != 1 {
					t.Fatalf("got %d writes, want one", len(sent))
				}
				want := policy(t, tc.spec, recorded("2", tc.want)).Status.ObservedCustomResources
				if diff := cmp.Diff(want, sent[0].Status.ObservedCustomResources, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("custom resources (-want +got):\n%s", diff)
				}
				if got := sent[0].Metadata; got.ResourceVersion != "7" || got.UID != "p-uid" || got.Name != "p" {
					t.Errorf("got preconditions %+v, want those of the policy that was checked", got)
				}
			})
		}
		p := policy(t, tc.spec, tc.status)
		t.Run(name, func(t *testing.T) { check(t, p) })
		t.Run(name+", mutating", func(t *testing.T) { check(t, mutatingLike(p)) })
	}
}

// A server that has seen the deletion of a definition replaces a status based on it without reading
// from storage.
func TestSeenDeletion(t *testing.T) {
	const status = "{group: example.com, version: v1, kind: Widget, generation: 3, uid: a}"
	for name, spec := range map[string]string{"matched": onWidgets, "parameters": withLimits} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, spec, recorded("2", status)), widgets(t, "a", 3, "{size: {type: integer}}"))
				c.run(t)
				if err := c.definitions.ApiextensionsV1().CustomResourceDefinitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				c.settle()
				if sent := c.patches(t); len(sent) != 1 {
					t.Errorf("got writes %+v, want one", sent)
				}
				if asked := c.stored.Actions(); len(asked) > 0 {
					t.Errorf("the store is asked: %v", asked)
				}
			})
		})
	}
}

// A server of Kubernetes on the same etcd may change the spec without the generation. The changed
// spec is checked, and its findings are written although they are worse.
func TestSpecChangesWithoutGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const types = "matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}\n"
		c := newCluster(t, policy(t, types+"validations: [{expression: object.spec.replicas < 5}]", "{}"))
		c.record(t)
		c.run(t)
		c.policies.ClearActions()
		c.expectVerdicts(t, "ValidatingAdmissionPolicy p p-uid 2: <nil>")

		stored, err := c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "p", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		changed := policy(t, types+"validations: [{expression: object.spec.replicas < '5'}]", "{}")
		changed.Status, changed.ResourceVersion = stored.Status, "8"
		// The tracker does not record the update among the actions of the controller.
		if err := c.policies.Tracker().Update(v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"), changed, ""); err != nil {
			t.Fatal(err)
		}
		c.settle()
		if c.verdicts.lock.Lock(); len(c.verdicts.calls) != 1 || !strings.Contains(c.verdicts.calls[0], "p-uid 2: spec.validations[0].expression") {
			t.Errorf("got verdicts %q, want one with the type error", c.verdicts.calls)
		}
		c.verdicts.lock.Unlock()
		sent := c.patches(t)
		if len(sent) != 1 || len(sent[0].Status.TypeChecking.ExpressionWarnings) != 1 {
			t.Errorf("wrote %+v, want one status with a warning", sent)
		}
	})
}
