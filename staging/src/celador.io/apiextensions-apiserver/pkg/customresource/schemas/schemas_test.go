// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

type object = map[string]any

var properties = map[string]apiextensionsv1.JSONSchemaProps{
	"size":     {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("3")}},
	"color":    {Type: "string"},
	"nullable": {Type: "string", Nullable: true},
	"template": {Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: new(true)},
}

func newSchemas(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) *schemas.Schemas {
	t.Helper()
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", properties)), crdtest.Version("v2", nil))
	if change != nil {
		change(crd)
	}
	s, err := schemas.New(crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func widget(version string, fields object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: object{"apiVersion": "example.com/" + version, "kind": "Widget"}}
	for name, value := range fields {
		u.Object[name] = value
	}
	return u
}

// Schemas have embedded resources in properties, list items and map values, at any depth.
func TestCoerceEmbeddedResources(t *testing.T) {
	embedded := apiextensionsv1.JSONSchemaProps{Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: new(true)}
	list := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &embedded}}
	values := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &list}}
	for name, test := range map[string]struct {
		field apiextensionsv1.JSONSchemaProps
		// around returns the value of the field with a resource in it.
		around func(resource any) any
	}{
		"property":  {embedded, func(resource any) any { return resource }},
		"list item": {list, func(resource any) any { return []any{resource} }},
		"map value": {values, func(resource any) any { return object{"a": []any{resource}} }},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schemas.New(crdtest.New(crdtest.Stored(crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{"field": test.field}))), nil)
			if err != nil {
				t.Fatal(err)
			}
			of := func(metadata object) *unstructured.Unstructured {
				return widget("v1", object{"spec": object{"field": test.around(object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata})}})
			}
			actual, expected := of(object{"name": "p", "unknown": "x"}), of(object{"name": "p"})
			if _, err := s.Coerce(actual, schemas.Coercion{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(expected, actual); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCoerce(t *testing.T) {
	preserving := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.PreserveUnknownFields = true }
	malformed := object{"name": "w", "labels": object{"a": int64(5)}, "unknown": "x", "finalizers": "f"}
	for name, test := range map[string]struct {
		crd      func(*apiextensionsv1.CustomResourceDefinition)
		coercion schemas.Coercion
		in       *unstructured.Unstructured
		want     object // without type
		unknown  []string
		err      bool
	}{
		"unknown fields and nulls": {
			in:   widget("v1", object{"spec": object{"color": nil, "nullable": nil, "size": nil, "x": int64(1)}, "y": "z"}),
			want: object{"spec": object{"nullable": nil, "size": nil}},
		},
		"unknown fields are reported": {
			coercion: schemas.Coercion{ReportUnknownFields: true},
			in:       widget("v1", object{"metadata": object{"name": "w", "m": "x"}, "spec": object{"x": int64(1)}, "y": "z"}),
			want:     object{"metadata": object{"name": "w"}, "spec": object{}},
			unknown:  []string{"metadata.m", "spec.x", "y"},
		},
		"by the schema of the object's version": {
			in:   widget("v2", object{"spec": object{"size": int64(1)}}),
			want: object{"spec": object{}},
		},
		"preserveUnknownFields": {
			crd:  preserving,
			in:   widget("v1", object{"spec": object{"x": nil}, "y": "z"}),
			want: object{"spec": object{"x": nil}, "y": "z"},
		},
		"embedded resource": {
			in:   widget("v1", object{"spec": object{"template": object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "p", "m": "x"}, "spec": object{"any": true}}}}),
			want: object{"spec": object{"template": object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "p"}, "spec": object{"any": true}}}},
		},
		"malformed embedded metadata": {
			in:  widget("v1", object{"spec": object{"template": object{"apiVersion": "v1", "kind": "Pod", "metadata": "x"}}}),
			err: true,
		},
		"malformed metadata": {in: widget("v1", object{"metadata": malformed}), err: true},
		"malformed metadata in storage": {
			coercion: schemas.Coercion{Repair: true},
			in:       widget("v1", object{"metadata": malformed}),
			want:     object{"metadata": object{"name": "w", "generation": int64(1)}},
		},
		"generation in storage": {
			coercion: schemas.Coercion{Repair: true},
			in:       widget("v1", object{"metadata": object{"generation": int64(7)}}),
			want:     object{"metadata": object{"generation": int64(7)}},
		},
		"no metadata in storage": {
			coercion: schemas.Coercion{Repair: true},
			in:       widget("v1", object{"spec": object{}}),
			want:     object{"spec": object{}},
		},
		"another kind": {
			coercion: schemas.Coercion{Repair: true, ReportUnknownFields: true},
			in:       &unstructured.Unstructured{Object: object{"apiVersion": "example.com/v1", "kind": "DeleteOptions", "x": "y"}},
			want:     object{"x": "y"},
		},
		"no type":            {in: &unstructured.Unstructured{Object: object{"x": "y"}}, want: object{"x": "y"}},
		"apiVersion":         {in: &unstructured.Unstructured{Object: object{"apiVersion": "a/b/c"}}, err: true},
		"kind of wrong type": {in: &unstructured.Unstructured{Object: object{"kind": int64(1)}}, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			unknown, err := newSchemas(t, test.crd).Coerce(test.in, test.coercion)
			if (err != nil) != test.err {
				t.Fatalf("got error %v, want one: %t", err, test.err)
			}
			if err != nil {
				return
			}
			delete(test.in.Object, "apiVersion")
			delete(test.in.Object, "kind")
			if diff := cmp.Diff(test.want, test.in.Object); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unknown, unknown); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
		})
	}
}

