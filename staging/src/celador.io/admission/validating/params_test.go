// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"celador.io/admission/params"
	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

// objects is a params.Source with fixed objects. It counts the open params.Kinds of each kind.
type objects struct {
	kinds map[schema.GroupVersionKind]*kind
	open  map[schema.GroupVersionKind]int
}

type kind struct {
	source     *objects
	gvk        schema.GroupVersionKind
	namespaced bool
	unsynced   bool
	broken     error
	items      []*unstructured.Unstructured
}

func (o *objects) Open(gvk schema.GroupVersionKind) params.Handle {
	o.open[gvk]++
	if k, ok := o.kinds[gvk]; ok {
		return k
	}
	return &kind{source: o, gvk: gvk}
}

func (k *kind) Lister(context.Context) (params.Lister, error) {
	if _, ok := k.source.kinds[k.gvk]; !ok {
		return nil, errors.New("no such kind")
	}
	return k, nil
}

func (k *kind) Close() {
	if k.source.open[k.gvk]--; k.source.open[k.gvk] == 0 {
		delete(k.source.open, k.gvk)
	}
}

func (k *kind) Namespaced() bool { return k.namespaced }

func (k *kind) Synced() <-chan struct{} {
	synced := make(chan struct{})
	if !k.unsynced {
		close(synced)
	}
	return synced
}

func (k *kind) Get(_ context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	if k.broken != nil {
		return nil, k.broken
	}
	for _, item := range k.items {
		if item.GetNamespace() == namespace && item.GetName() == name {
			return item, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "params"}, name)
}

func (k *kind) List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, item := range k.items {
		if item.GetNamespace() == namespace && selector.Matches(labels.Set(item.GetLabels())) {
			found = append(found, item)
		}
	}
	return found, k.broken
}

var (
	limits      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"}
	allLimits   = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "ClusterLimit"}
	unknown     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Unknown"}
	slow        = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Slow"}
	failingKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Broken"}
)

func limit(namespace, name string, max int64, tier string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "max": max}}
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetLabels(map[string]string{"tier": tier})
	return u
}

func newObjects() *objects {
	o := &objects{open: map[schema.GroupVersionKind]int{}, kinds: map[schema.GroupVersionKind]*kind{
		limits: {namespaced: true, items: []*unstructured.Unstructured{
			limit("blue", "high", 7, "gold"), limit("blue", "low", 3, "gold"), limit("blue", "zero", 0, "tin"), limit("red", "low", 2, "gold"),
		}},
		allLimits:   {items: []*unstructured.Unstructured{limit("", "all", 4, "gold")}},
		slow:        {namespaced: true, unsynced: true},
		failingKind: {namespaced: true, broken: errors.New("storage is down")},
	}}
	for gvk, k := range o.kinds {
		k.source, k.gvk = o, gvk
	}
	return o
}

func paramKindOf(gvk schema.GroupVersionKind) *v1.ParamKind {
	return &v1.ParamKind{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}
}

func named(namespace, name string) *v1.ParamRef {
	return &v1.ParamRef{Namespace: namespace, Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
}

func selected(namespace, tier string) *v1.ParamRef {
	selector := &metav1.LabelSelector{}
	if tier != "" {
		selector.MatchLabels = map[string]string{"tier": tier}
	}
	return &v1.ParamRef{Namespace: namespace, Selector: selector, ParameterNotFoundAction: new(v1.DenyAction)}
}

func allowing(ref *v1.ParamRef) *v1.ParamRef {
	ref.ParameterNotFoundAction = new(v1.AllowAction)
	return ref
}

func withParams(b *v1.ValidatingAdmissionPolicyBinding, ref *v1.ParamRef) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.ParamRef = ref
	return b
}

// limiting returns a policy that denies a deployment with more replicas than a param allows. The
// message names the param.
func limiting(kind schema.GroupVersionKind) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(kind), Validations: []v1.Validation{{
		Expression:        "params != null && object.spec.replicas <= params.max",
		MessageExpression: "params == null ? 'no params' : params.kind + ' ' + params.metadata.name + ': ' + string(params.max)",
	}}})
}

// messages returns the decisions that are not Admitted, in the form "binding: message".
func messages(decisions []validating.Decision) []string {
	var result []string
	for _, d := range decisions {
		if d.Outcome != validating.Admitted {
			result = append(result, strings.TrimPrefix(d.Binding+": ", ": ")+d.Message)
		}
	}
	return result
}

