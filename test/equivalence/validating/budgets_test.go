// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/values"
	"celador.io/celador/test/equivalence/harness"
)

// A series is a list of expressions that share the variables of a policy and a budget.
type series struct {
	variables   []v1.Variable
	expressions []string
	param       *unstructured.Unstructured
}

// A charge is the result of an expression, and the budget that is left after it.
type charge struct {
	Value, Error string
	Remaining    int64
}

// An evaluation returns the charge of each expression for a request, with the given budget. It
// stops where the budget is exhausted.
type evaluation func(r request, units int64) []charge

// enough is a budget that suffices for every series.
const enough = math.MaxInt64

// celador compiles the series with Celador's engine.
func (s series) celador(t *testing.T) evaluation {
	in := expression.Declarations{Params: s.param != nil, Authorizer: true}
	composition := expression.Default().Compose()
	defer expression.Default().Release(composition)
	var variables []expression.Variable
	for _, v := range s.variables {
		program, err := composition.Declare(v.Name, v.Expression, in, environment.StoredExpressions)
		variables = append(variables, expression.Variable{Name: v.Name, Program: program, Err: err})
	}
	expression.Link(variables)
	var compiled []expression.Compiled
	for _, source := range s.expressions {
		program, err := composition.Compile(source, in, environment.StoredExpressions, cel.AnyType)
		compiled = append(compiled, expression.Compiled{Program: program, Err: err})
	}
	return func(r request, units int64) []charge {
		versioned := versionedFor(t, r)
		budget := expression.NewBudget(units)
		evaluations := expression.NewSeries(contextFor(t, r), activationFor(t, versioned, namespaceFor(t, r), s.param), variables, budget)
		var charges []charge
		for i := range compiled {
			value, err := compiled[i].Evaluate(evaluations)
			charges = append(charges, charged(value, err, budget.Remaining()))
			if expression.IsFatal(err) {
				break
			}
		}
		return charges
	}
}

// upstream compiles the series with Kubernetes' engine. That engine reports the remaining
// budget only after a whole list of expressions, so upstream evaluates the first expression,
// the first two, and so on.
func (s series) upstream(t *testing.T) evaluation {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	must(t, err)
	in := plugincel.OptionalVariableDeclarations{HasParams: s.param != nil, HasAuthorizer: true}
	for _, v := range s.variables {
		compiler.CompileAndStoreVariable(&upstream.Variable{Name: v.Name, Expression: v.Expression}, in, environment.StoredExpressions)
	}
	var compiled []plugincel.CompilationResult
	for _, source := range s.expressions {
		compiled = append(compiled, compiler.CompileCELExpression(&upstream.Variable{Expression: source}, in, environment.StoredExpressions))
	}
	bindings := plugincel.OptionalVariableBindings{Authorizer: authorizer.AuthorizerFunc(harness.Authorize)}
	if s.param != nil {
		bindings.VersionedParams = s.param
	}
	return func(r request, units int64) []charge {
		var charges []charge
		for i := range compiled {
			versioned := versionedFor(t, r)
			asked := plugincel.CreateAdmissionRequest(versioned.Attributes, metav1.GroupVersionResource(r.Resource), metav1.GroupVersionKind(r.Kind))
			results, remaining, err := plugincel.NewCondition(compiled[:i+1]).ForInput(compiler.CreateContext(contextFor(t, r)), versioned, asked, bindings, namespaceFor(t, r), units)
			if err != nil {
				return append(charges, charged(nil, err, remaining))
			}
			charges = append(charges, charged(results[i].EvalResult, results[i].Error, remaining))
		}
		return charges
	}
}

// versionedFor returns the objects of a request in the form that both engines take.
func versionedFor(t *testing.T, r request) *admission.VersionedAttributes {
	t.Helper()
	versioned, err := admission.NewVersionedAttributes(r.Attributes(), r.Kind, harness.Interfaces)
	must(t, err)
	return versioned
}

// contextFor returns the context of a request, which is canceled at the end of the test.
func contextFor(t *testing.T, r request) context.Context {
	t.Helper()
	ctx, cancel := r.Context(t.Context())
	t.Cleanup(cancel)
	return ctx
}

// namespaceFor returns the namespace of a request in the form that both engines take.
func namespaceFor(t *testing.T, r request) *corev1.Namespace {
	t.Helper()
	if r.Namespace == "" {
		return nil
	}
	return plugincel.CreateNamespaceObject(harness.Translate(t, harness.Namespace(r.Namespace), &corev1.Namespace{}))
}

