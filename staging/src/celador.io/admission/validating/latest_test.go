// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"slices"
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
	// revisions are those that Latest got, and reads counts how often one was read.
	revisions []uint64
	reads     uint64
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
	revision, err := revisions.Of("etcd", func() (uint64, error) {
		l.reads++
		return 10 * l.reads, l.err
	})
	l.revisions = append(l.revisions, revision)
	return l.latest.State(), err
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
	if !slices.Equal(source.revisions, []uint64{10, 10}) {
		t.Errorf("called with revisions %v, want the same for both kinds", source.revisions)
	}
	// The failure of a read counts for all kinds of the request, and not for the next one.
	source.err = errors.New("etcd does not answer")
	const both = "lookups.latest.get('new').hasValue() && lookups.classes.list().size() == 1 || lookups.classes.list().size() == 2"
	const want = "lookup 'latest' of Ingress in networking.k8s.io/v1 failed: etcd does not answer"
	if message := decide(t, source, create(1), policy("late", both), policy("late, too", both)); !strings.Contains(message, want) {
		t.Errorf("got %q, want %q", message, want)
	}
	if len(source.revisions) != 4 || source.reads != 2 {
		t.Errorf("called %d times after %d reads of the revision, want 4 times after 2", len(source.revisions), source.reads)
	}
	source.err = nil
	if message := decide(t, source, create(1), policy("again", all)); message != "" {
		t.Errorf("the next request: %s", message)
	}
}
