// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// change is something that happens in a cluster, and what becomes of "create" then.
type change struct {
	name string
	make func(t *testing.T, c *cluster)
	want []string
	// atOnce has the request come in before any informer hears of the change.
	atOnce bool
}

// newer returns an object as the API has it after another write.
func newer[T metav1.Object](object T) T {
	generation++
	object.SetGeneration(generation)
	object.SetResourceVersion(fmt.Sprint(generation))
	return object
}

var generation int64 = 1

// Both plugins follow what changes.
func TestChanges(t *testing.T) {
	saying := func(message string) *v1.ValidatingAdmissionPolicy {
		return newer(policyOf(usualPolicy, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: message}}}))
	}
	limited := withParams(limitKind, mostOf, byName("a"), nil, limit("blue", "a", 5)).scenario()
	bySet := withParams(limitKind, mostOf, bySelector(labelled("set", "a")), nil, limit("blue", "a", 20)).scenario()
	unknown := withParams(unknownKind, "false", byName("a"), nil).scenario()
	moved := limit("blue", "b", 5)
	moved.SetLabels(map[string]string{"set": "b"})
	blue := space("blue")
	blue.SetLabels(map[string]string{"name": "green"})
	byNamespace := never
	byNamespace.MatchConstraints = everything()
	byNamespace.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"name": "blue"}}
	none := func(*testing.T, *cluster) {}
	for name, test := range map[string]struct {
		scenario scenario
		changes  []change
	}{
		"policy": {example{spec: never}.scenario(), []change{
			{name: "nothing", make: none, want: says(neverDenied)},
			{name: "replaced", make: func(t *testing.T, c *cluster) { c.setPolicy(t, saying("one")) }, want: says("denied: one")},
			{name: "replaced again", make: func(t *testing.T, c *cluster) { c.setPolicy(t, saying("two")) }, want: says("denied: two")},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.removePolicy(t, usualPolicy) }},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.setPolicy(t, saying("three")) }, want: says("denied: three")},
			{name: "with another kind of params", make: func(t *testing.T, c *cluster) {
				c.setPolicy(t, newer(policyOf(usualPolicy, v1.ValidatingAdmissionPolicySpec{ParamKind: limitKind, Validations: validating("params == null")})))
			}},
		}},
		"binding": {example{spec: never}.scenario(), []change{
			{name: "warns", make: func(t *testing.T, c *cluster) {
				c.setBinding(t, newer(bindingOf(usualBinding, usualPolicy, v1.Warn)))
			}, want: says("warned: failed expression: false")},
			{name: "of nothing", make: func(t *testing.T, c *cluster) {
				c.setBinding(t, newer(bindingOf(usualBinding, "other.example.com", v1.Deny)))
			}},
			{name: "denies", make: func(t *testing.T, c *cluster) {
				c.setBinding(t, newer(bindingOf(usualBinding, usualPolicy, v1.Deny)))
			}, want: says(neverDenied)},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.removeBinding(t, usualBinding) }},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.setBinding(t, bindingOf(usualBinding, usualPolicy, v1.Deny)) }, want: says(neverDenied)},
		}},
		"params by name": {limited, []change{
			{name: "nothing", make: none, want: says(mostOfDenied)},
			{name: "more", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "a", 10)) }},
			{name: "less", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "a", 8)) }, want: says(mostOfDenied)},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.removeParam(t, limit("blue", "a", 0)) }, want: says(noneFound)},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "a", 9)) }},
		}},
		"params by selector": {bySet, []change{
			{name: "nothing", make: none},
			{name: "one more", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "b", 5)) }, want: says(mostOfDenied)},
			{name: "other labels", make: func(t *testing.T, c *cluster) { c.setParam(t, moved) }},
			{name: "the other deleted", make: func(t *testing.T, c *cluster) { c.removeParam(t, limit("blue", "a", 0)) }, want: says(noneFound)},
		}},
		"kind of params": {unknown, []change{
			{name: "unknown", make: none, want: says("denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Unheard'")},
			{name: "served", make: func(t *testing.T, c *cluster) {
				c.serve(append(slices.Clone(paramKinds), served{paramKinds[2].resource, "Unheard", true})...)
			}, want: says(noneFound)},
			{name: "param", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "a", 5)) }, want: says(neverDenied)},
		}},
		"params of a moment ago": {withParams(configMapKind, most, byName("a"), nil).scenario(), []change{
			{name: "nothing", make: none, want: says(noneFound)},
			{name: "created", make: func(t *testing.T, c *cluster) { c.setParam(t, configMap("blue", "a", "5")) }, want: says(mostDenied), atOnce: true},
		}},
		"custom params of a moment ago": {withParams(limitKind, mostOf, byName("a"), nil).scenario(), []change{
			{name: "nothing", make: none, want: says(noneFound)},
			{name: "created", make: func(t *testing.T, c *cluster) { c.setParam(t, limit("blue", "a", 5)) }, want: says(mostOfDenied), atOnce: true},
		}},
		"params that cannot be listed": {withParams(limitKind, mostOf, byName("a"), nil, limit("blue", "a", 5)).scenario(), []change{
			{name: "nothing", make: none, want: says(mostOfDenied)},
			{name: "since the policy is there", make: func(t *testing.T, c *cluster) {
				c.removeBinding(t, usualBinding)
				c.settle()
				c.dynamic.PrependReactor("list", "limits", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no list") })
				c.setBinding(t, using(usualBinding, byName("a"), v1.Deny))
			}, want: says("denied: failed to configure binding: paramKind kind `&ParamKind{APIVersion:rules.example.com/v1,Kind:Limit,}` not yet synced to use for admission")},
		}},
		"namespace": {example{spec: byNamespace}.scenario(), []change{
			{name: "nothing", make: none, want: says(neverDenied)},
			{name: "other labels", make: func(t *testing.T, c *cluster) { c.setParam(t, blue) }},
			{name: "as before", make: func(t *testing.T, c *cluster) { c.setParam(t, space("blue")) }, want: says(neverDenied)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, test.scenario)
				for _, change := range test.changes {
					change.make(t, c)
					if !change.atOnce {
						c.settle()
					}
					got := c.compare(t, fixed, false)
					if got.unexplained != nil {
						t.Errorf("%s: %s", change.name, got)
					}
					if diff := cmp.Diff(change.want, got.celador["create"].brief()); diff != "" {
						t.Errorf("%s (-want +got):\n%s", change.name, diff)
					}
				}
			})
		})
	}
}

// vanish has a kind of params that is in use no longer be served, and all else that
// happens when its definition is deleted.
func (c *cluster) vanish(t *testing.T, params ...served) {
	t.Helper()
	c.serve(slices.DeleteFunc(slices.Clone(paramKinds), func(s served) bool { return slices.Contains(params, s) })...)
	// Nothing tells a fake watch, so it takes until kinds are verified.
	time.Sleep(15 * time.Second)
	c.settle()
}
