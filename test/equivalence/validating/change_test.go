// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

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

	"celador.io/celador/test/equivalence/harness"
)

// change is a change of the cluster and the expected outcome of request "create" afterwards.
type change struct {
	name string
	make func(t *testing.T, c *cluster)
	want []string
	// atOnce changes are followed by the request before any informer delivers the change.
	atOnce bool
}

// newer returns the object with the next generation and resourceVersion.
func newer[T metav1.Object](object T) T {
	generation++
	object.SetGeneration(generation)
	object.SetResourceVersion(fmt.Sprint(generation))
	return object
}

var generation int64 = 1

// TestChanges compares the plugins while policies, bindings, params and namespaces change.
func TestChanges(t *testing.T) {
	saying := func(message string) *v1.ValidatingAdmissionPolicy {
		return newer(policyOf(usualPolicy, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: message}}}))
	}
	limited := withParams(limitKind, mostOf, byName("a"), nil, limit("blue", "a", 5)).scenario()
	bySet := withParams(limitKind, mostOf, bySelector(labelled("set", "a")), nil, limit("blue", "a", 20)).scenario()
	unknown := withParams(unknownKind, "false", byName("a"), nil).scenario()
	moved := limit("blue", "b", 5)
	moved.SetLabels(map[string]string{"set": "b"})
	blue := harness.Namespace("blue")
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
			{name: "replaced", make: func(t *testing.T, c *cluster) { c.Store(t, saying("one")) }, want: says("denied: one")},
			{name: "replaced again", make: func(t *testing.T, c *cluster) { c.Store(t, saying("two")) }, want: says("denied: two")},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.Remove(t, saying("")) }},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.Store(t, saying("three")) }, want: says("denied: three")},
			{name: "with another kind of params", make: func(t *testing.T, c *cluster) {
				c.Store(t, newer(policyOf(usualPolicy, v1.ValidatingAdmissionPolicySpec{ParamKind: limitKind, Validations: validating("params == null")})))
			}},
		}},
		"binding": {example{spec: never}.scenario(), []change{
			{name: "warns", make: func(t *testing.T, c *cluster) {
				c.Store(t, newer(bindingOf(usualBinding, usualPolicy, v1.Warn)))
			}, want: says("warned: failed expression: false")},
			{name: "of nothing", make: func(t *testing.T, c *cluster) {
				c.Store(t, newer(bindingOf(usualBinding, "other.example.com", v1.Deny)))
			}},
			{name: "denies", make: func(t *testing.T, c *cluster) {
				c.Store(t, newer(bindingOf(usualBinding, usualPolicy, v1.Deny)))
			}, want: says(neverDenied)},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.Remove(t, bindingOf(usualBinding, usualPolicy)) }},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.Store(t, bindingOf(usualBinding, usualPolicy, v1.Deny)) }, want: says(neverDenied)},
		}},
		"params by name": {limited, []change{
			{name: "nothing", make: none, want: says(mostOfDenied)},
			{name: "more", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "a", 10)) }},
			{name: "less", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "a", 8)) }, want: says(mostOfDenied)},
			{name: "deleted", make: func(t *testing.T, c *cluster) { c.Remove(t, limit("blue", "a", 0)) }, want: says(noneFound)},
			{name: "created again", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "a", 9)) }},
		}},
		"params by selector": {bySet, []change{
			{name: "nothing", make: none},
			{name: "one more", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "b", 5)) }, want: says(mostOfDenied)},
			{name: "other labels", make: func(t *testing.T, c *cluster) { c.Store(t, moved) }},
			{name: "the other deleted", make: func(t *testing.T, c *cluster) { c.Remove(t, limit("blue", "a", 0)) }, want: says(noneFound)},
		}},
		"kind of params": {unknown, []change{
			{name: "unknown", make: none, want: says("denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Unknown'")},
			{name: "served", make: func(t *testing.T, c *cluster) {
				c.Serve(append(slices.Clone(harness.ParamKinds), harness.ParamType{Resource: harness.ParamKinds[2].Resource, Kind: "Unknown", Namespaced: true})...)
			}, want: says(noneFound)},
			{name: "param", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "a", 5)) }, want: says(neverDenied)},
		}},
		"params of a moment ago": {withParams(configMapKind, most, byName("a"), nil).scenario(), []change{
			{name: "nothing", make: none, want: says(noneFound)},
			{name: "created", make: func(t *testing.T, c *cluster) { c.Store(t, configMap("blue", "a", "5")) }, want: says(mostDenied), atOnce: true},
		}},
		"custom params of a moment ago": {withParams(limitKind, mostOf, byName("a"), nil).scenario(), []change{
			{name: "nothing", make: none, want: says(noneFound)},
			{name: "created", make: func(t *testing.T, c *cluster) { c.Store(t, limit("blue", "a", 5)) }, want: says(mostOfDenied), atOnce: true},
		}},
		"params that cannot be listed": {withParams(limitKind, mostOf, byName("a"), nil, limit("blue", "a", 5)).scenario(), []change{
			{name: "nothing", make: none, want: says(mostOfDenied)},
			{name: "since the policy is there", make: func(t *testing.T, c *cluster) {
				c.Remove(t, bindingOf(usualBinding, usualPolicy))
				c.Settle()
				c.Dynamic.PrependReactor("list", "limits", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no list") })
				c.Store(t, using(usualBinding, byName("a"), v1.Deny))
			}, want: says("denied: failed to configure binding: paramKind kind `&ParamKind{APIVersion:rules.example.com/v1,Kind:Limit,}` not yet synced to use for admission")},
		}},
		"namespace": {example{spec: byNamespace}.scenario(), []change{
			{name: "nothing", make: none, want: says(neverDenied)},
			{name: "other labels", make: func(t *testing.T, c *cluster) { c.Store(t, blue) }},
			{name: "as before", make: func(t *testing.T, c *cluster) { c.Store(t, harness.Namespace("blue")) }, want: says(neverDenied)},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, test.scenario)
				for _, change := range test.changes {
					change.make(t, c)
					if !change.atOnce {
						c.Settle()
					}
					got := c.compare(t, fixed, false)
					if got.Unexplained != nil {
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

// vanish stops serving kinds of params, as the deletion of their definitions does.
func (c *cluster) vanish(t *testing.T, params ...harness.ParamType) {
	t.Helper()
	c.Serve(slices.DeleteFunc(slices.Clone(harness.ParamKinds), func(s harness.ParamType) bool { return slices.Contains(params, s) })...)
	// A fake watch does not end, so plugins notice when they verify their kinds.
	time.Sleep(15 * time.Second)
	c.Settle()
}