// activationFor returns the values of the variables that validations read.
func activationFor(t *testing.T, a *admission.VersionedAttributes, namespace *corev1.Namespace, param *unstructured.Unstructured) interpreter.Activation {
	t.Helper()
	valueOf := func(object runtime.Object) any {
		switch object := object.(type) {
		case nil:
			return nil
		case *unstructured.Unstructured:
			return types.DefaultTypeAdapter.NativeToValue(object.Object)
		default:
			return values.Of(object)
		}
	}
	request := plugincel.CreateAdmissionRequest(a.Attributes, metav1.GroupVersionResource(a.GetResource()), metav1.GroupVersionKind(a.VersionedKind))
	authz := authorizer.AuthorizerFunc(harness.Authorize)
	read := map[string]any{
		expression.Object:          valueOf(a.VersionedObject.Object()),
		expression.OldObject:       valueOf(a.VersionedOldObject.Object()),
		expression.Params:          nil,
		expression.Request:         values.Of(request),
		expression.NamespaceObject: values.Of(namespace),
		expression.Authorizer:      library.NewAuthorizerVal(a.GetUserInfo(), authz),
		expression.RequestResource: library.NewResourceAuthorizerVal(a.GetUserInfo(), authz, a.Attributes),
	}
	if param != nil {
		read[expression.Params] = valueOf(param)
	}
	activation, err := interpreter.NewActivation(read)
	must(t, err)
	return activation
}

func charged(value ref.Val, err error, remaining int64) charge {
	result := charge{Remaining: remaining}
	switch v := value.(type) {
	case nil:
	case traits.Sizer:
		result.Value = fmt.Sprintf("%s of size %v", v.(ref.Val).Type().TypeName(), v.Size())
	default:
		result.Value = fmt.Sprintf("%s %v", v.Type().TypeName(), v.Value())
	}
	if err != nil {
		result.Value, result.Error = "", harness.GoTypes.Replace(err.Error())
	}
	return result
}

// compare returns a description of how the engines differ for the requests, or an empty string.
// It uses a sufficient budget, a budget that just suffices, one that lacks a single unit, and
// half of it.
func (s series) compare(t *testing.T, requests map[string]request) string {
	t.Helper()
	ours, theirs := s.celador(t), s.upstream(t)
	for name, r := range requests {
		compare := func(units int64) (want []charge, difference string) {
			want = theirs(r, units)
			if diff := cmp.Diff(want, ours(r, units)); diff != "" {
				difference = fmt.Sprintf("on %q with a budget of %d (-upstream +celador):\n%s", name, units, diff)
			}
			return want, difference
		}
		want, difference := compare(enough)
		spent := enough - want[len(want)-1].Remaining
		for _, units := range []int64{spent, spent - 1, spent / 2} {
			if difference != "" {
				return difference
			}
			_, difference = compare(max(units, 0))
		}
		if difference != "" {
			return difference
		}
	}
	return ""
}

func (s series) String() string {
	var text strings.Builder
	for _, v := range s.variables {
		fmt.Fprintf(&text, "%s: %s\n", v.Name, v.Expression)
	}
	return text.String() + strings.Join(s.expressions, "\n")
}

func only(t *testing.T, names ...string) map[string]request {
	t.Helper()
	requests := map[string]request{}
	for _, name := range names {
		request, ok := fixed[name]
		if !ok {
			t.Fatalf("there is no request %q", name)
		}
		requests[name] = request
	}
	return requests
}

// TestBudgets covers expressions that read variables after one of their operands returns an
// error.
func TestBudgets(t *testing.T) {
	t.Parallel()
	variables := slices.Concat(let("a", "object.spec.missing", "n", "[0, 0, 0].map(x, x)[0]", "list", "['a', 'b'].map(x, x)", "key", "'app' + ''"),
		[]v1.Variable{costing(600_000)}, let("found", search, "both", "variables.found && "+search))
	for _, expression := range []string{
		"variables.a[variables.n] == 1 || true",
		"variables.a[variables.list[variables.n]][variables.key] == 1 || true",
		"[object.spec.missing][variables.n] == 1 || true",
		"{'a': object.spec.missing}[variables.key] == 1 || true",
		"object.spec.missing[variables.n] == 1 || variables.found",
		"object.metadata.labels[variables.key][variables.n] == 1 || true",
		"object.spec.replicas[variables.n] == 1 || true",
		"object[variables.n][variables.key] == 1 || true",
		"variables.list[variables.a] == variables.key || true",
		"variables.list[object][variables.n] == '' || true",
		"variables.list[5][variables.n] == '' || true",
		"(object.missing ? variables.list : [variables.key])[variables.n] == '' || true",
		"(variables.n == 0 ? variables.a : variables.list)[variables.n] == '' || variables.key == ''",
		"has(variables.a[variables.n].x) || true",
		"has(object.missing.x) || has(object.metadata.labels[variables.key].x) || true",
		"[variables.a, variables.key].size() == variables.n || true",
		"{variables.a: variables.key}.size() == variables.n || true",
		"variables.key.startsWith(variables.a) || variables.key.replace(variables.a, variables.list[variables.n]) == '' || true",
		"variables.a == variables.n || variables.list.size() == 0 || true",
		"variables.a && variables.found || variables.n == 0",
		"variables.list.all(x, variables.a == x || variables.key == x) || true",
		"variables.list.map(x, variables.a[variables.n]).size() == 2 || true",
		"variables.list.filter(x, x == variables.key || variables.a).map(x, variables.n).size() == 2 || true",
		"object.missing.all(x, variables.n == 0) || true",
		"variables.a in variables.list || true",
		"variables.both || true",
		"variables.text.contains(variables.text) && variables.found && variables.text.contains(variables.text) && variables.n == 0 || true",
		"[variables.text.contains(variables.text), variables.text.contains(variables.text), variables.n == 0].size() == 3 || true",
		"variables.list.all(k, v, variables.a == k || variables.key == v) || variables.n == 0",
		"variables.list.transformList(k, v, variables.a[variables.n]).size() == 2 || true",
	} {
		s := series{variables: variables, expressions: []string{expression, expression, "variables.n == 0", expression}}
		if diff := s.compare(t, only(t, "create", "delete")); diff != "" {
			t.Errorf("%s %s", expression, diff)
		}
	}
}

