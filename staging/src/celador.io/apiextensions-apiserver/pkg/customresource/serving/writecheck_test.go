// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamconversion "k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// newChecked returns a CustomResourceDefinition with the versions v1, which is stored, v2 and v3.
// They have the same schema. The keys of rules are pairs of versions, one of which is v1.
func newChecked(t *testing.T, rules map[string][]v1.ConversionRule) *build {
	t.Helper()
	properties := func() map[string]apiextensionsv1.JSONSchemaProps {
		item := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": {Type: "string"}}}
		return map[string]apiextensionsv1.JSONSchemaProps{
			"a": {Type: "string"}, "list": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}},
		}
	}
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", properties())), crdtest.Version("v2", properties()), crdtest.Version("v3", properties()))
	crd.Spec.Conversion.Strategy = "ConversionRules"
	expressions := &apiextensions.ExpressionFields{ConversionRules: true}
	for _, pair := range []string{"v1 v2", "v2 v1", "v1 v3", "v3 v1"} {
		from, to, _ := strings.Cut(pair, " ")
		expressions.Converters = append(expressions.Converters, v1.Converter{FromVersion: from, ToVersion: to, Rules: rules[pair]})
	}
	factory, err := upstreamconversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(),
		func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	b, err := (&Builder{Converters: factory}).newBuild(t.Context(), crd, expressions)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriteCheck(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	rules := map[string][]v1.ConversionRule{
		"v1 v2": {{Field: "spec.a", Rule: "{'x': 'x'}[self.spec.a]"}},
		"v2 v1": {{Field: "spec.a", Rule: "{'x': 'x', 'broken': 'gone'}[self.spec.a]"}},
		"v1 v3": {{Scope: "spec.list[*]", Field: "name", Rule: "{'n': 'n'}[self.name]"}},
	}
	b := newChecked(t, rules)
	item := func(name string) map[string]any { return map[string]any{"name": name} }
	for name, test := range map[string]struct {
		version   string
		spec, old map[string]any
		want      []string
	}{
		"valid in v1": {version: "v1", spec: map[string]any{"a": "x", "list": []any{item("n")}}},
		"valid in v2": {version: "v2", spec: map[string]any{"a": "x"}},
		"from the storage version": {
			version: "v1", spec: map[string]any{"a": "w"},
			want: []string{`spec.a: cannot convert Widget "default/w" from v1 to v2: spec.conversion.converters[0].rules[0] (field "spec.a"): no such key: w`},
		},
		"to the storage version": {
			version: "v2", spec: map[string]any{"a": "w"},
			want: []string{`spec.a: cannot convert Widget "default/w" from v2 to v1: spec.conversion.converters[1].rules[0] (field "spec.a"): no such key: w`},
		},
		"several versions": {
			version: "v1", spec: map[string]any{"list": []any{item("n"), item("m")}},
			want: []string{
				`spec.a: cannot convert Widget "default/w" from v1 to v2: spec.conversion.converters[0].rules[0] (field "spec.a"): no such key: a`,
				`spec.list[1].name: cannot convert Widget "default/w" from v1 to v3: spec.conversion.converters[2].rules[0] (scope "spec.list[*]", field "name", at spec.list[1]): no such key: m`,
			},
		},
		"a version by way of the storage version": {
			version: "v2", spec: map[string]any{"a": "x", "list": []any{item("m")}},
			want: []string{`spec.list[0].name: cannot convert Widget "default/w" from v1 to v3: spec.conversion.converters[2].rules[0] (scope "spec.list[*]", field "name", at spec.list[0]): no such key: m`},
		},
		"an update that mends nothing": {version: "v1", spec: map[string]any{"a": "w"}, old: map[string]any{"a": "v"}},
		"an update that breaks another version": {
			version: "v1", spec: map[string]any{"a": "w", "list": []any{item("m")}}, old: map[string]any{"a": "v"},
			want: []string{`spec.list[0].name: cannot convert Widget "default/w" from v1 to v3: spec.conversion.converters[2].rules[0] (scope "spec.list[*]", field "name", at spec.list[0]): no such key: m`},
		},
		"an update whose response could not be sent": {
			version: "v2", spec: map[string]any{"a": "broken"}, old: map[string]any{"a": "broken"},
			want: []string{`spec.a: cannot convert Widget "default/w" from v1 to v2: spec.conversion.converters[0].rules[0] (field "spec.a"): no such key: gone`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := newWidget(test.version, "w", test.spec)
			before := object.DeepCopy()
			var old map[string]any
			if test.old != nil {
				old = newWidget(test.version, "w", test.old).Object
			}
			var got []string
			for _, err := range b.writeCheck(test.version).Validate(t.Context(), object.Object, old) {
				message, _, _ := strings.Cut(err.Detail, " (it is unset")
				message, _, _ = strings.Cut(message, " (the map")
				got = append(got, err.Field+": "+message)
				if err.Type != field.ErrorTypeInvalid {
					t.Errorf("got an error of type %s", err.Type)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Object, object.Object); diff != "" {
				t.Errorf("the object has changed:\n%s", diff)
			}
		})
	}
}

// Nothing is checked where objects cannot fail to convert, and no version twice.
func TestWriteCheckedVersions(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	rule := []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a"}}
	for name, test := range map[string]struct {
		rules map[string][]v1.ConversionRule
		want  map[string]string
	}{
		"no rules":    {nil, map[string]string{"v1": "none", "v2": "none", "v3": "none"}},
		"from stored": {map[string][]v1.ConversionRule{"v1 v2": rule}, map[string]string{"v1": "v2", "v2": "v2", "v3": "v2"}},
		"to stored":   {map[string][]v1.ConversionRule{"v3 v1": rule}, map[string]string{"v1": "none", "v2": "none", "v3": ""}},
	} {
		b := newChecked(t, test.rules)
		for version, want := range test.want {
			got := "none"
			if check := b.writeCheck(version); check != nil {
				var versions []string
				for _, served := range check.served {
					versions = append(versions, served.Version)
				}
				got = strings.Join(versions, " ")
			}
			if got != want {
				t.Errorf("%s: %s checks %q, want %q", name, version, got, want)
			}
		}
	}
}

// Faults of the CustomResourceDefinition refuse only requests in the versions that they concern.
func TestWriteCheckOfFaultyDefinition(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	b := newChecked(t, map[string][]v1.ConversionRule{"v1 v2": {{Field: "spec.a", Rule: "unknown()"}}})
	for version, want := range map[string]bool{"v1": false, "v2": true, "v3": false} {
		errs := b.writeCheck(version).Validate(t.Context(), newWidget(version, "w", nil).Object, nil)
		if (len(errs) > 0) != want || want && errs[0].Type != field.ErrorTypeInternal {
			t.Errorf("%s: got errors %v", version, errs)
		}
	}
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, false)
	if check := newChecked(t, nil).writeCheck("v1"); check != nil {
		t.Error("writes are checked while the gate is off")
	}
}

func TestRuleTarget(t *testing.T) {
	for want, rule := range map[string]conversion.RuleID{
		"spec.a":                    {Field: "spec.a"},
		"spec.b":                    {Field: ".spec.b"},
		"spec":                      {Scope: "spec"},
		"spec.list[3].name":         {Scope: "spec.list[*]", Field: "name", At: "spec.list[3]"},
		"spec['x']":                 {Scope: "spec", Field: "['x']"},
		(*field.Path)(nil).String(): {},
	} {
		if got := ruleTarget(&rule); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
