// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/lookups"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// known is a lookups.Source with the objects that the test sets. read is called before a state is
// read. indexes are those that were opened, by text.
type known struct {
	kinds   map[schema.GroupVersionKind]*lookups.ObjectCache
	indexes map[string]lookups.Indexer
	open    int
	read    func()
}

// Open implements lookups.Source.
func (k *known) Open(kind schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	k.open++
	if objects := k.kinds[kind]; objects != nil && index != nil {
		objects.AddIndex(index)
		k.indexes[index.Text()] = index
	}
	return &opened{k, kind, index}
}

type opened struct {
	*known
	kind  schema.GroupVersionKind
	index lookups.Indexer
}

// State implements lookups.Handle.
func (o *opened) State(context.Context) (*lookups.State, error) {
	if o.read != nil {
		o.read()
	}
	if objects := o.kinds[o.kind]; objects != nil {
		return objects.State(), nil
	}
	return nil, errors.New("no such kind")
}

// Close implements lookups.Handle.
func (o *opened) Close() {
	o.open--
	if objects := o.kinds[o.kind]; objects != nil && o.index != nil {
		objects.RemoveIndex(o.index.Text())
	}
}

func ingress(namespace, name string, hosts ...string) *networkingv1.Ingress {
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"name": name}}}
	for _, host := range hosts {
		i.Spec.Rules = append(i.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	return i
}

func newKnown() *known {
	k := &known{kinds: map[schema.GroupVersionKind]*lookups.ObjectCache{}, indexes: map[string]lookups.Indexer{}}
	add := func(kind schema.GroupVersionKind, namespaced bool, objects ...runtime.Object) {
		k.kinds[kind] = lookups.NewObjectCache(namespaced, klog.Background())
		if err := k.kinds[kind].Replace(objects); err != nil {
			panic(err)
		}
	}
	add(networkingv1.SchemeGroupVersion.WithKind("Ingress"), true,
		ingress("red", "b", "b.example"), ingress("blue", "a", "a.example", "shared.example"), ingress("red", "a", "shared.example"), ingress("blue", "none"))
	add(storagev1.SchemeGroupVersion.WithKind("StorageClass"), false,
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "disk"}, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "slow"}})
	add(limits, true, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "metadata": map[string]any{"namespace": "blue", "name": "l"}, "max": int64(3)}})
	return k
}

// looking returns a policy with the lookups 'own' and 'all' of Ingresses, in the namespace of the
// request and in all, 'classes' of cluster-scoped objects, 'limits' of custom resources, and
// 'absent' of a kind that is not served.
func looking(name string, expressions ...string) *v1.ValidatingAdmissionPolicy {
	const version = "networking.k8s.io/v1"
	all, index := v1.ClusterLookupScope, "item.spec.rules.map(r, r.host)"
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
		Lookups: []v1.Lookup{
			{Name: "own", APIVersion: version, Kind: "Ingress", Index: &index},
			{Name: "all", APIVersion: version, Kind: "Ingress", Index: &index, Scope: &all},
			{Name: "first", APIVersion: version, Kind: "Ingress", Index: new("item.spec.rules[0].host"), Scope: &all},
			{Name: "wrong", APIVersion: version, Kind: "Ingress", Index: new("item.metadata"), Scope: &all},
			{Name: "classes", APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
			{Name: "misplaced", APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Scope: new(v1.NamespaceLookupScope)},
			{Name: "limits", APIVersion: "example.com/v1", Kind: "Limit"},
			{Name: "absent", APIVersion: "example.com/v1", Kind: "Nothing"},
		},
		Validations: policytest.Validations(expressions...),
	})
}

var lookupsOn = policyspec.Features{policyspec.Lookups: true}

