// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"reflect"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
)

// Validate checks the converters of a CRDSpec. path is the field path of spec.conversion. old is
// the CRDSpec before an update, and nil on creation.
//
// A converter that has not changed, with unchanged schemas, is not checked again. The rules of a
// changed one may use functions that the compatibility version does not have if the stored
// converter of the same versions has these rules.
//
// Call Validate for the strategy ConversionRules only. The schemas must be valid; converters of
// versions without one are not compiled. Warnings are about data that conversion loses, objects for
// which it fails, and rules without effect.
func Validate(path *field.Path, spec, old *CRDSpec) (errs field.ErrorList, warnings []string) {
	v := validator{path: path.Child("converters"), spec: spec, old: old, versions: map[string]*typedVersion{}}
	for _, version := range spec.Versions {
		v.names = append(v.names, version.Name)
		v.versions[version.Name] = newTypedVersion(version, spec.ClusterScoped)
	}
	if v.checkCounts(); len(v.errs) > 0 {
		return v.errs, nil
	}
	if v.checkTables(path.Child("tables")); len(v.errs) > 0 {
		return v.errs, nil // An expression could read any table.
	}
	v.tables = newTables(spec.Tables)
	for i := range spec.Converters {
		if v.checkVersions(i) && !v.isUnchanged(&spec.Converters[i]) {
			v.checkConverter(i)
		}
	}
	v.checkChains()
	return v.errs, v.warnings
}

type validator struct {
	// path is the path of spec.conversion.converters.
	path      *field.Path
	spec, old *CRDSpec
	names     []string
	versions  map[string]*typedVersion
	tables    *tables

	errs     field.ErrorList
	warnings []string
}

// checkCounts checks the numbers of converters and rules.
func (v *validator) checkCounts() {
	if n := len(v.spec.Converters); n > maxConverters {
		v.errs = append(v.errs, field.TooMany(v.path, n, maxConverters))
		return
	}
	all := 0
	for i, converter := range v.spec.Converters {
		n := len(converter.Rules)
		if n > rulelimit.MaxRules {
			v.errs = append(v.errs, field.TooMany(v.path.Index(i).Child("rules"), n, rulelimit.MaxRules))
		}
		if n := len(converter.Variables); n > maxVariables {
			v.errs = append(v.errs, field.TooMany(v.path.Index(i).Child("variables"), n, maxVariables))
		}
		all += n + len(converter.Variables)
	}
	if all > maxAllRules && len(v.errs) == 0 {
		v.errs = append(v.errs, field.Forbidden(v.path, fmt.Sprintf("the converters have %d rules and variables, and may have at most %d", all, maxAllRules)))
	}
}

// checkVersions checks the versions of a converter and reports whether its rules can be checked.
func (v *validator) checkVersions(i int) bool {
	path, converter := v.path.Index(i), &v.spec.Converters[i]
	before := len(v.errs)
	for _, version := range []struct{ field, name string }{{"fromVersion", converter.FromVersion}, {"toVersion", converter.ToVersion}} {
		switch {
		case version.name == "":
			v.errs = append(v.errs, field.Required(path.Child(version.field), "must be the name of a version"))
		case v.versions[version.name] == nil:
			v.errs = append(v.errs, field.NotSupported(path.Child(version.field), version.name, v.names))
		}
	}
	if len(v.errs) > before {
		return false
	}
	if converter.FromVersion == converter.ToVersion {
		v.errs = append(v.errs, field.Invalid(path.Child("toVersion"), converter.ToVersion, "must differ from fromVersion: objects are not converted to the version that they have"))
		return false
	}
	for j := range i {
		if other := &v.spec.Converters[j]; other.FromVersion == converter.FromVersion && other.ToVersion == converter.ToVersion {
			duplicate := field.Duplicate(path, pair{converter.FromVersion, converter.ToVersion}.String())
			duplicate.Detail = fmt.Sprintf("%s has the same versions: put all rules into one converter", v.path.Index(j))
			v.errs = append(v.errs, duplicate)
			return false
		}
	}
	return true
}

// String returns the versions with an arrow.
func (p pair) String() string { return chain{p.from, p.to}.String() }

// oldConverter returns the converter of the same versions that was stored before the update, or
// nil.
func (v *validator) oldConverter(converter *v1.Converter) *v1.Converter {
	if v.old == nil {
		return nil
	}
	i := slices.IndexFunc(v.old.Converters, func(c v1.Converter) bool {
		return c.FromVersion == converter.FromVersion && c.ToVersion == converter.ToVersion
	})
	if i < 0 {
		return nil
	}
	return &v.old.Converters[i]
}