// TestNullInputs reads objects and params that are absent.
func TestNullInputs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"object", "oldObject", "namespaceObject", "request.options"} {
		var expressions []string
		for _, reading := range []string{
			"P", "P == null", "null == P", "P != null", "P == P", "type(P) == type(null)", "string(P)", "'%s'.format([P])", "[P]", "P in [P]", "P in [null]", "[P].map(x, x)", "[P].exists(x, x == null)", "{'a': P}", "{'a': P}.a",
			"has(P.x)", "P.x", "P.?x.hasValue()", "P[0]", "P['x']", "P[?0].hasValue()", "P[P]", "[1][P]", "{'a': 1}[P]", "object.metadata[P]", "request[P]", "[[1]][P][P]", "[1][(true ? P : P)]", "{'a': [1]}['a'][P]", "[1][?P].hasValue()",
			"[1][variables.v]", "{'a': 1}[variables.v]", "variables.v[0]", "variables.v == P", "[P].map(x, [1][x])", "[P][0]", "[1][[P][0]]", "[1][{'a': P}.a]", "{P: 1}", "dyn(P)", "[1][dyn(P)]", "P ? 1 : 2", "!P", "P || true", "size(P)", "P + P", "P < 1",
			"optional.of(P).hasValue()", "optional.ofNonZeroValue(P).hasValue()", "P.all(x, true)", "P.map(x, x)", "P.all(k, v, true)", "sets.contains([P], [null])", "[P].indexOf(null)", "P.startsWith('a')",
		} {
			expressions = append(expressions, harness.Read(reading, name, name))
		}
		s := series{variables: let("v", name), expressions: expressions}
		if diff := s.compare(t, only(t, "create", "delete", "delete without", "create node")); diff != "" {
			t.Error(diff)
		}
	}
}

// TestGeneratedBudgets compares the budget that is left after generated expressions.
func TestGeneratedBudgets(t *testing.T) {
	t.Parallel()
	failed, read := 0, 0
	for i := *harness.First; i < *harness.First+uint64(*policies/10); i++ {
		g := &generator{Generator: harness.NewGenerator(*harness.Seed, i)}
		var s series
		if params := g.params(); len(params) > 0 && g.Chance(40) {
			// API servers encode whole floats as integers.
			s.param = harness.Translate(t, harness.Pick(g, params...), &unstructured.Unstructured{})
			g.scope.params = limitKind
		}
		if g.Chance(10) {
			s.variables = append(slices.Clone([]v1.Variable{costing(harness.Pick(g, 300_000, 900_000, 1_100_000))}), let("found", search)...)
			g.scope = g.scope.with('b', "variables.found", search).with('t', "variables.text.substring(0, 5)")
		}
		for v := range 1 + g.IntN(4) {
			name := fmt.Sprint("v", v)
			s.variables = append(s.variables, v1.Variable{Name: name, Expression: g.declare(name)})
		}
		for range 1 + g.IntN(4) {
			s.expressions = append(s.expressions, g.expression(harness.Pick(g, byte('b'), 'b', 'i', 't', 'l'), 1+g.IntN(3)))
		}
		if diff := s.compare(t, g.requests()); diff != "" {
			t.Fatalf("again with -seed=%d -first=%d -policies=10\n%s\n%s", *harness.Seed, i, s, diff)
		}
		for _, charge := range s.celador(t)(fixed["create"], enough) {
			if strings.Contains(charge.Error, "resulted in error") {
				failed++
			}
		}
		if strings.Contains(strings.Join(s.expressions, " "), "variables.v") {
			read++
		}
	}
	t.Logf("%d series: %d read variables, %d expressions fail", *policies/10, read, failed)
	if n := *policies / 10; n >= 200 && (read < n/4 || failed < n/4) {
		t.Errorf("of %d series, %d read variables and %d expressions fail: that is too few", n, read, failed)
	}
}
