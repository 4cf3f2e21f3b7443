// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	_ "embed"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

//go:embed samples.yaml
var samplesFile []byte

// Todo marks the places in a suite that its author has to fill in.
const Todo = "TODO"

// samples returns an example of each kind of objects for which skeletons can be written: the
// built-in kinds in samples.yaml, and the kinds of the CustomResourceDefinitions among the objects.
func samples(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	documents, err := manifest.Parse("samples.yaml", samplesFile)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, document := range documents {
		object, err := document.Object()
		if err != nil {
			return nil, err
		}
		all = append(all, object)
	}
	for _, object := range objects {
		if object.GetKind() == cluster.CRDKind {
			all = append(all, customSamples(object)...)
		}
	}
	return all, nil
}

// A start is where the search for the objects of cases begins: a sample of a resource that a rule
// of the policy matches. If the rule has resourceNames, the sample has the first of these names.
type start struct {
	rule   admissionv1.NamedRuleWithOperations
	path   string // of the resource, such as pods/exec
	sample *unstructured.Unstructured
}

// maxStarts is the maximum number of starts of a policy. A rule may match all resources, and each
// start costs many requests.
const maxStarts = 12

// startsOf returns a start for each resource that the rules match, if one of the samples in all is
// of its kind. If there is no such sample, it returns one start, with an object whose kind the
// author has to fill in. The sample for a subresource is that of its resource.
func startsOf(rules []admissionv1.NamedRuleWithOperations, all, definitions []*unstructured.Unstructured) []start {
	var starts []start
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			name, _, _ := strings.Cut(resource, "/")
			for _, object := range all {
				kind := object.GroupVersionKind()
				if contains(rule.APIGroups, kind.Group) && contains(rule.APIVersions, kind.Version) && (name == "*" || name == resourceOf(kind, definitions)) && len(starts) < maxStarts {
					sample := object.DeepCopy()
					if len(rule.ResourceNames) > 0 {
						sample.SetName(rule.ResourceNames[0])
					}
					starts = append(starts, start{rule, resource, sample})
				}
			}
		}
	}
	if len(starts) > 0 {
		return starts
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	version := schema.GroupVersion{Version: "v1"}
	found := start{sample: object}
	if len(rules) > 0 {
		found.rule = rules[0]
		if len(rules[0].APIGroups) > 0 && len(rules[0].APIVersions) > 0 {
			version = schema.GroupVersion{Group: rules[0].APIGroups[0], Version: rules[0].APIVersions[0]}
		}
		if len(rules[0].Resources) > 0 {
			found.path = rules[0].Resources[0]
		}
	}
	object.SetAPIVersion(version.String())
	object.SetKind(Todo)
	object.SetName("example")
	return []start{found}
}

func contains(values []string, value string) bool {
	return slices.Contains(values, "*") || slices.Contains(values, value)
}

// resourceOf returns the resource of a kind: the plural in its CustomResourceDefinition or, if
// definitions has none for the kind, the guessed plural of the kind's name.
func resourceOf(kind schema.GroupVersionKind, definitions []*unstructured.Unstructured) string {
	for _, definition := range definitions {
		if plural, found, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural"); found && cluster.CustomKind(definition) == kind.GroupKind() {
			return plural
		}
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

// customSamples returns an object of each served version of a CustomResourceDefinition, with the
// fields that the schema of the version requires.
func customSamples(definition *unstructured.Unstructured) []*unstructured.Unstructured {
	kind := cluster.CustomKind(definition)
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var all []*unstructured.Unstructured
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if version["served"] != true {
			continue
		}
		name, _ := version["name"].(string)
		root, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
		content, _ := valueOf(root).(map[string]any)
		if content == nil {
			content = map[string]any{}
		}
		object := &unstructured.Unstructured{Object: content}
		object.SetGroupVersionKind(kind.WithVersion(name))
		object.SetName("example")
		all = append(all, object)
	}
	return all
}

// valueOf returns a value for a schema: its default or the first value of its enum or, without
// them, a value of its type with the required fields. Of other constraints, it regards only
// minimum, pattern, minLength and, with one item, minItems.
func valueOf(s map[string]any) any {
	if value, found := s["default"]; found {
		return value
	}
	if values, _ := s["enum"].([]any); len(values) > 0 {
		return values[0]
	}
	switch s["type"] {
	case "object":
		value := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			field, _ := name.(string)
			property, _ := properties[field].(map[string]any)
			value[field] = valueOf(property)
		}
		return value
	case "array":
		if least, _ := s["minItems"].(int64); least > 0 {
			items, _ := s["items"].(map[string]any)
			return []any{valueOf(items)}
		}
		return []any{}
	case "integer", "number":
		if least, found := s["minimum"]; found {
			return least
		}
		return int64(1)
	case "boolean":
		return false
	}
	pattern, _ := s["pattern"].(string)
	length, _ := s["minLength"].(int64)
	return textOf(pattern, int(min(length, maxLength)))
}

const (
	// maxLength is the length up to which texts satisfy minLength. Longer ones help nobody.
	maxLength = 4096
	// maxRepeats limits how often textOf repeats the parts of a pattern.
	maxRepeats = 256
	// maxText is the length in bytes above which parts are repeated only as often as they must be.
	maxText = 4096
)

// textOf returns a text of at least the given number of characters that matches a pattern, or just
// x's if it finds none.
func textOf(pattern string, length int) string {
	length = max(length, 1)
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil && pattern != "" {
		for repeats := 0; repeats <= min(length, maxRepeats); repeats++ {
			text := matching(parsed, repeats)
			if matched, _ := regexp.MatchString(pattern, text); matched && utf8.RuneCountInString(text) >= length {
				return text
			}
		}
	}
	return strings.Repeat("x", length)
}

// matching returns a text that matches a pattern, whose anchors it ignores. A part that the pattern
// repeats occurs repeats times, or as close to that as the pattern allows. If the text would be
// longer than maxText, it occurs only as often as it must.
func matching(pattern *syntax.Regexp, repeats int) string {
	least, most := 1, 1
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		return runeOf(pattern.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpAlternate:
		return matching(pattern.Sub[0], repeats)
	case syntax.OpStar:
		least, most = 0, repeats
	case syntax.OpPlus:
		most = repeats
	case syntax.OpQuest:
		least = 0
	case syntax.OpRepeat:
		if least, most = pattern.Min, pattern.Max; most < 0 {
			most = repeats
		}
	}
	var text strings.Builder
	for _, part := range pattern.Sub {
		text.WriteString(matching(part, repeats))
	}
	if text.Len()*repeats > maxText {
		most = least
	}
	return strings.Repeat(text.String(), max(least, min(most, repeats)))
}

// runeOf returns a character of a class, which is a list of the first and last runes of its ranges.
// It prefers one that readers see.
func runeOf(class []rune) string {
	for _, wanted := range "xX0a-_.!" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return string(wanted)
			}
		}
	}
	return string(class[:min(len(class), 1)])
}
