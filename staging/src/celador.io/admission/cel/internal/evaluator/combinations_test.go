// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// operands holds expressions of every type: literals, variables whose type the checker knows, and
// expressions of dynamic type.
var operands = []string{
	"null", "object.missing", "b", "dyn(false)", "1", "i", "-9223372036854775808", "object.spec.replicas", "u", "dyn(18446744073709551615u)",
	"1.5", "d", "dyn(-0.0)", "double('NaN')", "''", "s", "object.metadata.name", "bytesOf", "dyn(b'')", "[b'x']",
	"[]", "ints", "texts", "dyn([[1], []])", "object.spec.template.spec.containers", "{}", "scores", "{'a': 1}", "dyn({1: [2]})", "object.metadata",
	"span", "dyn(duration('-1s'))", "moment", "dyn(timestamp(0))", "type(i)", "maybe", "quantity('1Gi')", "dyn(quantity('1073741824'))",
	"ip('10.0.0.1')", "cidr('10.0.0.0/8')", "url('/a')", "semver('1.2.3')", "authorizer", "authorizer.requestResource",
}

// countValues compiles an expression and checks it with the inputs. It returns the number of inputs
// for which the evaluator returns a value.
func countValues(t *testing.T, source string, ins map[string]*input) int {
	t.Helper()
	p, err := kubernetes().compile(source)
	if err != nil {
		return 0
	}
	values := 0
	for _, in := range ins {
		if check(t, p, in) {
			values++
		}
	}
	return values
}

// TestOperators applies every operator to every two operands.
func TestOperators(t *testing.T) {
	ins := inputs()
	selected := map[string]*input{"typed": ins["typed"], "native": ins["native"], "unusual types": ins["unusual types"]}
	values := map[string]int{}
	for _, operator := range []string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "&&", "||"} {
		for _, left := range operands {
			for _, right := range operands {
				values[operator] += countValues(t, fmt.Sprintf("%s %s %s", left, operator, right), selected)
			}
		}
	}
	for _, prefix := range []string{"!", "-", "b && ", "b ? 1 : ", "has(object.spec) ? null : ", "type(", "dyn("} {
		suffix := strings.Repeat(")", strings.Count(prefix, "(")-strings.Count(prefix, ")"))
		for _, operand := range operands {
			values[prefix] += countValues(t, prefix+operand+suffix, selected)
		}
	}
	for operator, n := range values {
		if n == 0 {
			t.Errorf("%s is never evaluated", operator)
		}
	}
	t.Logf("values: %v", values)
}

// TestIndexes indexes every operand with every other.
func TestIndexes(t *testing.T) {
	ins := inputs()
	selected := map[string]*input{"typed": ins["typed"], "native": ins["native"], "unusual types": ins["unusual types"]}
	values := 0
	more := []string{"anys", "lists", "byInt", "anyMap", "any", "any.uints", "any.bools", "any.list", "any.map", "request", "request.userInfo", "variables"}
	keys := []string{"0", "-1", "'app'", "any.number", "any.text", "dyn('app')", "ints[1] - 1", "lists[0][0]", "b ? 0 : 1", "variables.number"}
	for _, operand := range slices.Concat(operands, more) {
		for _, key := range slices.Concat(operands, keys) {
			values += countValues(t, fmt.Sprintf("%s[%s]", operand, key), selected)
		}
	}
	if values == 0 {
		t.Error("no index is ever evaluated")
	}
	t.Logf("%d values", values)
}

