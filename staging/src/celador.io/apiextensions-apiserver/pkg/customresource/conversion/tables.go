// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

// Names of the variables with which expressions read spec.conversion.tables. Each has a field for
// each table, such as tables.regions. In the tables of inverted, keys and values are exchanged.
const (
	tablesName   = "tables"
	invertedName = "inverted"
)

// tables holds spec.conversion.tables for expressions. It is immutable and safe for concurrent use.
type tables struct {
	// forward and inverted are the types of the objects.
	forward, inverted *apiservercel.DeclType
	// values holds the objects by their names in expressions.
	values map[string]ref.Val
	// shared holds, for each table that cannot be inverted, two keys that have the same value.
	shared map[string][2]string
}

// newTables returns the tables of a CRDSpec.
func newTables(all []v1.ConversionTable) *tables {
	t := &tables{shared: map[string][2]string{}}
	forward, inverted := map[string]*apiservercel.DeclField{}, map[string]*apiservercel.DeclField{}
	forwardValues, invertedValues := map[ref.Val]ref.Val{}, map[ref.Val]ref.Val{}
	add := func(name string, entries map[string]string, fields map[string]*apiservercel.DeclField, values map[ref.Val]ref.Val) {
		fields[name] = apiservercel.NewDeclField(name, tableType(entries), true, nil, nil)
		values[types.String(name)] = types.NewStringStringMap(types.DefaultTypeAdapter, entries)
	}
	for _, table := range all {
		add(table.Name, table.Map, forward, forwardValues)
		back := make(map[string]string, len(table.Map))
		for _, key := range slices.Sorted(maps.Keys(table.Map)) {
			value := table.Map[key]
			if first, ok := back[value]; ok {
				if _, known := t.shared[table.Name]; !known {
					t.shared[table.Name] = [2]string{first, key}
				}
				continue
			}
			back[value] = key
		}
		if _, ambiguous := t.shared[table.Name]; !ambiguous {
			add(table.Name, back, inverted, invertedValues)
		}
	}
	// Expressions cannot contain the names of the types.
	t.forward, t.inverted = apiservercel.NewObjectType("object(tables)", forward), apiservercel.NewObjectType("object(inverted)", inverted)
	t.values = map[string]ref.Val{
		tablesName:   types.NewRefValMap(types.DefaultTypeAdapter, forwardValues),
		invertedName: types.NewRefValMap(types.DefaultTypeAdapter, invertedValues),
	}
	return t
}

// tableType returns the type of a table. It states the number of entries and the length of the
// longest key and value, from which the costs of expressions are estimated.
func tableType(entries map[string]string) *apiservercel.DeclType {
	text := func(texts func(yield func(string) bool)) *apiservercel.DeclType {
		t := *apiservercel.StringType
		t.MaxElements = 0
		for text := range texts {
			t.MaxElements = max(t.MaxElements, int64(utf8.RuneCountInString(text)))
		}
		return &t
	}
	return apiservercel.NewMapType(text(maps.Keys(entries)), text(maps.Values(entries)), int64(len(entries)))
}

const (
	// maxTables bounds the tables of a CustomResourceDefinition.
	maxTables = 100
	// maxTableEntries bounds the entries of a table.
	maxTableEntries = 1000
)

// checkTables checks spec.conversion.tables, unless the update leaves them unchanged.
func (v *validator) checkTables(path *field.Path) {
	all := v.spec.Tables
	if v.tablesUnchanged() {
		return
	}
	if len(all) > maxTables {
		v.errs = append(v.errs, field.TooMany(path, len(all), maxTables))
		return
	}
	seen := map[string]bool{}
	for i, table := range all {
		at := path.Index(i)
		v.errs = append(v.errs, checkName(at.Child("name"), table.Name, seen, "table")...)
		switch entries := at.Child("map"); {
		case len(table.Map) == 0:
			v.errs = append(v.errs, field.Required(entries, "must have an entry"))
		case len(table.Map) > maxTableEntries:
			v.errs = append(v.errs, field.TooMany(entries, len(table.Map), maxTableEntries))
		}
	}
}

// readsTable reports whether an expression reads a table.
func readsTable(x *schemaexpression.Expression) bool {
	return x.ReadsNamespace(tablesName) || x.ReadsNamespace(invertedName)
}

// explainFailure adds advice to the error of a rule that fails because of a common mistake, such as
// a missing key. readsTable is set if the rule reads a table. The result wraps err.
func explainFailure(err error, readsTable bool) error {
	if readsTable && strings.HasPrefix(err.Error(), "no such key") {
		return fmt.Errorf("%w (the table has no such key, or the field is unset in this object; add the key to the table, or read it with [?...] and orValue(...))", err)
	}
	return ruleerror.WithAdvice(err)
}
