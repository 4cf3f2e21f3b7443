// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/rulepath"
	apiextensionsv1 "celador.io/api/apiextensions/v1"
	celadorapiextensions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// A ruleGroup holds expressions of the pages about custom resources that share a definition. See
// testdata/customresources.yaml.
type ruleGroup struct {
	Fields    map[string]any
	Required  []string
	Variables []apiextensionsv1.ConversionVariable
	Tables    []apiextensionsv1.ConversionTable
	Block     string
	Converts  []ruleResult
	Rules     []shownRule
}

// A shownRule is an expression on a page.
type shownRule struct {
	Rule, Within, Scope, Field, Shown string
	Returns                           map[string]any
	// Refused and Warns are parts of the error or warning of the server.
	Refused, Warns string
	Converts       []ruleResult
}

// A ruleResult is the result for one object.
type ruleResult struct {
	In, Out     any
	Annotations map[string]string
	From, Fails string
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	// example matches the code spans that are expressions, apart from those that are abbreviated.
	example = regexp.MustCompile(`self\.[a-z?]|(variables|tables|inverted)\.[a-z]|Object\.|\('|\([0-9]`)
	// placeholders are names of what expressions read.
	placeholders = []string{"self.metadata", "variables.name", "tables.name", "inverted.name"}
	// others are sections with expressions of other kinds: the mistakes in messages of the server,
	// which the registry of definitions tests, and validation rules.
	others = []string{"Messages about wrong rules", "Errors of conversions", "Validation rules", "Differences from Kubernetes"}
)

// TestExpressionsOfCustomResources compiles and evaluates all conversion rules and default
// expressions on the pages about custom resources.
func TestExpressionsOfCustomResources(t *testing.T) {
	var groups []ruleGroup
	if err := yaml.UnmarshalStrict([]byte(read(t, "testdata/customresources.yaml")), &groups); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("custom-resources*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]map[string]any{}
	shown := map[string][]string{}
	for _, path := range paths {
		section := ""
		page := read(t, path)
		for _, block := range fence.FindAllStringSubmatch(page, -1) {
			var values map[string]any
			if err := yaml.UnmarshalStrict([]byte(block[1]), &values); err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(block[1], ":")
			if blocks[name] != nil {
				t.Errorf("%s: several blocks begin with %s", path, name)
			}
			blocks[name] = values
		}
		for line := range strings.Lines(page) {
			if title := heading.FindStringSubmatch(line); title != nil {
				section = title[1]
			}
			for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(others, section) {
					shown[span[1]] = append(shown[span[1]], line)
				}
			}
		}
	}
	tested := map[string]bool{}
	for _, group := range groups {
		if group.Block != "" {
			tested[group.Block] = true
			t.Run(group.Block, func(t *testing.T) { group.testBlock(t, blocks[group.Block]) })
		}
		for _, rule := range group.Rules {
			tested[rule.Rule] = true
			t.Run(rule.Rule, func(t *testing.T) {
				if !slices.ContainsFunc(shown[rule.Rule], func(line string) bool { return strings.Contains(line, rule.Shown) }) {
					t.Errorf("no page shows it in a line with %q", rule.Shown)
				}
				group.testRule(t, rule)
			})
		}
	}
	for name := range blocks {
		if !tested[name] {
			t.Errorf("testdata/customresources.yaml has no case for the YAML that begins with %q", name)
		}
	}
	for span := range shown {
		if example.MatchString(span) && !strings.Contains(span, "…") && !slices.Contains(placeholders, span) && !tested[span] {
			t.Errorf("testdata/customresources.yaml has no case for %q", span)
		}
	}
}