// decide returns the text of the first decision that does not admit the request, or "".
func decide(t *testing.T, source lookups.Source, a admission.Attributes, policies ...*v1.ValidatingAdmissionPolicy) string {
	t.Helper()
	server := newServer()
	engine := validating.NewEngine(validating.Config{Features: lookupsOn, Lookups: source, Namespaces: server, Authorizer: server})
	s := engine.NewStore()
	for _, p := range policies {
		if err := s.Set(p, policytest.Binding(p.Name, p.Name)); err != nil {
			t.Fatal(err)
		}
	}
	result, err := engine.Evaluate(t.Context(), a, server, s.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Violations {
		return fmt.Sprintf("%s %s: %s", d.Policy, d.Outcome, d.Message)
	}
	return ""
}

const names = ".map(i, i.metadata.namespace + '/' + i.metadata.name)"

func TestLookups(t *testing.T) {
	celtest.CheckKept(t)
	source := newKnown()
	for expression, want := range map[string]string{
		"lookups.own.get('a').value().spec.rules[0].host == 'a.example'":                      "",
		"lookups.own.get('b') == optional.none()":                                             "",
		"lookups.all.get('red', 'b').value().spec.rules[0].host == 'b.example'":               "",
		"!lookups.all.get('red', 'c').hasValue()":                                             "",
		"lookups.own.get('blue', 'a').hasValue()":                                             "",
		"lookups.own.get('a').optMap(i, i.kind).orValue('no kind') == 'no kind'":              "no such key",
		"lookups.own.list()" + names + " == ['blue/a', 'blue/none']":                          "",
		"lookups.all.list()" + names + " == ['blue/a', 'blue/none', 'red/a', 'red/b']":        "",
		"lookups.all.list('name=a')" + names + " == ['blue/a', 'red/a']":                      "",
		"lookups.all.list('name in (a,b),name!=a')" + names + " == ['red/b']":                 "",
		"lookups.own.list('name=b').size() == 0":                                              "",
		"lookups.own.list()[1].metadata.name == 'none'":                                       "",
		"lookups.all.indexed('shared.example')" + names + " == ['blue/a', 'red/a']":           "",
		"lookups.own.indexed('shared.example')" + names + " == ['blue/a']":                    "",
		"lookups.own.indexed('b.example') == []":                                              "",
		"lookups.first.indexed('shared.example')" + names + " == ['red/a']":                   "",
		"lookups.wrong.indexed('a') == []":                                                    "",
		"lookups.classes.get('fast').value().provisioner == 'disk'":                           "",
		"lookups.classes.list().exists(c, c.metadata.name == 'slow')":                         "",
		"lookups.limits.get('l').value().max == 3":                                            "",
		"lookups.limits.list().all(l, l.kind == 'Limit')":                                     "",
		"lookups.own.get('red', 'b').hasValue()":                                              `lookup 'own' of Ingress in networking.k8s.io/v1 failed: namespace "red" is not that of the request: set scope Cluster`,
		"lookups.own.list('a=b=c').size() == 0":                                               `lookup 'own' of Ingress in networking.k8s.io/v1 failed: label selector "a=b=c"`,
		"lookups.limits.indexed('x') == []":                                                   "it has no index: set the field index",
		"lookups.misplaced.get('fast').hasValue()":                                            "StorageClass is cluster-scoped: remove scope Namespace",
		"lookups.classes.get('blue', 'fast').hasValue()":                                      "StorageClass is cluster-scoped: write get(name)",
		"lookups.absent.list().size() == 0":                                                   "lookup 'absent' of Nothing in example.com/v1 failed: no such kind",
		"lookups.nothing.list().size() == 0":                                                  "undefined field 'nothing'",
		"lookups.own.find('a')":                                                               "found no matching overload for 'find' applied to 'kubernetes.Lookup(dyn).(string)'",
		"lookups.own.get(1).hasValue()":                                                       "found no matching overload for 'get'",
		"lookups.own == lookups.all":                                                          "no such overload",
		"lookups.all.list().all(a, lookups.all.list().all(b, lookups.all.list().size() > 0))": "",
	} {
		t.Run(expression, func(t *testing.T) {
			got := decide(t, source, create(1), looking("p", expression))
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Variables, match conditions and messages read lookups, too.
func TestLookupsInOtherExpressions(t *testing.T) {
	p := looking("p", "variables.hosts == ['a.example', 'shared.example', 'shared.example', 'b.example']", "false")
	p.Spec.Variables = []v1.Variable{{Name: "hosts", Expression: "lookups.all.list().map(i, has(i.spec.rules) ? i.spec.rules.map(r, r.host) : []).flatten()"}}
	p.Spec.MatchConditions = []v1.MatchCondition{{Name: "known", Expression: "lookups.classes.get('fast').hasValue()"}}
	p.Spec.Validations[1].MessageExpression = "'known: ' + lookups.own.list().map(i, i.metadata.name).join()"
	if got := decide(t, newKnown(), create(1), p); got != "p denied: known: anone" {
		t.Errorf("got %q", got)
	}
	p.Spec.MatchConditions[0].Expression = "lookups.classes.get('none').hasValue()"
	if got := decide(t, newKnown(), create(1), p); got != "" {
		t.Errorf("with a false match condition: %q", got)
	}
}

// All policies of a request see the objects of the first read, and the next request sees the latest.
func TestLookupsSeeOneState(t *testing.T) {
	source := newKnown()
	objects := source.kinds[networkingv1.SchemeGroupVersion.WithKind("Ingress")]
	reads := 0
	source.read = func() { reads++ }
	change := policytest.Validating("p2", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("authorizer.path('/change').check('get').allowed() || true")})
	for round := range 3 {
		name := fmt.Sprintf("new-%d", round)
		absent := "!lookups.own.get('" + name + "').hasValue() && lookups.own.indexed('" + name + "').size() == 0"
		if got := decide(t, source, create(1), looking("p1", absent), change, looking("p3", absent, absent)); got != "" {
			t.Errorf("round %d: %s", round, got)
		}
		if reads != 1 {
			t.Errorf("round %d: the state was read %d times, want once", round, reads)
		}
		reads = 0
		if err := objects.Set(ingress("blue", name, name)); err != nil {
			t.Fatal(err)
		}
		if got := decide(t, source, create(1), looking("p1", "lookups.own.get('"+name+"').hasValue() && lookups.own.indexed('"+name+"').size() == 1")); got != "" {
			t.Errorf("round %d, after the change: %s", round, got)
		}
		reads = 0
	}
}

// A request waits once for a kind that cannot be read, whatever its expressions do with the error.
func TestLookupsFailOnce(t *testing.T) {
	source := newKnown()
	reads := 0
	source.read = func() { reads++ }
	const absorbed = "[1, 2, 3].all(i, lookups.absent.get('a').hasValue()) || lookups.absent.list().size() == 0 || "
	if got := decide(t, source, create(1), looking("p1", absorbed+"true"), looking("p2", absorbed+"true", absorbed+"true")); got != "" || reads != 1 {
		t.Errorf("got %q after %d reads, want no decision after one", got, reads)
	}
	reads = 0
	const want = "lookup 'absent' of Nothing in example.com/v1 failed: no such kind"
	if got := decide(t, source, create(1), looking("p1", absorbed+"true"), looking("p2", absorbed+"false")); !strings.Contains(got, want) || reads != 1 {
		t.Errorf("got %q after %d reads, want %q after one", got, reads, want)
	}
}

// An index that does not compile fails, because it hides all objects. Other functions do not need it.
func TestIndexThatDoesNotCompile(t *testing.T) {
	for expression, want := range map[string]string{
		"lookups.own.indexed('a.example') == []": "lookup 'own' of Ingress in networking.k8s.io/v1 failed: the index does not compile: compilation failed: ERROR: <input>:1:1: undeclared reference to 'object'",
		"lookups.own.get('a').hasValue()":        "",
	} {
		p := looking("p", expression)
		p.Spec.Lookups[0].Index = new("object.metadata.name")
		if got := decide(t, newKnown(), create(1), p); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// filling is a source that adds indexes when states are read for the second time. fill, if it is not
// nil, is called before.
type filling struct {
	*known
	fill func()
}

// Open implements lookups.Source.
func (f *filling) Open(kind schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	if index != nil {
		reads := 0
		f.read = func() {
			if reads++; reads == 2 {
				f.fill()
				f.kinds[kind].AddIndex(index)
			}
		}
	}
	return f.known.Open(kind, nil)
}

// An index that was not known when another policy read the kind is read if it has the same objects.
// Otherwise, it fails for the request, whose policies go on to see the objects of the first read.
func TestIndexThatIsFilledMeanwhile(t *testing.T) {
	for name, test := range map[string]struct{ present, want string }{
		"no change":        {"[1, 2].all(i, lookups.found.indexed('a').size() == 1)", ""},
		"a change":         {"[1, 2].all(i, lookups.found.indexed('a').size() == 1)", "lookup 'found' of Thing in example.com/v1 failed: the index is not known yet: it lacks the objects of the request"},
		"a change, caught": {"([1, 2].all(i, lookups.found.indexed('a').size() == 0) || lookups.all.list().size() == 1)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			source := &filling{known: sourceOf(t, []runtime.Object{thing("blue", "a")})}
			reads := 0
			source.fill = func() {
				reads++
				if name == "no change" {
					return
				}
				if err := source.kinds[things].Set(thing("blue", "b")); err != nil {
					t.Fatal(err)
				}
			}
			first := aboutThings("", "lookups.all.list().size() == 1")
			first.Name = "first"
			second := aboutThings("item.metadata.name", test.present+" && lookups.all.list().size() == 1 && !lookups.own.get('b').hasValue()")
			if got := decide(t, source, create(1), first, second); test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if reads != 1 {
				t.Errorf("the index was filled %d times", reads)
			}
		})
	}
}

// Equal expressions of policies with other lookups of the same names have other values.
func TestEqualExpressionsWithOtherLookups(t *testing.T) {
	source := newKnown()
	own, all := looking("p1", "lookups.x.list().size() == 2"), looking("p2", "lookups.x.list().size() == 2")
	own.Spec.Lookups, all.Spec.Lookups = own.Spec.Lookups[:1], all.Spec.Lookups[1:2]
	own.Spec.Lookups[0].Name, all.Spec.Lookups[0].Name = "x", "x"
	third := own.DeepCopy()
	third.Name = "p3"
	if got := decide(t, source, create(1), own, all, third); !strings.HasPrefix(got, "p2 ") {
		t.Errorf("got %q, want the decision of p2", got)
	}
}

func TestLookupsOfAnIncompleteHost(t *testing.T) {
	p := looking("p", "lookups.own.list().size() == 0")
	if got := decide(t, nil, create(1), p); !strings.Contains(got, "this host reads no other objects") {
		t.Errorf("without a source: %q", got)
	}
	p.Spec.FailurePolicy = new(v1.Ignore)
	if got := decide(t, nil, create(1), p); strings.Contains(got, "deny") {
		t.Errorf("with failurePolicy Ignore: %q", got)
	}
}

// A request without a namespace needs scope Cluster.
func TestLookupsOfRequestsWithoutNamespace(t *testing.T) {
	nodes := corev1.SchemeGroupVersion.WithResource("nodes")
	a := admission.NewAttributesRecord(nil, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", "n", nodes, "", admission.Delete, &metav1.DeleteOptions{}, false, jane)
	for expression, want := range map[string]string{
		"lookups.own.list().size() == 0":         "the request has no namespace: set scope Cluster",
		"lookups.all.get('a').hasValue()":        "the request has no namespace: write get(namespace, name)",
		"lookups.all.get('red', 'a').hasValue()": "",
		"lookups.classes.get('fast').hasValue()": "",
	} {
		if got := decide(t, newKnown(), a, looking("p", expression)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// A store opens the lookups of policies in effect, and closes them afterwards.
func TestLookupsAreOpenWhileInEffect(t *testing.T) {
	source := newKnown()
	s := validating.NewEngine(validating.Config{Features: lookupsOn, Lookups: source}).NewStore()
	p := looking("p", "true")
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"policy", func() { s.Set(p) }, 0},
		{"binding", func() { s.Set(policytest.Binding("b", "p")) }, len(p.Spec.Lookups)},
		{"another binding", func() { s.Set(policytest.Binding("c", "p")) }, len(p.Spec.Lookups)},
		{"fewer lookups", func() {
			p = p.DeepCopy()
			p.Spec.Lookups = p.Spec.Lookups[:1]
			s.Set(p)
		}, 1},
		{"one binding deleted", func() { s.DeleteBinding("b") }, 1},
		{"policy deleted", func() { s.DeletePolicy("p") }, 0},
	} {
		if step.do(); source.open != step.want {
			t.Errorf("after %s, %d lookups are open, want %d", step.name, source.open, step.want)
		}
	}
}

// Without the feature, the policy has no lookups.
func TestLookupsNeedTheFeature(t *testing.T) {
	errs := validating.NewEngine(validating.Config{}).Errors(looking("p", "lookups.own.list().size() == 0"))
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "undeclared reference to 'lookups'") {
		t.Errorf("got %v", errs)
	}
	p := looking("p", "true")
	p.Spec.Lookups[0].Index = new("object.spec")
	errs = validating.NewEngine(validating.Config{Features: lookupsOn}).Errors(p)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "spec.lookups[0].index: compilation failed: ERROR: <input>:1:1: undeclared reference to 'object'") {
		t.Errorf("got %v", errs)
	}
}
