// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ownFields are the fields that Kubernetes does not have.
var ownFields = []string{"CustomResourceConversion.Converters", "CustomResourceConversion.Tables", "JSONSchemaProps.XDefault"}

// Our types have every field and method of Kubernetes' types, with the same tags: names, whether
// empty values are left out, protobuf numbers and merge keys. A new field of Kubernetes fails this
// test until our types have it.
func TestFieldsOfKubernetes(t *testing.T) {
	pairs := comparison{t: t, seen: map[reflect.Type]bool{}}
	ours, theirs := kinds(t, v1.AddToScheme), kinds(t, upstreamv1.AddToScheme)
	for kind, typ := range theirs {
		own, ok := ours[kind]
		if !ok {
			t.Errorf("kind %s is missing", kind)
			continue
		}
		pairs.compare(kind, own, typ)
	}
	slices.Sort(pairs.own)
	if diff := cmp.Diff(ownFields, pairs.own); diff != "" {
		t.Errorf("fields that Kubernetes does not have (-want +got):\n%s", diff)
	}
	if own := reflect.TypeFor[v1.JSONSchemaProps](); !pairs.seen[own] {
		t.Errorf("%s was not compared", own)
	}
}

// kinds returns the Go types of the kinds, options and the like included.
func kinds(t *testing.T, addToScheme func(*runtime.Scheme) error) map[string]reflect.Type {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme.KnownTypes(v1.SchemeGroupVersion)
}

type comparison struct {
	t *testing.T
	// seen are the types of ours that have been compared.
	seen map[reflect.Type]bool
	// own are the fields that only our types have.
	own []string
}

func (c *comparison) compare(path string, ours, theirs reflect.Type) {
	if ours == theirs {
		return
	}
	if ours.Kind() != theirs.Kind() || ours.Name() != theirs.Name() {
		c.t.Errorf("%s is a %s of kind %s, want %s of kind %s", path, ours, ours.Kind(), theirs, theirs.Kind())
		return
	}
	if c.seen[ours] {
		return
	}
	c.seen[ours] = true
	c.compareMethods(ours, theirs)
	switch theirs.Kind() {
	case reflect.Struct:
		c.compareFields(ours, theirs)
	case reflect.Map:
		c.compare(path+" key", ours.Key(), theirs.Key())
		c.compare(path+" value", ours.Elem(), theirs.Elem())
	case reflect.Pointer, reflect.Slice:
		c.compare(path+" element", ours.Elem(), theirs.Elem())
	}
}

func (c *comparison) compareFields(ours, theirs reflect.Type) {
	for i := range theirs.NumField() {
		field, path := theirs.Field(i), theirs.Name()+"."+theirs.Field(i).Name
		own, ok := ours.FieldByName(field.Name)
		if !ok {
			c.t.Errorf("%s is missing", path)
			continue
		}
		if own.Tag != field.Tag || own.Anonymous != field.Anonymous {
			c.t.Errorf("%s has the tags\n%s\nwant\n%s", path, own.Tag, field.Tag)
		}
		c.compare(path, own.Type, field.Type)
	}
	for i := range ours.NumField() {
		if _, ok := theirs.FieldByName(ours.Field(i).Name); !ok {
			c.own = append(c.own, ours.Name()+"."+ours.Field(i).Name)
		}
	}
}

func (c *comparison) compareMethods(ours, theirs reflect.Type) {
	pointer := reflect.PointerTo(theirs)
	for i := range pointer.NumMethod() {
		name := pointer.Method(i).Name
		if _, ok := reflect.PointerTo(ours).MethodByName(name); !ok {
			c.t.Errorf("%s has no method %s", ours, name)
		}
	}
	type model interface{ OpenAPIModelName() string }
	if named, ok := reflect.New(theirs).Interface().(model); ok {
		if own, ok := reflect.New(ours).Interface().(model); !ok || own.OpenAPIModelName() != named.OpenAPIModelName() {
			c.t.Errorf("%s does not have the OpenAPI model %s", ours, named.OpenAPIModelName())
		}
	}
}

// The numbers of our fields are out of the range that Kubernetes uses.
func TestNumbersOfOwnFields(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[v1.CustomResourceConversion](), reflect.TypeFor[v1.JSONSchemaProps]()} {
		for i := range typ.NumField() {
			field := typ.Field(i)
			own := slices.Contains(ownFields, typ.Name()+"."+field.Name)
			if got := strings.HasPrefix(field.Tag.Get("protobuf"), "bytes,100"); got != own {
				t.Errorf("%s.%s has the protobuf tag %q", typ.Name(), field.Name, field.Tag.Get("protobuf"))
			}
		}
	}
}