func TestParams(t *testing.T) {
	const misconfigured = "b: failed to configure binding: "
	both := named("", "high")
	both.Selector = &metav1.LabelSelector{}
	odd := selected("", "")
	odd.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}
	node := admission.NewAttributesRecord(&corev1.Node{}, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", "n", nodes, "", admission.Create, nil, false, jane)
	for name, test := range map[string]struct {
		kind     schema.GroupVersionKind
		ref      *v1.ParamRef
		request  admission.Attributes
		want     []string
		admitted int
	}{
		"by name":                         {kind: limits, ref: named("", "low"), want: []string{"b: Limit low: 3"}},
		"by name, satisfied":              {kind: limits, ref: named("", "high"), admitted: 1},
		"by name, elsewhere":              {kind: limits, ref: named("red", "low"), want: []string{"b: Limit low: 2"}},
		"by name, not found":              {kind: limits, ref: named("", "none"), want: []string{misconfigured + "no params found for policy binding with `Deny` parameterNotFoundAction"}},
		"by name, not found, allowed":     {kind: limits, ref: allowing(named("", "none"))},
		"by name, no action":              {kind: limits, ref: &v1.ParamRef{Name: "none"}},
		"all must be satisfied":           {kind: limits, ref: selected("", "gold"), want: []string{"b: Limit low: 3"}, admitted: 1},
		"all are reported":                {kind: limits, ref: selected("", ""), want: []string{"b: Limit low: 3", "b: Limit zero: 0"}, admitted: 1},
		"by selector, elsewhere":          {kind: limits, ref: selected("red", "gold"), want: []string{"b: Limit low: 2"}},
		"by selector, not found":          {kind: limits, ref: selected("", "lead"), want: []string{misconfigured + "no params found for policy binding with `Deny` parameterNotFoundAction"}},
		"by selector, not found, allowed": {kind: limits, ref: allowing(selected("", "lead"))},
		"by wrong selector":               {kind: limits, ref: odd, want: []string{misconfigured + `"Resembles" is not a valid label selector operator`}},
		"by nothing":                      {kind: limits, ref: &v1.ParamRef{}, want: []string{misconfigured + "one of name or selector must be provided"}},
		"by both":                         {kind: limits, ref: both, want: []string{misconfigured + "paramRef.name and paramRef.selector are mutually exclusive"}},
		"cluster-scoped":                  {kind: allLimits, ref: named("", "all"), want: []string{"b: Limit all: 4"}},
		"cluster-scoped, by selector":     {kind: allLimits, ref: selected("", ""), want: []string{"b: Limit all: 4"}},
		"cluster-scoped, in a namespace":  {kind: allLimits, ref: named("blue", "all"), want: []string{misconfigured + "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"}},
		"of no namespace":                 {kind: limits, ref: named("", "low"), request: node, want: []string{misconfigured + "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"}},
		"without reference":               {kind: limits, want: []string{"b: no params"}},
		"unknown kind":                    {kind: unknown, ref: named("", "low"), want: []string{"failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Unknown'"}},
		"unknown kind, no reference":      {kind: unknown, want: []string{"failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Unknown'"}},
		"unsynced kind":                   {kind: slow, ref: named("", "low"), want: []string{misconfigured + "paramKind kind `&ParamKind{APIVersion:example.com/v1,Kind:Slow,}` not yet synced to use for admission"}},
		"unsynced kind, no reference":     {kind: slow, want: []string{"b: no params"}},
		"broken, by name":                 {kind: failingKind, ref: named("", "low"), want: []string{misconfigured + "storage is down"}},
		"broken, by selector":             {kind: failingKind, ref: selected("", ""), want: []string{misconfigured + "storage is down"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if test.request == nil {
					test.request = create(5)
				}
				s := storeWith(policyspec.Features{}, newObjects(), limiting(test.kind), withParams(policytest.Binding("b", "p"), test.ref))
				decisions := evaluate(t, newServer(), test.request, s.Snapshot()).Decisions()
				got := messages(decisions)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("messages differ (-want +got):\n%s", diff)
				}
				if n := len(decisions) - len(got); n != test.admitted {
					t.Errorf("%d params are satisfied, want %d", n, test.admitted)
				}
			})
		})
	}
}

