// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typechecks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/policytest"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/typechecks"
)

// partlyRemote are types of which another server serves those of group remote.example.com.
type partlyRemote struct{ types }

// RESTMapping implements typecheck.Types.
func (p partlyRemote) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if kind.Group == "remote.example.com" {
		return nil, errors.New("another server serves the types")
	}
	return p.types.RESTMapping(kind, versions...)
}

// A lookup with consistency Latest has a warning if its kind is served, and cannot have it.
func TestLatest(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Widget", "Gadget"} {
		mapper.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}, meta.RESTScopeNamespace)
	}
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(apiVersion, kind string, consistency *v1.LookupConsistency) v1.Lookup {
		return v1.Lookup{Name: "found", APIVersion: apiVersion, Kind: kind, Consistency: consistency}
	}
	latest := new(v1.LatestLookupConsistency)
	lookups := []v1.Lookup{
		lookup("example.com/v1", "Widget", latest),
		lookup("example.com/v1", "Gadget", nil),
		lookup("example.com/v1", "Gadget", new(v1.CachedLookupConsistency)),
		lookup("example.com/v1", "Gadget", latest),
		lookup("example.com/v1", "Unserved", latest),
		lookup("remote.example.com/v1", "Widget", latest),
		lookup("a/b/c", "Widget", latest),
	}
	validating := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Lookups: lookups})
	mutating := policytest.MutatingSpec("p", v1.MutatingAdmissionPolicySpec{Lookups: lookups})
	warner := typechecks.New(checker)
	warner.Use(func() typecheck.Types { return partlyRemote{types{mapper}} })
	if warnings := append(warner.Validating(t.Context(), validating), warner.Mutating(t.Context(), mutating)...); len(warnings) > 0 {
		t.Errorf("while nothing is known: %q", warnings)
	}
	warner.UseLatest(func(_ context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) bool {
		if resource.Resource != map[string]string{"example.com Widget": "widgets", "example.com Gadget": "gadgets"}[kind.Group+" "+kind.Kind] {
			t.Errorf("asked about %v with resource %v", kind, resource)
		}
		return kind.Kind == "Widget" && !resource.Empty()
	})
	want := []string{
		"spec.lookups[3].consistency: expressions that read the lookup fail, because this server cannot tell how new its objects of kind Gadget in example.com/v1 are: remove consistency Latest",
		"spec.lookups[5].consistency: expressions that read the lookup fail, because this server cannot tell how new its objects of kind Widget in remote.example.com/v1 are: remove consistency Latest",
	}
	if diff := cmp.Diff(want, warner.Validating(t.Context(), validating)); diff != "" {
		t.Errorf("validating (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, warner.Mutating(t.Context(), mutating)); diff != "" {
		t.Errorf("mutating (-want +got):\n%s", diff)
	}
}
