// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
	"celador.io/admission/policytest"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// aboutThings returns a policy with the lookups 'all' and 'own' of things, and 'found' with an index
// unless that is empty.
func aboutThings(index string, expressions ...string) *v1.ValidatingAdmissionPolicy {
	version, kind := things.ToAPIVersionAndKind()
	lookups := []v1.Lookup{
		{Name: "all", APIVersion: version, Kind: kind, Scope: new(v1.ClusterLookupScope)},
		{Name: "own", APIVersion: version, Kind: kind},
		{Name: "found", APIVersion: version, Kind: kind, Scope: new(v1.ClusterLookupScope), Index: &index},
	}
	if index == "" {
		lookups = lookups[:2]
	}
	return policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Lookups: lookups, Validations: policytest.Validations(expressions...)})
}

func thing(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func sourceOf(tb testing.TB, objects []runtime.Object) *known {
	known := &known{kinds: map[schema.GroupVersionKind]*lookups.ObjectCache{things: lookups.NewObjectCache(true, klog.Background())}, indexes: map[string]lookups.Indexer{}}
	if err := known.kinds[things].Replace(objects); err != nil {
		tb.Fatal(err)
	}
	return known
}

// The cost of list() grows with the number of objects, and that of indexed() with the number of
// objects that it returns. An expression that exceeds its limit says what to call instead.
func TestLookupsOfManyObjects(t *testing.T) {
	const count = 200_000
	objects := make([]runtime.Object, count)
	for i := range objects {
		objects[i] = thing([]string{"blue", "red"}[i%2], fmt.Sprint("t", i))
	}
	source := sourceOf(t, objects)
	const exceeded = "operation cancelled: actual cost limit exceeded"
	const advice = exceeded + ": list() costs a unit for each object in the scope of the lookup: call get() or indexed()"
	for _, test := range []struct {
		index, expression string
		times             int
		want              string
	}{
		{"item.metadata.name", "lookups.all.list().size() == 200000", 1, ""},
		{"item.metadata.name", "lookups.own.list().size() == 100000", 1, ""},
		{"item.metadata.name", "lookups.all.list('a=b').size() == 0", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4].all(i, lookups.all.list().size() > i)", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.all.list().size() > i)", 1, advice},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.own.list('a!=b').size() > i)", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.all.list('a=b').size() < i)", 1, advice},
		{"item.metadata.name", "lookups.all.list().all(t, t.metadata.name != '')", 1, advice},
		{"item.metadata.name", "lookups.all.list().size() > 0", 49, ""},
		{"item.metadata.name", "lookups.all.list().size() > 0", 50, "validation failed due to running out of cost budget, no further validation rules will be run"},
		{"item.metadata.name", "lookups.found.indexed('t7').size() == 1 && lookups.own.get('t8').hasValue()", 200, ""},
		{"'one key'", "lookups.found.indexed('one key').size() == 200000", 1, ""},
		{"'one key'", "[1, 2, 3, 4, 5].all(i, lookups.found.indexed('one key').size() > i)", 1, exceeded},
	} {
		t.Run(fmt.Sprint(test.times, test.expression), func(t *testing.T) {
			expressions := make([]string, test.times)
			for i := range expressions {
				expressions[i] = test.expression
			}
			got := decide(t, source, create(1), aboutThings(test.index, expressions...))
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == exceeded && strings.Contains(got, "list()") {
				t.Errorf("got advice about list(), which the expression does not call: %q", got)
			}
		})
	}
}

// small is an object that takes little memory. It can be counted and found, but not read.
type small struct {
	*metav1.PartialObjectMetadata
	name string
}

// GetName implements metav1.Object.
func (s *small) GetName() string { return s.name }

// A list of more objects than an expression may cost fails before it is made.
func TestListOfAMillionObjects(t *testing.T) {
	shared, objects := thing("blue", ""), make([]runtime.Object, 1_000_001)
	for i := range objects {
		objects[i] = &small{shared, fmt.Sprint(i)}
	}
	source := sourceOf(t, objects)
	const want = "failed: list() would cost a unit for each of 1000001 objects, and an expression may cost 1000000: call get() or indexed()"
	for expression, want := range map[string]string{
		"lookups.all.list().size() == 0":       "lookup 'all' of Thing in example.com/v1 " + want,
		"lookups.own.list('a=b').size() == 0":  "lookup 'own' of Thing in example.com/v1 " + want,
		"lookups.own.get('999999').hasValue()": "",
	} {
		if got := decide(t, source, create(1), aboutThings("", expression)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// An index that fails for an object, or returns too much, hides that object alone. The error says
// what the index must return instead.
func TestHostileIndexes(t *testing.T) {
	large, plain := thing("blue", "large"), thing("blue", "plain")
	plain.Labels = map[string]string{"key": "x"}
	large.Labels, large.Annotations = map[string]string{}, map[string]string{"huge": strings.Repeat("k", 1<<20)}
	for i := range 1001 {
		large.Labels[fmt.Sprint(i)] = strings.Repeat("k", 100)
	}
	for index, want := range map[string]string{
		"item.metadata.labels.key": "no such key: key",
		"item.metadata.?labels.key.orValue('') == 'x' ? ['x'] : item.metadata.labels.map(k, k)":                                      "1001 keys: an index must not have more than 1000 keys for an object",
		"[item.metadata.?labels.key.orValue('') == 'x' ? 'x' : item.metadata.annotations.huge]":                                      "key 0 has 1048576 bytes: a key must not be longer than 1024 bytes",
		"item.metadata.?labels.key.orValue('') == 'x' ? ['x'] : item.metadata.labels.map(k, item.metadata.labels[k]).slice(0, 1000)": "the keys before key 656 have more than 65536 bytes: all keys of an object must not be longer",
		"item.metadata.?labels.key.orValue('') == 'x' ? dyn('x') : dyn(1)":                                                           "key 0 is of type int: an index must return a string or a list of strings",
		"item.metadata.labels.all(a, item.metadata.labels.all(b, item.metadata.labels.all(c, c != ''))) ? ['x'] : []":                "operation cancelled: actual cost limit exceeded",
	} {
		t.Run(index, func(t *testing.T) {
			source := sourceOf(t, []runtime.Object{large, plain})
			if got := decide(t, source, create(1), aboutThings(index, "lookups.found.indexed('x').map(t, t.metadata.name) == ['plain']")); got != "" {
				t.Error(got)
			}
			state := source.kinds[things].State()
			if state.Unindexed() != 1 {
				t.Errorf("%d objects have no keys, want 1", state.Unindexed())
			}
			if keys, err := source.indexes[index].Keys(large); keys != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %d keys and error %.200v, want %q", len(keys), err, want)
			}
		})
	}
}
