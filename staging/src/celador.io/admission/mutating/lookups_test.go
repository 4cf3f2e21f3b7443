// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
	"celador.io/admission/mutating"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

// A lookedUp is a source with one config map, whose data have the current version. As an
// authorizer, it sets the next version, so that the config map changes between the mutations of a
// request.
type lookedUp struct {
	*lookups.ObjectCache
	current atomic.Int64
	lock    sync.Mutex
}

// Open implements lookups.Source.
func (l *lookedUp) Open(_ schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	l.AddIndex(index)
	return opened{l}
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (l *lookedUp) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	version := l.current.Add(1)
	c := configMap("version", strconv.FormatInt(version, 10))
	return authorizer.DecisionAllow, "", l.Set(c)
}

type opened struct{ *lookedUp }

// State implements lookups.Handle.
func (o opened) State(context.Context) (*lookups.State, error) { return o.ObjectCache.State(), nil }

// Close implements lookups.Handle.
func (opened) Close() {}

// All mutations of a request see one version of an object, and that is not older than the request,
// while the object changes between the mutations and in other requests.
func TestMutationsSeeOneVersion(t *testing.T) {
	source := &lookedUp{ObjectCache: lookups.NewObjectCache(true, klog.Background())}
	if err := source.Replace(nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := source.Authorize(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	features := policyspec.Features{policyspec.InlineExpressions: true, policyspec.Lookups: true}
	s := create(features, configMap())
	s.engine = mutating.NewEngine(mutating.Config{
		Config:     policy.Config{Namespaces: namespaces{}, Features: features, Lookups: source, Authorizer: source},
		PluginName: "MutatingAdmissionPolicy", TypeConverters: converters{applyconfigurations.NewTypeConverter(scheme.Scheme)},
	})
	store := s.engine.NewStore()
	for i, version := range []string{
		"lookups.maps.get('subject').value().data.version",
		"lookups.maps.list()[0].data.version",
		"lookups.maps.indexed('subject')[0].data.version",
		"variables.version",
	} {
		set := fmt.Sprintf("authorizer.path('/%%d').check('get').allowed() ? JSONPatch{op: 'add', path: '/data/%%s', value: %s} : null", version)
		p := policytest.MutatingSpec(fmt.Sprint("p", i), v1.MutatingAdmissionPolicySpec{
			Lookups:            []v1.Lookup{{Name: "maps", APIVersion: "v1", Kind: "ConfigMap", Index: new("item.metadata.name")}},
			Variables:          []v1.Variable{{Name: "version", Expression: "lookups.maps.list()[0].data.version"}},
			ReinvocationPolicy: v1.NeverReinvocationPolicy,
			Mutations:          []v1.Mutation{inline(fmt.Sprintf(set, 2*i, fmt.Sprint("a", i))), inline(fmt.Sprintf(set, 2*i+1, fmt.Sprint("b", i)))},
		})
		if err := store.Set(p, policytest.MutatingBinding(p.Name, p.Name)); err != nil {
			t.Fatal(err)
		}
	}
	s.snapshot = store.Snapshot()
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			for range 50 {
				request := create(features, configMap("own", "0"))
				request.engine, request.snapshot = s.engine, s.snapshot
				oldest := source.current.Load()
				if _, err := request.mutate(t); err != nil {
					t.Error(err)
					return
				}
				newest := source.current.Load()
				data := request.data()
				delete(data, "own")
				seen, _ := strconv.ParseInt(data["a0"], 10, 64)
				if len(data) != 8 || seen < oldest || seen >= newest {
					t.Errorf("mutations saw %v, want versions from %d to %d", data, oldest, newest-1)
				}
				for key, version := range data {
					if version != data["a0"] {
						t.Errorf("%s has version %s, and a0 has %s", key, version, data["a0"])
					}
				}
			}
		})
	}
	requests.Wait()
}
