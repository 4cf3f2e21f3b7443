// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// withoutDefaults implements runtime.ObjectDefaulter.
type withoutDefaults struct{}

func (withoutDefaults) Default(runtime.Object) {}

// An applying applies widgets. Conversion moves spec.old of v1 to spec.new of v2, and back.
type applying struct {
	t         *testing.T
	converter *rulesConverter
	defaulter runtime.ObjectDefaulter
}

// newApplying returns an applying whose rules are "" for the whole value of a field, or read the
// field with the text before and after.
func newApplying(t *testing.T, before, after string) applying {
	t.Helper()
	return newApplyingSchemas(t, map[string]apiextensionsv1.JSONSchemaProps{"old": {Type: "string"}}, map[string]apiextensionsv1.JSONSchemaProps{"new": {Type: "string"}},
		v1.ConversionRule{Field: "spec.new", Rule: before + "old" + after}, v1.ConversionRule{Field: "spec.old", Rule: before + "new" + after})
}

// newApplyingSchemas returns an applying for two versions with fields of spec, and a rule for each
// direction.
func newApplyingSchemas(t *testing.T, inV1, inV2 map[string]apiextensionsv1.JSONSchemaProps, toV2, toV1 v1.ConversionRule) applying {
	t.Helper()
	return newApplyingRules(t, inV1, inV2, []v1.ConversionRule{toV2}, []v1.ConversionRule{toV1})
}

func newApplyingRules(t *testing.T, inV1, inV2 map[string]apiextensionsv1.JSONSchemaProps, toV2, toV1 []v1.ConversionRule) applying {
	t.Helper()
	s, err := schemas.New(crdtest.New(crdtest.Stored(crdtest.Version("v1", inV1)), crdtest.Version("v2", inV2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	converter := newRules(t, nil).safe.(*rulesConverter)
	converter.schemas = s
	converter.uncoerced = conversion.New(&conversion.CRDSpec{
		Kind:     schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Versions: []conversion.Version{{Name: "v1", Schema: s.Structural("v1")}, {Name: "v2", Schema: s.Structural("v2")}},
		Converters: []v1.Converter{
			{FromVersion: "v1", ToVersion: "v2", Rules: toV2},
			{FromVersion: "v2", ToVersion: "v1", Rules: toV1},
		},
	})
	return applying{t, converter, s.Defaulter(withoutDefaults{})}
}

// apply returns the result of a request in a version for a live object, which it converts first,
// and what the converter refuses.
func (a applying) apply(manager, version string, live *unstructured.Unstructured, spec map[string]any) (*unstructured.Unstructured, *conversion.Error, error) {
	a.t.Helper()
	gvk := schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"}
	converter := &applyConverter{rulesConverter: a.converter, defaulter: a.defaulter}
	converter.reset()
	fields, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), converter, withoutDefaults{}, codecs.Creater{}, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	inVersion, err := a.converter.ConvertToVersion(live, gvk.GroupVersion())
	if err != nil {
		a.t.Fatal(err)
	}
	applied, err := fields.Apply(inVersion, newWidget(version, "w", spec), manager, true)
	if err != nil {
		return nil, converter.refusal, err
	}
	return applied.(*unstructured.Unstructured), converter.refusal, nil
}

// A manager moves its manifest to another version. Field managers then convert the object without
// the fields that the manager owned, and rules do not find what they read.
func TestApplyInAnotherVersion(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"guarded":         {"self.?spec.?", ""},
		"not guarded":     {"self.spec.", ""},
		"other functions": {"'b' + string(10 / size(self.spec.", ") * 0).substring(1)"},
		"absent as empty": {"['', 'b', '', '', '', '', '', '', 'b'][size(self.?spec.?", ".orValue('123456789'))]"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApplying(t, test.before, test.after)
			empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
			applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "a"})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []struct{ version, field string }{{"v2", "new"}, {"v1", "old"}, {"v2", "new"}} {
				applied, _, err = a.apply("manager", step.version, applied, map[string]any{step.field: "b"})
				if err != nil {
					t.Fatalf("%s: %v", step.version, err)
				}
				if diff := cmp.Diff(map[string]any{step.field: "b"}, applied.Object["spec"]); diff != "" {
					t.Errorf("%s: spec (-want +got):\n%s", step.version, diff)
				}
			}
		})
	}
}

