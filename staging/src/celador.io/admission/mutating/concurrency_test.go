// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/mutating"
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
	paramList
	current atomic.Pointer[[]*unstructured.Unstructured]
}

func (p *paramVersions) set(version int64) {
	var list []*unstructured.Unstructured
	for _, name := range []string{"one", "two"} {
		param := &unstructured.Unstructured{Object: map[string]any{"version": strconv.FormatInt(version, 10)}}
		param.SetName(name)
		list = append(list, param)
	}
	p.current.Store(&list)
}

func (p *paramVersions) Open(schema.GroupVersionKind) params.Handle { return p }

func (p *paramVersions) Lister(context.Context) (params.Lister, error) { return p, nil }

func (p *paramVersions) List(string, labels.Selector) ([]*unstructured.Unstructured, error) {
	return *p.current.Load(), nil
}

// TestUpdatesWhileRequestsRun changes policies, bindings, params and verdicts while requests run.
// Each request is subject to a single version of each, which was in effect at some time during the
// request: two mutations of a policy have the same version, and so have two params.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	celtest.CheckKept(t)
	const updates, requests = 60, 60
	features := maps.Clone(on)
	features[policyspec.TypeEnforcement] = true
	source := &paramVersions{}
	store := mutating.NewEngine(mutating.Config{Config: policy.Config{Features: features, Params: source}}).NewStore()
	bind := func(name, policy string, ref *v1.ParamRef) {
		store.Set(&v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy, ParamRef: ref}})
	}

	var policy, param, binding, verdict versions
	writes := []func(){
		func() {
			policy.next(func(version int64) {
				text := fmt.Sprintf("'%d'", version)
				store.Set(policytest.Mutating("policy", policytest.SetData("x", text), policytest.SetData("y", text)))
			})
		},
		func() { param.next(source.set) },
		func() {
			// The binding is deleted in odd versions.
			binding.next(func(version int64) {
				if version%2 == 1 {
					store.DeleteBinding("toggled")
				} else {
					bind("toggled", "bound", nil)
				}
			})
		},
		func() {
			verdict.next(func(version int64) {
				store.SetVerdict("checked", "uid", 1, errors.New(strconv.FormatInt(version, 10)))
			})
		},
	}
	bound, checked := policytest.Mutating("bound", policytest.SetData("bound", "'yes'")), policytest.Mutating("checked", policytest.SetData("checked", "'yes'"))
	checked.UID, checked.Generation, checked.Spec.TypeChecking = "uid", 1, new(v1.EnforcedTypeChecking)
	withParams := policytest.Mutating("params", policytest.JSONPatch(`[JSONPatch{op: "add", path: "/data/" + params.metadata.name, value: params.version}]`))
	withParams.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
	for _, write := range writes {
		write()
	}
	for _, p := range []*v1.MutatingAdmissionPolicy{bound, checked, withParams} {
		store.Set(p)
	}
	bind("policy", "policy", nil)
	bind("checked", "checked", nil)
	bind("params", "params", &v1.ParamRef{Selector: &metav1.LabelSelector{}})

	request := func() {
		// A request reads at least the last version that was set before it began, and at most the
		// last version whose update began before the request ended.
		oldest := [...]int64{policy.done.Load(), param.done.Load(), verdict.done.Load()}
		toggled := binding.done.Load()
		s := create(features, configMap("a", "1"))
		s.snapshot = store.Snapshot()
		result, err := s.mutate(t)
		if err != nil || len(result.Failures) != 1 {
			t.Errorf("got %v, failures %v, want one failure", err, result.Failures)
			return
		}
		newest := [...]int64{policy.started.Load(), param.started.Load(), verdict.started.Load()}
		data := s.data()
		if data["x"] != data["y"] || data["one"] != data["two"] {
			t.Errorf("the request saw several versions: %v", data)
		}
		var failed string
		if _, err := fmt.Sscanf(result.Failures[0].Message, "failed to configure policy: %s", &failed); err != nil {
			t.Errorf("got failure %v", result.Failures[0])
		}
		for i, text := range []string{data["x"], data["one"], failed} {
			got, err := strconv.ParseInt(text, 10, 64)
			if err != nil || got < oldest[i] || got > newest[i] {
				t.Errorf("state %d is of version %q, want %d to %d", i, text, oldest[i], newest[i])
			}
		}
		// The version of the binding is known only if no update began during the request.
		if binding.started.Load() == toggled && (data["bound"] == "yes") != (toggled%2 == 0) {
			t.Errorf("the binding has version %d, the request saw %q", toggled, data["bound"])
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