// fake is a defaulter, a decoder and a converter with a fixed result.
type fake struct {
	runtime.ObjectConvertor
	defaulted []runtime.Object
	object    runtime.Object
	err       error
}

func (f *fake) Default(o runtime.Object) { f.defaulted = append(f.defaulted, o) }

func (f *fake) Decode([]byte, *schema.GroupVersionKind, runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	return f.object, nil, f.err
}

func (f *fake) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	return f.object, f.err
}

func TestDefaulter(t *testing.T) {
	next := &fake{}
	d := newSchemas(t, nil).Defaulter(next)
	u := widget("v1", object{"spec": object{}})
	d.Default(u)
	if diff := cmp.Diff(widget("v1", object{"spec": object{"size": int64(3)}}), u); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, other := range []runtime.Object{&metav1.DeleteOptions{}, &unstructured.Unstructured{Object: object{"apiVersion": "example.com/v1", "kind": "Gadget"}}} {
		d.Default(other)
	}
	if len(next.defaulted) != 2 {
		t.Errorf("the next defaulter got %d objects, want the two of other kinds", len(next.defaulted))
	}
}

func TestDecoder(t *testing.T) {
	duplicate := runtime.NewStrictDecodingError([]error{errors.New("duplicate field \"a\"")})
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		coercion schemas.Coercion
		object   runtime.Object
		decoding error
		want     string
	}{
		"unknown field":                {object: widget("v1", object{"a\"b": "x"}), coercion: schemas.Coercion{ReportUnknownFields: true}, want: "strict decoding error: unknown field \"a\"b\""},
		"both errors":                  {object: widget("v1", object{"b": "x"}), coercion: schemas.Coercion{ReportUnknownFields: true}, decoding: duplicate, want: "strict decoding error: duplicate field \"a\", unknown field \"b\""},
		"not strict":                   {object: widget("v1", object{"b": "x"}), decoding: duplicate},
		"typed":                        {object: &metav1.DeleteOptions{}},
		"strict error without object":  {decoding: duplicate, want: duplicate.Error()},
		"error":                        {object: widget("v1", nil), decoding: broken, want: "broken"},
		"metadata that is not allowed": {object: widget("v1", object{"metadata": "x"}), want: "json: cannot unmarshal string into Go value of type v1.ObjectMeta"},
	} {
		t.Run(name, func(t *testing.T) {
			decoder := newSchemas(t, nil).Decoder(&fake{object: test.object, err: test.decoding}, test.coercion)
			_, _, err := decoder.Decode(nil, nil, nil)
			if got := text(err); got != test.want {
				t.Errorf("got error %q, want %q", got, test.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestConverter(t *testing.T) {
	u := widget("v1", object{"x": "y"})
	c := newSchemas(t, nil).Converter(&fake{object: u})
	if _, err := c.ConvertToVersion(nil, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(widget("v1", nil), u); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c = newSchemas(t, nil).Converter(&fake{object: widget("v1", object{"metadata": "x"})})
	if _, err := c.ConvertToVersion(nil, nil); err == nil {
		t.Error("a converter may return malformed metadata")
	}
	typed := &metav1.Status{}
	if got, err := newSchemas(t, nil).Converter(&fake{object: typed}).ConvertToVersion(nil, nil); got != typed || err != nil {
		t.Errorf("typed objects do not pass: %v, %v", got, err)
	}
}

// TestDefinitionUnchanged covers that pruning of defaults leaves the CustomResourceDefinition in
// the informer's cache as it is.
func TestDefinitionUnchanged(t *testing.T) {
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{
		"a": {Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte(`{"unknown":1}`)}},
	})))
	before := crd.DeepCopy()
	s, err := schemas.New(crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, crd); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	got := s.Structural("v1").Properties["spec"].Properties["a"].Default.Object
	if diff := cmp.Diff(object{}, got); diff != "" {
		t.Errorf("default (-want +got):\n%s", diff)
	}
}
