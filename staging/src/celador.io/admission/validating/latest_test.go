// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
	"celador.io/admission/policytest"
)

// lagging is a lookups.Source of Ingresses whose cached states lack the latest objects.
type lagging struct {
	latest *lookups.ObjectCache
	err    error
	// revisions are those with which Latest was called.
	revisions []lookups.Revisions
}

// Open implements lookups.Source.
func (l *lagging) Open(_ schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	if index != nil {
		l.latest.AddIndex(index)
	}
	return l
}

// State implements lookups.Handle.
func (l *lagging) State(context.Context) (*lookups.State, error) {
	cached := lookups.NewObjectCache(true, klog.Background())
	if err := cached.Replace(nil); err != nil {
		return nil, err
	}
	return cached.State(), nil
}

// Latest implements lookups.LatestHandle.
func (l *lagging) Latest(_ context.Context, revisions lookups.Revisions) (*lookups.State, error) {
	l.revisions = append(l.revisions, revisions)
	revisions["etcd"] = uint64(len(l.revisions))
	return l.latest.State(), l.err
}

// Close implements lookups.Handle.
func (l *lagging) Close() {}

// Latest lookups do not read the state of cached ones, and the reverse, even in one request. All
// latest lookups of a request share the revisions.
func TestLatest(t *testing.T) {
	source := &lagging{latest: lookups.NewObjectCache(true, klog.Background())}
	if err := source.latest.Replace([]runtime.Object{ingress("blue", "new", "a.example")}); err != nil {
		t.Fatal(err)
	}
	lookup := func(name, kind string, consistency *v1.LookupConsistency) v1.Lookup {
		return v1.Lookup{Name: name, APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: kind, Index: new("item.spec.rules.map(r, r.host)"), Consistency: consistency}
	}
	policy := func(name, expression string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			Lookups: []v1.Lookup{
				lookup("implicit", "Ingress", nil), lookup("cached", "Ingress", new(v1.CachedLookupConsistency)),
				lookup("latest", "Ingress", new(v1.LatestLookupConsistency)), lookup("classes", "IngressClass", new(v1.LatestLookupConsistency)),
			},
			Validations: policytest.Validations(expression),
		})
	}
	const all = "lookups.implicit.list() == [] && !lookups.cached.get('new').hasValue() && lookups.latest.get('new').hasValue() && " +
		"lookups.latest.indexed('a.example').size() == 1 && lookups.classes.list().size() == 1"
	if message := decide(t, source, create(1), policy("first", all), policy("second", all)); message != "" {
		t.Error(message)
	}
	if len(source.revisions) != 2 || len(source.revisions[1]) != 1 || source.revisions[0]["etcd"] != 2 {
		t.Errorf("called with revisions %v, want the same for both kinds", source.revisions)
	}
	source.err = errors.New("the watch cache is late")
	const want = "lookup 'latest' of Ingress in networking.k8s.io/v1 failed: the watch cache is late"
	if message := decide(t, source, create(1), policy("late", all)); !strings.Contains(message, want) {
		t.Errorf("got %q, want %q", message, want)
	}
}