// testRule tests a definition with one conversion rule.
func (g *ruleGroup) testRule(t *testing.T, shown shownRule) {
	fields := map[string]any{}
	for name, schema := range g.Fields {
		fields[name] = schema
	}
	rule := apiextensionsv1.ConversionRule{Rule: shown.Rule, Scope: shown.Scope, Field: shown.Field}
	if shown.Within != "" {
		rule.Rule = fmt.Sprintf(shown.Within, shown.Rule)
	}
	path := rule.Field
	if rule.Field == "" {
		fields["out"], rule.Field, path = shown.Returns, "out", "spec.out"
		if rule.Scope == "" {
			rule.Field = path
		}
	}
	d := newDefinition(t, g.spec(fields), g.Required, &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.ConversionRules,
		Tables:   g.Tables,
		Converters: []apiextensionsv1.Converter{
			{FromVersion: "v1beta1", ToVersion: "v1", Variables: g.Variables, Rules: []apiextensionsv1.ConversionRule{rule}},
			{FromVersion: "v1", ToVersion: "v1beta1"},
		},
	})
	errs, warnings := d.validate()
	if text := fmt.Sprint(errs); len(errs) > 0 != (shown.Refused != "") || !strings.Contains(text, shown.Refused) {
		t.Fatalf("got errors %s, want %q", text, shown.Refused)
	}
	if text := strings.Join(warnings, "\n"); len(warnings) > 0 != (shown.Warns != "") || !strings.Contains(text, shown.Warns) {
		t.Errorf("got warnings %s, want %q", text, shown.Warns)
	}
	at, err := rulepath.ParseField(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range shown.Converts {
		d.test(t, result, at)
	}
}