// A rule that fails because of a value must not drop the value from the object of the request.
func TestApplyValueThatDoesNotConvert(t *testing.T) {
	a := newApplying(t, "{'a': 'a', 'b': 'b'}[self.spec.", "]")
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "a"})
	if err != nil {
		t.Fatal(err)
	}
	_, refusal, err := a.apply("manager", "v2", applied, map[string]any{"new": "wrong"})
	if err == nil || refusal == nil || !strings.Contains(refusal.Error(), "from v2 to v1: spec.conversion.converters[1].rules[0]") {
		t.Errorf("got error %v and refusal %v, want that of the rule", err, refusal)
	}

	// The same holds for the version of another manager.
	_, refusal, err = a.apply("other", "v2", applied, map[string]any{"new": "wrong"})
	if err == nil || refusal == nil || !strings.Contains(refusal.Error(), "from v2 to v1: spec.conversion.converters[1].rules[0]") {
		t.Errorf("got error %v and refusal %v, want that of the rule", err, refusal)
	}
}

// v2 has two names for the value of v1, and conversion returns one of them. The value of a manager
// that applies the other one is not lost.
func TestApplyAlias(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	a := newApplyingSchemas(t, map[string]apiextensionsv1.JSONSchemaProps{"old": text}, map[string]apiextensionsv1.JSONSchemaProps{"new": text, "alias": text},
		v1.ConversionRule{Field: "spec.new", Rule: "self.?spec.?old"}, v1.ConversionRule{Field: "spec.old", Rule: "self.?spec.?alias.or(self.?spec.?new)"})
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "a"})
	if err != nil {
		t.Fatal(err)
	}
	applied, _, err = a.apply("manager", "v2", applied, map[string]any{"alias": "b"})
	if err != nil {
		t.Fatal(err)
	}
	inV1, err := a.converter.ConvertToVersion(applied, v1Version)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"old": "b"}, inV1.(*unstructured.Unstructured).Object["spec"]); diff != "" {
		t.Errorf("spec in v1 (-want +got):\n%s", diff)
	}
}

// An empty object that a manager applies stays when the manager changes the version, with the
// fields of others in it.
func TestApplyEmptyObject(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	a := newApplyingSchemas(t, map[string]apiextensionsv1.JSONSchemaProps{"old": text, "kept": text}, map[string]apiextensionsv1.JSONSchemaProps{"new": text, "kept": text},
		v1.ConversionRule{Field: "spec.new", Rule: "self.?spec.?old"}, v1.ConversionRule{Field: "spec.old", Rule: "self.?spec.?new"})
	applied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	for _, version := range []string{"v1", "v2", "v1", "v1"} {
		var err error
		if applied, _, err = a.apply("manager", version, applied, map[string]any{}); err != nil {
			t.Fatal(err)
		}
		spec, ok := applied.Object["spec"].(map[string]any)
		if !ok {
			t.Fatalf("%s: got spec %v, want an object", version, applied.Object["spec"])
		}
		spec["kept"] = "x" // a default, which nobody owns
	}
}