// arguments maps type names to expressions of the type.
var arguments = map[string][]string{
	"bool": {"true", "b"}, "int": {"1", "i", "0", "-1"}, "uint": {"2u", "u"}, "double": {"1.5", "d", "1e300"}, "null_type": {"null"},
	"string": {"'wörld'", "s", "''", "'10.0.0.1'", "'10.0.0.0/8'", "'1.2.3'", "'1.5Gi'", "'https://a.example.com:80/p?q=r'",
		"'[a-z]+'", "'3'", "'true'", "'90m'", "'2026-02-03T04:05:06Z'", "'UTC'", "'%s'"},
	"bytes":                     {"b'ab'", "bytesOf"},
	"google.protobuf.Duration":  {"span", "duration('1h')"},
	"google.protobuf.Timestamp": {"moment", "timestamp('2026-02-03T04:05:06Z')"},
	"list":                      {"ints", "['b', 'a']", "[]", "[[1], [2, 3]]", "[1.5]", "[b'a']", "[true]", "[duration('1s')]", "[moment]", "[dyn(1), 'a']"},
	"map":                       {"scores", "{'a': [1]}", "{}"},
	"type":                      {"int", "type(s)"},
	"dyn":                       {"any", "dyn(1)", "dyn('10.0.0.1')", "object.spec.template.spec.containers"},
	"optional_type":             {"maybe", "optional.none()"},
	"kubernetes.Quantity":       {"quantity('1.5Gi')", "quantity('2')"}, "kubernetes.URL": {"url('https://a.example.com:80/p?q=r')", "url('/p')"},
	"net.IP": {"ip('10.0.0.1')", "ip('::1')"}, "net.CIDR": {"cidr('10.0.0.0/8')", "cidr('::/0')"},
	"kubernetes.Semver": {"semver('1.2.3')", "semver('v2.0', true)"}, "kubernetes.NamedFormat": {"format.dns1123Label()", "format.uuid()"},
	"kubernetes.authorization.Authorizer": {"authorizer", "authorizer.serviceAccount('a', 'b')"}, "kubernetes.authorization.PathCheck": {"authorizer.path('/healthz')"},
	"kubernetes.authorization.GroupCheck": {"authorizer.group('apps')"}, "kubernetes.authorization.ResourceCheck": {"authorizer.requestResource",
		"authorizer.group('').resource('pods')"},
	"kubernetes.authorization.Decision": {"authorizer.requestResource.check('get')"},
}

func argumentsFor(t *types.Type) []string {
	if t.Kind() == types.TypeParamKind {
		return []string{"1", "'a'", "ints", "d"}
	}
	for name, expressions := range arguments {
		if t.TypeName() == name {
			return expressions
		}
	}
	return nil
}

// calls returns calls of an overload with combinations of arguments. Each call is followed by its
// variants with one argument of dynamic type.
func calls(function string, argTypes []*types.Type, member bool) []string {
	combinations := [][]string{nil}
	for _, argType := range argTypes {
		var longer [][]string
		for _, c := range combinations {
			for _, argument := range argumentsFor(argType) {
				longer = append(longer, append(slices.Clip(c), argument))
			}
		}
		combinations = longer
	}
	// Overloads with many parameters have many combinations; 60 of them suffice.
	var result []string
	for i := 0; i < len(combinations); i += 1 + len(combinations)/60 {
		c := combinations[i]
		result = append(result, call(function, c, member))
		for arg := range c {
			result = append(result, call(function, slices.Replace(slices.Clone(c), arg, arg+1, "dyn("+c[arg]+")"), member))
		}
	}
	return result
}

func call(function string, args []string, member bool) string {
	if member {
		return fmt.Sprintf("%s.%s(%s)", args[0], function, strings.Join(args[1:], ", "))
	}
	return fmt.Sprintf("%s(%s)", function, strings.Join(args, ", "))
}

// TestFunctions calls every overload of every function of the environment. The evaluator evaluates
// all functions.
func TestFunctions(t *testing.T) {
	typed := map[string]*input{"typed": inputs()["typed"]}
	values, tried := map[string]int{}, 0
	for name, function := range kubernetes().Functions() {
		if _, isOperator := operators.FindReverse(name); isOperator || strings.Contains(name, "@") || strings.HasPrefix(name, "_") || name == "in" {
			continue
		}
		for _, overload := range function.OverloadDecls() {
			if overload.IsMemberFunction() && len(overload.ArgTypes()) == 0 {
				t.Fatalf("%s has no receiver", overload.ID())
			}
			for _, source := range calls(name, overload.ArgTypes(), overload.IsMemberFunction()) {
				tried++
				values[name] += countValues(t, source, typed)
			}
		}
	}
	for name, n := range values {
		if n == 0 {
			t.Errorf("%s is never evaluated", name)
		}
	}
	t.Logf("%d calls of %d functions", tried, len(values))
}