// isUnchanged reports whether neither the converter, the schemas of its versions nor the tables
// have changed.
func (v *validator) isUnchanged(converter *v1.Converter) bool {
	old := v.oldConverter(converter)
	if old == nil || !slices.Equal(old.Rules, converter.Rules) || !slices.Equal(old.Variables, converter.Variables) ||
		!v.tablesUnchanged() {
		return false
	}
	for _, name := range []string{converter.FromVersion, converter.ToVersion} {
		i := slices.IndexFunc(v.old.Versions, func(version Version) bool { return version.Name == name })
		if i < 0 || !reflect.DeepEqual(v.old.Versions[i].Schema, v.versions[name].schema) {
			return false
		}
	}
	return true
}

// tablesUnchanged reports whether the tables are those before the update.
func (v *validator) tablesUnchanged() bool {
	return v.old != nil && apiequality.Semantic.DeepEqual(v.old.Tables, v.spec.Tables)
}

// checkConverter checks the rules of a converter whose versions exist.
func (v *validator) checkConverter(i int) {
	converter := &v.spec.Converters[i]
	from, to := v.versions[converter.FromVersion], v.versions[converter.ToVersion]
	if from.schema == nil || to.schema == nil {
		return // The schemas' own errors are reported.
	}
	path := v.path.Index(i)
	rules := checkedRules{edge: newEdge(from, to, v.tables), path: path.Child("rules"), variablesPath: path.Child("variables")}
	old := v.oldConverter(converter)
	before := len(v.errs)
	v.errs = append(v.errs, rules.checkVariables(converter.Variables, func(variable v1.ConversionVariable) bool {
		return old != nil && slices.Contains(old.Variables, variable)
	})...)
	for j := range converter.Rules {
		if len(v.errs) >= maxErrors {
			break // Each error repeats a part of a rule.
		}
		origin := environment.NewExpressions
		if old != nil && slices.Contains(old.Rules, converter.Rules[j]) {
			origin = environment.StoredExpressions
		}
		v.errs = append(v.errs, rules.check(j, &converter.Rules[j], origin)...)
	}
	if len(v.errs) > before {
		return // A rule with an error could set or read any field.
	}
	v.errs = append(v.errs, rules.checkCosts()...)
	v.errs = append(v.errs, rules.checkRetypedFields()...)
	v.errs = append(v.errs, rules.checkReplacedLists()...)
	if len(v.errs) == before {
		v.warnings = append(v.warnings, rules.unread()...)
		v.warnings = append(v.warnings, rules.overwritten()...)
		v.warnings = append(v.warnings, rules.unguarded()...)
		v.warnings = append(v.warnings, rules.replacedMetadata()...)
		v.warnings = append(v.warnings, rules.openFieldWarnings()...)
		v.warnings = append(v.warnings, rules.losses()...)
		v.warnings = append(v.warnings, rules.costWarnings()...)
	}
}

const (
	// maxConverters bounds the converters of a CustomResourceDefinition.
	maxConverters = 100
	// maxAllRules bounds the rules and variables of all converters. Checking one takes about a
	// millisecond.
	maxAllRules = 2000
	// maxErrors bounds the errors of rules.
	maxErrors = 20
	// maxChainErrors bounds the pairs of versions for which errors are returned.
	maxChainErrors = 10
)

// checkChains checks that every pair of versions has one shortest chain of converters.
func (v *validator) checkChains() {
	if len(v.spec.Converters) == 0 && len(v.names) > 1 {
		v.errs = append(v.errs, field.Required(v.path, "the strategy ConversionRules needs a converter for each pair of versions, or chains of converters; 'rules: []' keeps all fields that both versions have"))
		return
	}
	g := newGraph(v.spec)
	var errs field.ErrorList
	for _, from := range v.names {
		chains := g.chains(from)
		for _, to := range v.names {
			if from == to {
				continue
			}
			switch found := chains[to]; len(found) {
			case 0:
				errs = append(errs, field.Required(v.path, fmt.Sprintf("no converter, and no chain of converters, leads from %s to %s: "+
					"add a converter with fromVersion %s and toVersion %s; 'rules: []' keeps all fields that both versions have", from, to, from, to)))
			case 2:
				errs = append(errs, field.Invalid(v.path, pair{from, to}.String(), fmt.Sprintf("several shortest chains of converters lead from %s to %s: %s and %s. "+
					"Add a converter with fromVersion %s and toVersion %s, or remove one of the chains", from, to, found[0], found[1], from, to)))
			}
		}
	}
	if len(errs) > maxChainErrors {
		more := len(errs) - maxChainErrors
		errs = append(errs[:maxChainErrors], field.Required(v.path, fmt.Sprintf("%d more pairs of versions have no converter", more)))
	}
	v.errs = append(v.errs, errs...)
}