// A policy without a paramKind ignores the paramRef of its bindings.
func TestParamRefWithoutKind(t *testing.T) {
	s := storeWith(policyspec.Features{}, newObjects(), denyingWith("p", "no"), withParams(policytest.Binding("b", "p"), named("", "none")))
	if got, want := denials(t, s.Snapshot()), []string{"p/b: no"}; !slices.Equal(got, want) {
		t.Errorf("in effect: %q, want %q", got, want)
	}
}

// Without a params.Source, policies with a paramKind fail.
func TestParamsWithoutSource(t *testing.T) {
	snapshot := fixed(t, validating.Config{}, limiting(limits), policytest.Binding("b", "p"))
	want := []string{"failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"}
	if got := messages(evaluate(t, newServer(), create(5), snapshot).Decisions()); !slices.Equal(got, want) {
		t.Errorf("messages are %q, want %q", got, want)
	}
}

// An audit annotation that reads params has the values for all params.
func TestAnnotationsOfParams(t *testing.T) {
	p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(limits), AuditAnnotations: []v1.AuditAnnotation{
		{Key: "max", ValueExpression: "string(params.max)"}, {Key: "tier", ValueExpression: "string(params.metadata.labels.tier)"},
	}})
	s := storeWith(policyspec.Features{}, newObjects(), p, withParams(policytest.Binding("a", "p"), selected("", "gold")), withParams(policytest.Binding("b", "p"), named("red", "low")))
	want := []policy.Annotation{{Key: "p/max", Value: "7, 3, 2"}, {Key: "p/tier", Value: "gold"}}
	if diff := cmp.Diff(want, evaluate(t, newServer(), create(5), s.Snapshot()).Annotations); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
}

// storeWithTwoSelectors returns a store in which the policy p has a binding for all params and one
// for those of the tier gold.
func storeWithTwoSelectors(p *v1.ValidatingAdmissionPolicy) *validating.Store {
	return storeWith(policyspec.Features{}, newObjects(), p, withParams(policytest.Binding("a", "p"), selected("", "")), withParams(policytest.Binding("b", "p"), selected("", "gold")))
}

// The decision of a policy is reported for each param, whether or not its expressions read it. The
// request asks the authorizer each question once.
func TestEvaluationsByParam(t *testing.T) {
	for expression, checks := range map[string]int{
		"authorizer.path('/a').check('write').allowed()":                                           1,
		"authorizer.path('/' + string(params.max)).check('write').allowed()":                       3,
		"authorizer.path('/' + string(has(params.max) ? params.max : 0)).check('write').allowed()": 3,
		"object == null || authorizer.path('/params').check('write').allowed() // no param":        1,
	} {
		p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(limits), Validations: policytest.Validations(expression)})
		s := storeWithTwoSelectors(p)
		server := newServer()
		if got, want := bindingNames(evaluate(t, server, create(5), s.Snapshot()).Decisions()), []string{"a", "a", "a", "b", "b"}; !slices.Equal(got, want) {
			t.Errorf("%s: decisions through %q, want %q", expression, got, want)
		}
		if server.checks != checks {
			t.Errorf("%s: %d checks, want %d", expression, server.checks, checks)
		}
	}
}

// A policy is evaluated once for bindings that follow one another without a param, or with the
// same.
func TestEvaluationsOfBindings(t *testing.T) {
	for name, test := range map[string]struct {
		params [3]*v1.ParamRef
		want   int
	}{
		"no params":       {want: 1},
		"the same param":  {[3]*v1.ParamRef{named("", "low"), named("", "low"), named("", "low")}, 1},
		"another param":   {[3]*v1.ParamRef{named("", "low"), named("", "low"), named("", "high")}, 2},
		"none in between": {[3]*v1.ParamRef{named("", "low"), nil, named("", "low")}, 3},
	} {
		p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
			ParamKind: paramKindOf(limits), Validations: policytest.Validations("true"),
			MatchConditions: []v1.MatchCondition{{Name: "never", Expression: "object == null"}},
		})
		s := storeWith(policyspec.Features{}, newObjects(), p)
		for i, ref := range test.params {
			s.Set(withParams(policytest.Binding(fmt.Sprint("b", i), "p"), ref))
		}
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(5), ktesting.BufferLogs(true)))
		server := newServer()
		result, err := validating.NewEngine(validating.Config{Namespaces: server}).Evaluate(klog.NewContext(t.Context(), logger), create(5), server, s.Snapshot())
		if err != nil || len(result.Conditions) != 3 {
			t.Errorf("%s: error %v, %d reports, want one for each binding", name, err, len(result.Conditions))
		}
		// Each evaluation logs that the condition is false.
		if got := len(logger.GetSink().(ktesting.Underlier).GetBuffer().Data()); got != test.want {
			t.Errorf("%s: %d evaluations, want %d", name, got, test.want)
		}
	}
}

