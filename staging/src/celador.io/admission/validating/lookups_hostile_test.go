// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
	"celador.io/admission/policytest"
)

var things = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// aboutThings returns a policy with the lookups 'all' and 'own' of things, and 'found' with an index
// unless that is empty. The variable 'all' is a list of all things, and 'lookup' the lookup.
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
	return policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
		Lookups: lookups, Variables: []v1.Variable{{Name: "all", Expression: "lookups.all.list()"}, {Name: "lookup", Expression: "lookups.all"}}, Validations: policytest.Validations(expressions...),
	})
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

const exceeded = "operation cancelled: actual cost limit exceeded"

// overList and overIndexed are the errors of expressions whose calls have cost too much.
func overList(cost int) string {
	return fmt.Sprintf("%s: list() has cost %d, a unit for each object in the scope of the lookup and value of the selector: call get() or indexed()", exceeded, cost)
}

func overIndexed(cost int) string {
	return fmt.Sprintf("%s: indexed() has cost %d, a unit for each object that it returns: let the index return keys that fewer objects have", exceeded, cost)
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
	for _, test := range []struct {
		index, expression string
		times             int
		want              string
	}{
		{"item.metadata.name", "lookups.all.list().size() == 200000", 1, ""},
		{"item.metadata.name", "lookups.own.list().size() == 100000", 1, ""},
		{"item.metadata.name", "lookups.all.list('a=b').size() == 0", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4].all(i, lookups.all.list().size() > i)", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.all.list().size() > i)", 1, overList(1_000_000)},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.own.list('a!=b').size() > i)", 1, ""},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, lookups.all.list('a=b').size() < i)", 1, overList(1_000_000)},
		{"item.metadata.name", "lookups.all.list().all(t, t.metadata.name != '')", 1, overList(200_000)},
		{"item.metadata.name", "variables.all.all(t, t.metadata.name != '')", 1, exceeded},
		{"item.metadata.name", "[1, 2, 3, 4].all(i, lookups.own.list().size() > lookups.all.list('a=b').size()) && variables.all.size() > 0", 1, overList(1_000_000)},
		{"item.metadata.name", "[1, 2, 3, 4, 5].all(i, variables.lookup.list().size() > i)", 1, overList(1_000_000)},
		{"item.metadata.name", "lookups.all.list().size() > 0", 49, ""},
		{"item.metadata.name", "lookups.all.list().size() > 0", 50, "validation failed due to running out of cost budget, no further validation rules will be run"},
		{"item.metadata.name", "lookups.found.indexed('t7').size() == 1 && lookups.own.get('t8').hasValue()", 200, ""},
		{"'one key'", "lookups.found.indexed('one key').size() == 200000", 1, ""},
		{"'one key'", "[1, 2, 3, 4, 5].all(i, lookups.found.indexed('one key').size() > i)", 1, overIndexed(1_000_000)},
		{"'one key'", "[1, 2, 3, 4, 5].all(i, lookups.found.indexed('one key').size() > i || lookups.own.list().size() > 0)", 1, overIndexed(1_000_000)},
		{"'one key'", "[1, 2, 3, 4, 5].all(i, lookups.found.indexed('one key').size() > lookups.own.list().size())", 1,
			strings.Replace(overList(300_000)+overIndexed(800_000), "()"+exceeded+":", "();", 1)},
	} {
		t.Run(fmt.Sprint(test.times, test.expression), func(t *testing.T) {
			expressions := make([]string, test.times)
			for i := range expressions {
				expressions[i] = test.expression
			}
			got := decide(t, source, create(1), aboutThings(test.index, expressions...))
			if test.want == "" && got != "" || !strings.HasSuffix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
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

// An expression that exceeds its cost limit by itself, or because of a variable, does not blame its
// calls.
func TestExpressionsThatCostMuchWithoutTheirLookups(t *testing.T) {
	source := sourceOf(t, []runtime.Object{thing("blue", "a")})
	const costly = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
	for _, call := range []string{"lookups.all.list()", "lookups.found.indexed('a')", "variables.all"} {
		expression := call + ".size() == 1"
		for i := range 6 {
			expression = fmt.Sprintf("%s.all(v%d, %s)", costly, i, expression)
		}
		if got := decide(t, source, create(1), aboutThings("item.metadata.name", expression)); !strings.HasSuffix(got, exceeded) {
			t.Errorf("%s: got %q, want %q", call, got, exceeded)
		}
	}
}

// oneKey is the index "'one key'", which is not evaluated.
type oneKey struct{}

// Text implements lookups.Index.
func (oneKey) Text() string { return "'one key'" }

// Keys implements lookups.Index.
func (oneKey) Keys(runtime.Object) ([]string, error) { return []string{"one key"}, nil }

// A call that would return more objects than an expression may cost ends the evaluation before the
// list is made, whatever the expression does with the error.
func TestListsOfAMillionObjects(t *testing.T) {
	const count = 1_000_001
	shared, objects := thing("blue", ""), make([]runtime.Object, count)
	for i := range objects {
		objects[i] = &small{shared, fmt.Sprint(i)}
	}
	source := sourceOf(t, objects)
	source.kinds[things].AddIndex(oneKey{})
	allocated := func() uint64 {
		var stats goruntime.MemStats
		goruntime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	for _, test := range []struct{ expression, want string }{
		{"lookups.all.list().size() == 0", overList(count)},
		{"lookups.own.list('a=b').size() == 0", overList(count)},
		{"[1, 2, 3].all(i, lookups.own.list('a=b').size() == 0 || true)", overList(count)},
		{"lookups.found.indexed('one key').size() == 0", overIndexed(count)},
		{"[1, 2, 3].all(i, lookups.found.indexed('one key').size() == 0 || true)", overIndexed(count)},
		{"lookups.own.get('999999').hasValue() && lookups.found.indexed('another key').size() == 0", ""},
	} {
		policy, before := aboutThings("'one key'", test.expression), allocated()
		if got := decide(t, source, create(1), policy); test.want == "" && got != "" || !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.expression, got, test.want)
		}
		if n := allocated() - before; n > 8*count {
			t.Errorf("%s has allocated %d bytes", test.expression, n)
		}
	}
}

// A selector may come from the request: its length, and each comparison of an object with one of its
// values, are charged before the objects are listed, and errors do not repeat it.
func TestHostileSelectors(t *testing.T) {
	const count = 1000
	objects := make([]runtime.Object, count)
	for i := range objects {
		objects[i] = thing("blue", fmt.Sprint("t", i))
	}
	source := sourceOf(t, objects)
	annotated := func(selector string) admission.Attributes {
		object := deploy(1)
		object.Annotations = map[string]string{"s": selector}
		return admission.NewAttributesRecord(object, nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{}, false, jane)
	}
	values := make([]string, 1001)
	for i := range values {
		values[i] = fmt.Sprintf("v%04d", i)
	}
	for name, test := range map[string]struct {
		selector, expression string
		want                 string
	}{
		"requirements":      {strings.Repeat("!a,", 999) + "!a", "lookups.all.list(object.metadata.annotations.s).size() == 1000", overList(count*1000 + 299)},
		"few requirements":  {strings.Repeat("!a,", 899) + "!a", "lookups.all.list(object.metadata.annotations.s).size() == 1000", ""},
		"values of one":     {"a in (" + strings.Join(values, ",") + ")", "lookups.all.list(object.metadata.annotations.s).size() == 0", overList(count*1001 + 601)},
		"absorbed":          {strings.Repeat("!a,", 1999) + "!a", "[1, 2].exists(i, i == 2 || lookups.all.list(object.metadata.annotations.s).size() == i)", overList(count*2000 + 599)},
		"invalid, length":   {strings.Repeat("(", 1<<20), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].exists(i, i == 10 || lookups.all.list(object.metadata.annotations.s).size() == i)", exceeded + ": list() has cost "},
		"invalid, no error": {strings.Repeat("(", 1<<20), "[0, 1].exists(i, i == 1 || lookups.all.list(object.metadata.annotations.s).size() == i)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(t, source, annotated(test.selector), aboutThings("", test.expression))
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %.500q, want %q", got, test.want)
			}
		})
	}
	for _, selector := range []string{"((", strings.Repeat("(", 1<<20), "a in (" + strings.Repeat("b", 1<<20) + ")"} {
		if got := decide(t, source, annotated(selector), aboutThings("", "lookups.all.list(object.metadata.annotations.s).size() == 0")); !strings.Contains(got, "label selector \""+selector[:2]) || len(got) > 1024 {
			t.Errorf("%d bytes: %.200q", len(got), got)
		}
	}
}