// An object whose fields a manager gives up with its version is gone, and not empty.
func TestApplyGivesUpObject(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	object := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": text}}
	texts := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &text}}
	a := newApplyingSchemas(t, map[string]apiextensionsv1.JSONSchemaProps{"old": text, "object": object, "texts": texts}, map[string]apiextensionsv1.JSONSchemaProps{"new": text, "object": object, "texts": texts},
		v1.ConversionRule{Field: "spec.new", Rule: "self.?spec.?old"}, v1.ConversionRule{Field: "spec.old", Rule: "self.?spec.?new"})
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "a", "object": map[string]any{"a": "x"}, "texts": map[string]any{"b": "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if applied, _, err = a.apply("manager", "v2", applied, map[string]any{"new": "a"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"new": "a"}, applied.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

// Rules read defaults of their version, which field managers do not set.
func TestApplyDefaults(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	unit := apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"s"`)}}
	a := newApplyingSchemas(t, map[string]apiextensionsv1.JSONSchemaProps{"old": text}, map[string]apiextensionsv1.JSONSchemaProps{"new": text, "unit": unit},
		v1.ConversionRule{Field: "spec.new", Rule: "self.spec.old.replace('s', '')"}, v1.ConversionRule{Field: "spec.old", Rule: "self.spec.new + self.spec.unit"})
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "1s"})
	if err != nil {
		t.Fatal(err)
	}
	applied, refusal, err := a.apply("manager", "v2", applied, map[string]any{"new": "2"})
	if err != nil || refusal != nil {
		t.Fatalf("got error %v and refusal %v", err, refusal)
	}
	if got, _, _ := unstructured.NestedString(applied.Object, "spec", "new"); got != "2" {
		t.Errorf("got %q, want what is applied", got)
	}
}

// A manager gives up fields in another version. A rule needs the default of one of them to keep the
// field of another manager; the defaults must not keep what is given up.
func TestApplyGivesUpDefaults(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	withDefault := func(value string) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"` + value + `"`)}}
	}
	a := newApplyingRules(t,
		map[string]apiextensionsv1.JSONSchemaProps{"old": text, "unit": withDefault("s"), "mode": withDefault("fast"), "note": text},
		map[string]apiextensionsv1.JSONSchemaProps{"new": text, "scale": text, "mode": text, "note": text},
		[]v1.ConversionRule{{Field: "spec.new", Rule: "self.spec.old + self.spec.unit"}, {Field: "spec.scale", Rule: "'x' + self.spec.unit"}},
		[]v1.ConversionRule{{Field: "spec.old", Rule: "self.?spec.?new.optMap(n, n.substring(0, 1))"}, {Field: "spec.unit", Rule: "self.?spec.?scale.optMap(s, s.substring(1))"}})
	live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	for _, step := range []struct {
		manager, version string
		spec, want       map[string]any
	}{
		{"a", "v1", map[string]any{"unit": "m", "mode": "slow"}, map[string]any{"unit": "m", "mode": "slow"}},
		{"b", "v1", map[string]any{"old": "1"}, map[string]any{"old": "1", "unit": "m", "mode": "slow"}},
		{"a", "v2", map[string]any{"note": "n"}, map[string]any{"new": "1s", "note": "n"}},
	} {
		applied, refusal, err := a.apply(step.manager, step.version, live, step.spec)
		if err != nil || refusal != nil {
			t.Fatalf("%s in %s: got error %v and refusal %v", step.manager, step.version, err, refusal)
		}
		if diff := cmp.Diff(step.want, applied.Object["spec"]); diff != "" {
			t.Errorf("%s in %s: spec (-want +got):\n%s", step.manager, step.version, diff)
		}
		live = applied
	}
}

// A live object that does not convert to the version of another manager can be mended.
func TestApplyMendsValueThatDoesNotConvert(t *testing.T) {
	a := newApplying(t, "{'a': 'a', 'b': 'b'}[self.spec.", "]")
	empty := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	applied, _, err := a.apply("manager", "v1", empty, map[string]any{"old": "a"})
	if err != nil {
		t.Fatal(err)
	}
	inV2, err := a.converter.ConvertToVersion(applied, v2Version)
	if err != nil {
		t.Fatal(err)
	}
	broken := inV2.(*unstructured.Unstructured)
	broken.Object["spec"] = map[string]any{"new": "wrong"}
	applied, refusal, err := a.apply("other", "v2", broken, map[string]any{"new": "b"})
	if err != nil || refusal != nil {
		t.Fatalf("got error %v and refusal %v", err, refusal)
	}
	if diff := cmp.Diff(map[string]any{"new": "b"}, applied.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}
