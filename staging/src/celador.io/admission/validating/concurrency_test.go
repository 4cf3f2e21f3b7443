// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/params"
	"celador.io/admission/policyspec"
)

// versions counts the versions of a changing object.
type versions struct{ started, done atomic.Int64 }

// next calls set with the next version.
func (v *versions) next(set func(version int64)) {
	version := v.started.Add(1)
	set(version)
	v.done.Store(version)
}

// paramVersions is a params.Source with two params, which always have the same version.
type paramVersions struct {
	kind
	current atomic.Pointer[[]*unstructured.Unstructured]
}

func (p *paramVersions) set(version int64) {
	p.current.Store(&[]*unstructured.Unstructured{limit("blue", "one", version, "gold"), limit("blue", "two", version, "gold")})
}

func (p *paramVersions) Open(schema.GroupVersionKind) params.Handle { return p }

func (p *paramVersions) Close() {}

func (p *paramVersions) Lister(context.Context) (params.Lister, error) { return p, nil }

func (p *paramVersions) List(string, labels.Selector) ([]*unstructured.Unstructured, error) {
	return *p.current.Load(), nil
}

// TestUpdatesWhileRequestsRun changes policies, bindings, params and verdicts while requests run.
// Each request is subject to a single version of each, which was in effect at some time during the
// request: two validations of a policy have the same version, and so have two params.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	celtest.CheckKept(t)
	const updates, requests = 60, 60
	source := &paramVersions{kind: kind{namespaced: true}}
	store := storeWith(policyspec.Features{policyspec.TypeEnforcement: true}, source)
	var policy, param, binding, verdict versions
	writes := []func(){
		func() {
			policy.next(func(version int64) {
				text := strconv.FormatInt(version, 10)
				store.Set(policytest.Validating("policy", v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
					{Expression: "object.spec.replicas < 0", Message: text},
					{Expression: "false", MessageExpression: "string(object.spec.replicas * 0 + " + text + ")"},
				}}))
			})
		},
		func() { param.next(source.set) },
		func() {
			// The binding is deleted in odd versions.
			binding.next(func(version int64) {
				if version%2 == 1 {
					store.DeleteBinding("toggled")
				} else {
					store.Set(policytest.Binding("toggled", "bound"))
				}
			})
		},
		func() {
			verdict.next(func(version int64) {
				store.SetVerdict("checked", "uid", 1, errors.New(strconv.FormatInt(version, 10)))
			})
		},
	}
	checked := denyingWith("checked", "unchecked")
	checked.UID, checked.Generation, checked.Spec.TypeChecking = "uid", 1, new(v1.EnforcedTypeChecking)
	withParams := policytest.Binding("params", "params")
	withParams.Spec.ParamRef = selected("blue", "gold")
	for _, write := range writes {
		write()
	}
	store.Set(checked)
	store.Set(denyingWith("bound", "bound"))
	store.Set(policytest.Validating("params", v1.ValidatingAdmissionPolicySpec{
		ParamKind:   paramKindOf(limits),
		Validations: []v1.Validation{{Expression: "params.max < 0", MessageExpression: "string(params.max)"}},
	}))
	for _, b := range []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("policy", "policy"), policytest.Binding("checked", "checked"), withParams} {
		store.Set(b)
	}

	request := func() {
		// A request reads at least the last version that was set before it began, and at most the
		// last version whose update began before the request ended.
		oldest := map[string]int64{"policy": policy.done.Load(), "params": param.done.Load(), "checked": verdict.done.Load()}
		toggled := binding.done.Load()
		decisions := evaluate(t, newServer(), create(1), store.Snapshot()).Decisions()
		newest := map[string]int64{"policy": policy.started.Load(), "params": param.started.Load(), "checked": verdict.started.Load()}
		messages := map[string][]string{}
		for _, d := range decisions {
			messages[d.Policy] = append(messages[d.Policy], strings.TrimPrefix(d.Message, "failed to configure policy: "))
		}
		for name, count := range map[string]int{"policy": 2, "params": 2, "checked": 1} {
			said := messages[name]
			if len(said) != count || said[0] != said[count-1] {
				t.Errorf("policy %s says %q, want %d times the same", name, said, count)
				continue
			}
			got, err := strconv.ParseInt(said[0], 10, 64)
			if err != nil || got < oldest[name] || got > newest[name] {
				t.Errorf("%s is of version %q, want %d to %d", name, said[0], oldest[name], newest[name])
			}
		}
		// The version of the binding is known only if no update began during the request.
		if bound := fmt.Sprint(messages["bound"]); binding.started.Load() == toggled && (bound == "[bound]") != (toggled%2 == 0) {
			t.Errorf("the binding has version %d, its policy says %s", toggled, bound)
		}
	}
	var all sync.WaitGroup
	for _, write := range writes {
		all.Go(func() {
			for range updates {
				write()
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for range requests {
				request()
			}
		})
	}
	all.Wait()
	request()
}

// Policies are compiled while requests read the variables of others.
func TestVariablesConcurrently(t *testing.T) {
	celtest.CheckKept(t)
	telling := func(name, text string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			Variables:   []v1.Variable{{Name: "text", Expression: "'" + text + "'"}, {Name: name, Expression: "variables.text + ' '"}},
			Validations: []v1.Validation{{Expression: "!has(variables." + name + ")", MessageExpression: "variables." + name + " + variables.text"}},
		})
	}
	s := store()
	var writers sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("p", i)
		s.Set(policytest.Binding(name, name))
		writers.Go(func() {
			for n := range 20 {
				text := fmt.Sprint(n)
				s.Set(telling(name, text))
				if want, got := name+"/"+name+": "+text+" "+text, denials(t, s.Snapshot()); !slices.Contains(got, want) {
					t.Errorf("in effect: %q, want %q", got, want)
				}
			}
		})
	}
	writers.Wait()
}
