// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/internal/structuredmerge"
)

const maxBytes = 16 << 20

// An outcome is what Merge did with generated objects.
type outcome int

const (
	// unfit objects have no shape.
	unfit outcome = iota
	unsupported
	unchanged
	changed
)

// FuzzMerge compares Merge with structured-merge-diff, for objects of all built-in kinds, with
// Kubernetes' schemas and with those that custom resources could have.
func FuzzMerge(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(uint16(seed), random(seed))
	}
	f.Fuzz(func(t *testing.T, kind uint16, chosen []byte) { check(t, kind, chosen) })
}

// For generated objects and configurations of each built-in kind, Merge returns nil or the result
// of structured-merge-diff. It supports a fair part of them.
func TestMergeIsStructuredMergeDiff(t *testing.T) {
	const rounds = 20
	_, kinds := kubernetes()
	counts := map[outcome]int{}
	merged := map[string]bool{}
	for i, kind := range kinds {
		for round := range rounds {
			outcome := check(t, uint16(i), random(uint64(1000*i+round)))
			counts[outcome]++
			if outcome == unchanged || outcome == changed {
				merged[kind.String()] = true
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d kinds, %d of them merged: %v", len(kinds), len(merged), counts)
	total := len(kinds) * rounds
	if counts[changed] < total/10 || counts[unchanged] < total/100 || len(merged) < len(kinds)*8/10 {
		t.Errorf("of %d objects, too few were merged: %d kinds, %v", total, len(merged), counts)
	}
}

// check makes an object and a configuration of a kind and compares Merge with
// structured-merge-diff.
func check(t *testing.T, number uint16, chosen []byte) outcome {
	t.Helper()
	_, kinds := kubernetes()
	kind := kinds[int(number)%len(kinds)]
	c := &choices{chosen}
	converter := converterOf(max(0, c.n(40)-20))
	object, other := kind.empty(), kind.empty()
	c.fill(reflect.ValueOf(object).Elem())
	from := object
	if !c.one(3) {
		c.fill(reflect.ValueOf(other).Elem())
		from = other
	}
	shape := converter.shapes.Of(object, converter)
	if shape == nil {
		return unfit
	}
	configuration := c.configuration(&converter.parser.Schema, kind.typeName, object, from)
	before := text(object)
	result := structuredmerge.Merge(object, shape, configuration, maxBytes)
	if after := text(object); after != before {
		t.Fatalf("%s: the object itself has changed (-before +after):\n%s\nwith %s", kind, cmp.Diff(before, after), describe(configuration))
	}
	if result == nil {
		return unsupported
	}
	want, err := reference(converter, object, configuration)
	if err != nil {
		t.Fatalf("%s: got %s, want the error %v\nof %s\nwith %s", kind, text(result.Object), err, before, describe(configuration))
	}
	got := text(result.Object)
	if want := text(want); got != want {
		t.Fatalf("%s: (-want +got)\n%s\nof %s\nwith %s", kind, cmp.Diff(want, got), before, describe(configuration))
	}
	if isChanged := jsonOf(t, object) != jsonOf(t, result.Object); isChanged != result.Changed {
		t.Fatalf("%s: Changed is %t, want %t: %s\nof %s\nwith %s", kind, result.Changed, isChanged, got, before, describe(configuration))
	}
	if result.Changed {
		return changed
	}
	return unchanged
}

// reference merges a configuration as Kubernetes does.
func reference(converter managedfields.TypeConverter, object runtime.Object, configuration *constructed.Object) (merged runtime.Object, err error) {
	defer func() {
		if cause := recover(); cause != nil { // for values that structured-merge-diff does not know
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	if err := configuration.CheckTypeNames(); err != nil {
		return nil, err
	}
	fields, ok := configuration.Value().(map[string]any)
	if !ok {
		return nil, errors.New("no map")
	}
	applied := &unstructured.Unstructured{Object: fields}
	applied.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	content, err := patch.ApplyStructuredMergeDiff(converter, object, applied)
	if err != nil {
		return nil, err
	}
	merged = reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
	return merged, runtime.DefaultUnstructuredConverter.FromUnstructured(content.(*unstructured.Unstructured).Object, merged)
}

// Merge supports no object whose type name is not its path. The caller reports it.
func TestMergeChecksTypeNames(t *testing.T) {
	_, kinds := kubernetes()
	i := slices.IndexFunc(kinds, func(b builtIn) bool { return b.Kind == "Pod" })
	pod, converter := kinds[i].empty(), converterOf(0)
	shape := (&structuredmerge.Shapes{}).Of(pod, converter)
	for name, supported := range map[string]bool{"Object.spec": true, "Object.status": false, "Object.spe.c": false, "Object": false, "Xbject.spec": false} {
		spec := constructed.New(types.NewObjectType(name), map[string]ref.Val{"hostname": types.String("h")})
		configuration := constructed.New(types.NewObjectType("Object"), map[string]ref.Val{"spec": spec})
		if got := structuredmerge.Merge(pod, shape, configuration, maxBytes) != nil; got != supported {
			t.Errorf("Merge supports a spec of type %s: %t, want %t", name, got, supported)
		}
	}
}

// There are no shapes of custom resources, and of objects that do not fit their schema. A shape is
// built once.
func TestShapes(t *testing.T) {
	_, kinds := kubernetes()
	pod, converter := kinds[slices.IndexFunc(kinds, func(b builtIn) bool { return b.Kind == "Pod" })].empty(), converterOf(0)
	shapes := &structuredmerge.Shapes{}
	first := shapes.Of(pod, converter)
	if first == nil || shapes.Of(pod, converter) != first {
		t.Error("the shape of pods is not built once")
	}
	if shapes.Of(pod, converterOf(1)) == first {
		t.Error("the shape of pods is the same with another schema")
	}
	custom := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	if shapes.Of(custom, managedfields.NewDeducedTypeConverter()) != nil {
		t.Error("a custom resource has a shape")
	}
	unknown := pod.DeepCopyObject()
	unknown.GetObjectKind().SetGroupVersionKind(custom.GroupVersionKind())
	if shapes.Of(unknown, converter) != nil {
		t.Error("an object of an unknown kind has a shape")
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// text returns the text of a Go value. Unlike JSON, it tells nil from empty lists and maps. It
// omits fractions of seconds.
func text(v any) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(v))
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	switch v := v.Interface().(type) {
	case metav1.Time:
		b.WriteString(v.UTC().Format(time.RFC3339))
		return
	case resource.Quantity:
		b.WriteString(v.String()) // JSON tells formats only by the suffix
		return
	case []byte:
		fmt.Fprintf(b, "%t %q", v == nil, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
	}
	if v.Kind() != reflect.Pointer && value.TypeReflectEntryOf(v.Type()).CanConvertToUnstructured() {
		encoded, err := json.Marshal(v.Interface())
		fmt.Fprint(b, string(encoded), err)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		b.WriteString("&")
		write(b, v.Elem())
	case reflect.Struct:
		b.WriteString("{")
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && (field.Type.Kind() == reflect.Struct || !v.Field(i).IsZero()) {
				b.WriteString("\n" + field.Name + ": ")
				write(b, v.Field(i))
			}
		}
		b.WriteString("}")
	case reflect.Slice:
		b.WriteString("[")
		for i := range v.Len() {
			write(b, v.Index(i))
			b.WriteString(", ")
		}
		b.WriteString("]")
	case reflect.Map:
		var entries []string
		for it := v.MapRange(); it.Next(); {
			var entry strings.Builder
			fmt.Fprintf(&entry, "%v: ", it.Key())
			write(&entry, it.Value())
			entries = append(entries, entry.String())
		}
		slices.Sort(entries)
		fmt.Fprint(b, "map", entries)
	default:
		fmt.Fprint(b, v.Interface())
	}
}