// testBlock tests a definition with the YAML of a page, which is that of a schema or has conversion
// rules.
func (g *ruleGroup) testBlock(t *testing.T, block map[string]any) {
	var converts apiextensionsv1.CustomResourceConversion
	spec := g.spec(g.Fields)
	decode := func(from, into any) {
		t.Helper()
		data, err := json.Marshal(from)
		if err == nil {
			err = yaml.UnmarshalStrict(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	switch g.Block {
	case "conversion":
		decode(block[g.Block], &converts)
	case "converters":
		decode(block, &converts)
	default:
		for keyword, value := range block[g.Block].(map[string]any) {
			spec[keyword] = value
		}
	}
	converts.Strategy = apiextensionsv1.ConversionRules
	for _, pair := range [][2]string{{"v1beta1", "v1"}, {"v1", "v1beta1"}} {
		if !slices.ContainsFunc(converts.Converters, func(c apiextensionsv1.Converter) bool { return c.FromVersion == pair[0] }) {
			converts.Converters = append(converts.Converters, apiextensionsv1.Converter{FromVersion: pair[0], ToVersion: pair[1]})
		}
	}
	d := newDefinition(t, spec, g.Required, &converts)
	if errs, warnings := d.validate(); len(errs) > 0 || len(warnings) > 0 {
		t.Fatalf("got errors %v and warnings %q", errs, warnings)
	}
	for _, result := range g.Converts {
		d.test(t, result, rulepath.Path{{Name: "spec"}})
	}
}

// spec returns the schema of spec.
func (g *ruleGroup) spec(fields map[string]any) map[string]any {
	required := slices.DeleteFunc(slices.Clone(g.Required), func(name string) bool { return name == "spec" })
	spec := map[string]any{"type": "object", "properties": fields}
	if len(required) > 0 {
		spec["required"] = required
	}
	return spec
}

// A shownDefinition is a definition that a page or an example shows.
type shownDefinition struct {
	*celadorapiextensions.CustomResourceDefinition
	conversion *conversion.CRDSpec
}

// newDefinition returns a definition with the versions v1beta1 and v1, whose schemas are equal.
func newDefinition(t *testing.T, spec map[string]any, required []string, converts *apiextensionsv1.CustomResourceConversion) shownDefinition {
	t.Helper()
	root := map[string]any{"type": "object", "properties": map[string]any{"spec": spec}}
	if slices.Contains(required, "spec") {
		root["required"] = []string{"spec"}
	}
	version := func(name string) map[string]any {
		return map[string]any{"name": name, "served": true, "storage": name == "v1", "schema": map[string]any{"openAPIV3Schema": root}}
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "demos.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "demos", "singular": "demo", "kind": "Demo", "listKind": "DemoList"},
			"versions": []any{version("v1beta1"), version("v1")}, "conversion": converts,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return decodeDefinition(t, manifest)
}

func decodeDefinition(t *testing.T, manifest []byte) shownDefinition {
	t.Helper()
	decoded, err := runtime.Decode(scheme.Codecs.UniversalDecoder(apiextensions.SchemeGroupVersion), manifest)
	if err != nil {
		t.Fatal(err)
	}
	d := shownDefinition{decoded.(*celadorapiextensions.CustomResourceDefinition), &conversion.CRDSpec{}}
	d.conversion.Kind = schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
	if d.Expressions == nil {
		d.Expressions = &celadorapiextensions.ExpressionFields{}
	}
	d.conversion.Converters, d.conversion.Tables = d.Expressions.Converters, d.Expressions.Tables
	for _, version := range d.Spec.Versions {
		if version.Storage {
			d.Status.StoredVersions = []string{version.Name}
		}
		v, err := apiextensions.GetSchemaForVersion(&d.CustomResourceDefinition.CustomResourceDefinition, version.Name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := structuralschema.NewStructural(v.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		d.conversion.Versions = append(d.conversion.Versions, conversion.Version{Name: version.Name, Schema: s})
	}
	return d
}

// TestDefinitionsOfExamples checks that the definitions of the examples are accepted, and that the
// server does not warn about rules that fail for some objects.
func TestDefinitionsOfExamples(t *testing.T) {
	paths, err := filepath.Glob("../examples/crd-*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range paths {
		for document := range strings.SplitSeq(read(t, path), "\n---\n") {
			if !strings.Contains(document, "kind: CustomResourceDefinition\n") {
				continue
			}
			found++
			manifest, err := yaml.YAMLToJSON([]byte(document))
			if err != nil {
				t.Fatal(err)
			}
			errs, warnings := decodeDefinition(t, manifest).validate()
			for _, err := range errs {
				t.Errorf("%s: %v", path, err)
			}
			for _, warning := range warnings {
				if strings.Contains(warning, "lack") {
					t.Errorf("%s: %s", path, warning)
				}
			}
		}
	}
	if found < 7 {
		t.Errorf("found only %d definitions in %q", found, paths)
	}
}

// validate returns the errors and warnings of the server.
func (d shownDefinition) validate() (errs field.ErrorList, warnings []string) {
	errs = validation.ValidateCustomResourceDefinition(context.Background(), &d.CustomResourceDefinition.CustomResourceDefinition)
	if d.Expressions.ConversionRules {
		converts, more := conversion.Validate(field.NewPath("spec", "conversion"), d.conversion, nil)
		errs, warnings = append(errs, converts...), append(warnings, more...)
	}
	for i, version := range d.conversion.Versions {
		defaults, more := defaulting.Validate(version.Schema, d.Expressions.Defaults[version.Name], nil, false, field.NewPath("spec", "versions").Index(i))
		errs, warnings = append(errs, defaults...), append(warnings, more...)
	}
	return errs, warnings
}

// test converts an object to the other version, sets its defaults, and compares the value at a
// path.
func (d shownDefinition) test(t *testing.T, result ruleResult, at rulepath.Path) {
	t.Helper()
	from, to := "v1beta1", "v1"
	if result.From == to {
		from, to = to, from
	}
	content := map[string]any{"apiVersion": "example.com/" + from, "kind": "Demo", "metadata": map[string]any{"name": "demo", "namespace": "default"}}
	if result.In != nil {
		content["spec"] = result.In
	}
	if result.Annotations != nil {
		content["metadata"].(map[string]any)["annotations"] = result.Annotations
	}
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	converted, err := conversion.New(d.conversion).Convert(t.Context(), object, to)
	if result.Fails != "" {
		if err == nil || !strings.Contains(err.Error(), result.Fails) {
			t.Errorf("%s: got error %v, want %q", data, err, result.Fails)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", data, err)
		return
	}
	// The versions have the same schema.
	target := d.conversion.Versions[0].Schema
	pruning.Prune(converted.Object, target, true)
	defaulting.New(d.Name, target, d.Expressions.Defaults[to]).Default(converted.Object)
	got, _, err := at.Get(converted.Object)
	if err != nil {
		t.Error(err)
	}
	if got, want := text(t, got), text(t, result.Out); got != want {
		t.Errorf("%s: got %s, want %s", data, got, want)
	}
}

// text returns the JSON text of a value.
func text(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