// An index that fails for an object, or returns too much, hides that object alone. The error says
// what the index must return instead.
func TestHostileIndexes(t *testing.T) {
	large, plain := thing("blue", "large"), thing("blue", "plain")
	plain.Labels = map[string]string{"key": "x"}
	large.Labels, large.Annotations = map[string]string{}, map[string]string{"huge": strings.Repeat("k", 1<<20), "many": strings.Repeat("k,", 9999)}
	for i := range 1001 {
		large.Labels[fmt.Sprint(i)] = strings.Repeat("k", 100)
	}
	for index, want := range map[string]string{
		"item.metadata.labels.key": "no such key: key",
		"item.metadata.?labels.key.orValue('') == 'x' ? ['x'] : item.metadata.labels.map(k, k)":                                      "1001 keys: an index must not have more than 1000 keys for an object",
		"item.metadata.?labels.key.orValue('') == 'x' ? ['x'] : item.metadata.annotations.many.split(',')":                           "10000 keys: an index must not have more than 1000 keys for an object",
		"[item.metadata.?labels.key.orValue('') == 'x' ? 'x' : item.metadata.annotations.huge]":                                      "key 0 has 1048576 bytes: a key must not be longer than 1024 bytes",
		"item.metadata.?labels.key.orValue('') == 'x' ? ['x'] : item.metadata.labels.map(k, item.metadata.labels[k]).slice(0, 1000)": "the keys before key 656 have more than 65536 bytes: all keys of an object must not be longer",
		"item.metadata.?labels.key.orValue('') == 'x' ? dyn('x') : dyn(1)":                                                           "key 0 is of type int: an index must return a string or a list of strings",
		"[item.metadata.?labels.key.orValue('') == 'x' ? dyn('x') : null]":                                                           "key 0 is of type null_type: an index must return a string or a list of strings",
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
