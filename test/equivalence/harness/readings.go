// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Readings lists expressions that read a value P. They are to tell two implementations of a value
// apart: if these differ in any way that CEL can show, one of the expressions has different
// results. O stands for another value, usually the one at the same path in the old object. No
// result depends on the order of a map.
var Readings = []string{
	"P", "P == P", "P == O", "{'a': [P]} == {'a': [P]}", "P in [P]", "P == 1", "P == 3.0", "P == '1'", "P == true", "P == null", "P == []", "P == {}",
	"type(P) == int", "type(P) == string", "type(P) == list", "type(P) == map", "type(P) == double", "type(P) == bool", "type(P) == bytes", "type(P) == type(null)", "type(P) == type(timestamp(0))",
	"P < P", "P <= 2", "P + P", "P - 1", "!P", "-P", "P ? 1 : 2", "P.size()", "int(P)", "uint(P)", "double(P)", "string(P)", "bytes(P)", "timestamp(P)", "duration(P)",
	"P[0]", "P['app']", "P[?0].hasValue()", "P.?absent.hasValue()", "P.absent", "has(P.absent)", "'app' in P", "P.all(x, x == x)", "P.exists(x, x == 'a')", "P.exists_one(x, x == 'a')", "P.map(x, x) == P", "P.filter(x, x != null).size()",
	"P.all(k, v, v == v)", "P.all(k, P[k] == O[k])", "P.startsWith('r')", "P.matches('^[a-z]*$')", "P.join(',')", "P.sum()", "P.isSorted()", "P.indexOf('a')", "isQuantity(P)", "quantity(P) == quantity(P)",
	"sets.equivalent(P, O)", "optional.ofNonZeroValue(P).hasValue()", "'%d'.format([P])",
	"true == P", "1 in P", "P[?1].hasValue()", "P[?'app'].hasValue()", "P[0u]", "P[0.0]", "P[-1]", "P[true]", "{} == P", "[] == P", "[P].distinct()", "[P, O].distinct().size()", "[P].exists_one(x, x == 1)", "[P, 1, 'a'].indexOf('a')",
	"sets.contains([P], [1])", "sets.intersects([P], [O])", "P.distinct() == P", "P.flatten().size()", "P.sort() == P", "P.reverse() == P", "P.slice(0, 1) == P", "P + [1] == [1]", "P.exists_one(k, P[k] == true)",
	"P.transformList(k, v, k).size()", "P.transformMap(k, v, v) == P", "P != O", "optional.of(P) == optional.of(O)", "dyn([P]) == dyn([O])", "P in {'a': P}", "{'a': 1}[P]", "[1][P]",
}

var (
	placeholder = regexp.MustCompile(`\b[PO]\b`)
	plainName   = regexp.MustCompile(`^[a-z][a-zA-Z]*$`)
)

// Read returns an element of Readings, with path in the place of P and other in the place of O.
func Read(reading, path, other string) string {
	return placeholder.ReplaceAllStringFunc(reading, func(name string) string {
		if name == "P" {
			return path
		}
		return other
	})
}

// Paths returns CEL expressions that select a value and each part of it. value is decoded from
// JSON. prefix is the expression that selects the whole value.
func Paths(prefix string, value any) []string {
	result := []string{prefix}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			path := fmt.Sprintf("%s['%s']", prefix, key)
			if plainName.MatchString(key) && key != "in" && key != "true" {
				path = prefix + "." + key
			}
			result = append(result, Paths(path, value[key])...)
		}
	case []any:
		for i := range value {
			result = append(result, Paths(fmt.Sprintf("%s[%d]", prefix, i), value[i])...)
		}
	}
	return result
}

// OtherRoot returns a path that begins with root, such as object, with other in the place of root.
func OtherRoot(path, root, other string) string { return other + strings.TrimPrefix(path, root) }

// GoTypes replaces the names of Go types that implement CEL values, which a few errors of cel-go
// contain. Kubernetes and Celador have different types there, so errors are compared after the
// replacement.
var GoTypes = strings.NewReplacer(
	"common.reflectSchemalessTypedStruct", "struct", "values.structValue", "struct",
	"common.reflectSchemalessTypedList", "list", "values.listValue", "list",
	"common.reflectSchemalessTypedMap", "map", "values.mapValue", "map",
	"types.baseList", "unstructured list", "values.unstructuredList", "unstructured list",
	"types.baseMap", "unstructured map", "values.unstructuredMap", "unstructured map",
	"[]string{", "list{", "[]interface {}{", "list{",
)

// NullParams is Celador's error of an expression that reads a field of params through a binding
// without paramRef.
const NullParams = "params is null: the binding has no paramRef"

var missingKey = regexp.MustCompile(regexp.QuoteMeta(NullParams) + `|no such key: [a-zA-Z0-9_-]+`)

// WithoutKeys makes errors comparable in which the two sides name different keys: it replaces
// errors about missing keys, and Celador's NullParams, by the same text.
func WithoutKeys(text string) string { return missingKey.ReplaceAllString(text, "no such key") }