// Params with equal fields in what validations read have their own messages, in each binding.
func TestMessagesOfEqualParams(t *testing.T) {
	p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
		ParamKind:   paramKindOf(limits),
		Variables:   []v1.Variable{{Name: "name", Expression: "params.metadata.name"}},
		Validations: []v1.Validation{{Expression: "params.metadata.labels.tier != 'gold'", MessageExpression: "variables.name + ' ' + string(params.max)"}},
	})
	s := storeWithTwoSelectors(p)
	decisions := evaluate(t, newServer(), create(5), s.Snapshot()).Decisions()
	want := []string{"a: high 7", "a: low 3", "b: high 7", "b: low 3"}
	if got := messages(decisions); !slices.Equal(got, want) || len(decisions) != 5 {
		t.Errorf("messages of %d decisions are %q, want %q of 5", len(decisions), got, want)
	}
}

// A param without the field that a policy reads fails the evaluation as the field's absence
// requires, next to params that have it.
func TestAbsentParts(t *testing.T) {
	without := func(name string, object map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: object}
		u.SetNamespace("blue")
		u.SetName(name)
		return u
	}
	all := newObjects()
	all.kinds[limits].items = []*unstructured.Unstructured{
		without("a", map[string]any{"spec": map[string]any{"max": int64(9)}}), without("b", map[string]any{"spec": map[string]any{}}),
		without("c", map[string]any{}), without("d", map[string]any{"spec": "text"}), without("e", map[string]any{"spec": map[string]any{"min": int64(1)}}),
		without("f", map[string]any{"spec": map[string]any{"max": 9.5}}), without("g", map[string]any{"spec": map[string]any{"max": nil}}),
	}
	p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(limits), Validations: policytest.Validations("object.spec.replicas <= params.spec.max")})
	s := storeWith(policyspec.Features{}, all, p, withParams(policytest.Binding("b", "p"), selected("", "")))
	const prefix = "b: expression 'object.spec.replicas <= params.spec.max' resulted in error: "
	want := []string{prefix + "no such key: max", prefix + "no such key: spec", prefix + "no such key: max", prefix + "no such key: max", prefix + "no such overload"}
	if got := messages(evaluate(t, newServer(), create(5), s.Snapshot()).Decisions()); !slices.Equal(got, want) {
		t.Errorf("messages are %q, want %q", got, want)
	}
}

// A request that is under way when a policy changes still finds params.
func TestParamsOfOldSnapshot(t *testing.T) {
	s := storeWith(policyspec.Features{}, newObjects(), limiting(limits), withParams(policytest.Binding("b", "p"), named("", "low")))
	snapshot := s.Snapshot()
	s.DeletePolicy("p")
	if got, want := messages(evaluate(t, newServer(), create(5), snapshot).Decisions()), []string{"b: Limit low: 3"}; !slices.Equal(got, want) {
		t.Errorf("messages are %q, want %q", got, want)
	}
}

// A policy with a malformed paramKind fails. Clients that bypass validation can store one.
func TestMalformedParamKind(t *testing.T) {
	p := limiting(limits)
	p.Spec.ParamKind.APIVersion = "a/b/c"
	for policy, want := range map[v1.FailurePolicyType]string{v1.Fail: "[false]", v1.Ignore: "[true]"} {
		p.Spec.FailurePolicy = &policy
		var ignored []bool
		for _, d := range evaluate(t, newServer(), create(5), storeWith(policyspec.Features{}, newObjects(), p, policytest.Binding("b", "p")).Snapshot()).Decisions() {
			if ignored = append(ignored, d.Ignored); !strings.HasPrefix(d.Message, "failed to configure policy: failed to parse paramKind APIVersion: ") {
				t.Errorf("message is %q", d.Message)
			}
		}
		if got := fmt.Sprint(ignored); got != want {
			t.Errorf("%s: ignored %s, want %s", policy, got, want)
		}
	}
}
