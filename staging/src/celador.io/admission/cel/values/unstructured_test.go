// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/cel/values"
)

// TestUnstructured compares the unstructured form of objects with the output of the converter.
func TestUnstructured(t *testing.T) {
	for _, object := range objects {
		t.Run(object.String(), func(t *testing.T) {
			converts := 0
			for seed := range uint64(seeds) {
				if checkUnstructured(t, object, seed) {
					converts++
				}
			}
			if converts == 0 && object != reflect.TypeFor[shapes]() {
				t.Error("no object converts")
			}
		})
	}
}

func FuzzUnstructured(f *testing.F) {
	for i := range objects {
		f.Add(uint64(i)+1000, uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, object uint8) {
		checkUnstructured(t, objects[int(object)%len(objects)], seed)
	})
}

// TestUnstructuredKinds covers all kinds of client-go's scheme.
func TestUnstructuredKinds(t *testing.T) {
	for kind, object := range scheme.Scheme.AllKnownTypes() {
		t.Run(kind.String(), func(t *testing.T) {
			checkUnstructured(t, object, 1)
		})
	}
}

// checkUnstructured checks a random object of the type. It reports whether the converter can
// convert the object.
func checkUnstructured(t *testing.T, object reflect.Type, seed uint64) bool {
	t.Helper()
	filled := reflect.New(object)
	fillType(seed, filled.Elem())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(filled.Interface())
	if err != nil {
		if _, failed := values.OfUnstructured(filled.Interface()).Value().(error); !failed {
			t.Errorf("%v %d converts, want error %v", object, seed, err)
		}
		return false
	}
	theirs := types.DefaultTypeAdapter.NativeToValue(content)
	path := fmt.Sprintf("%v %d", object, seed)
	check(t, path, values.OfUnstructured(filled.Interface()), theirs)
	check(t, path+" converted", convertedFirst(values.OfUnstructured(filled.Interface())), theirs)
	checkZero(t, path, values.OfUnstructured(filled.Interface()), theirs)
	return true
}

// convertedFirst converts a value as a whole before any part of it is read.
func convertedFirst(v ref.Val) ref.Val {
	v.Value()
	return v
}

func checkZero(t *testing.T, path string, ours, theirs ref.Val) {
	t.Helper()
	want, ok := theirs.(traits.Zeroer)
	if got, isZeroer := ours.(traits.Zeroer); isZeroer != ok || ok && got.IsZeroValue() != want.IsZeroValue() {
		t.Errorf("%s: zero value %v, want %v", path, got, want)
	}
	switch theirs := theirs.(type) {
	case traits.Mapper:
		for it := theirs.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			checkZero(t, fmt.Sprint(path, ".", key), ours.(traits.Mapper).Get(key), theirs.Get(key))
		}
	case traits.Lister:
		for i := range theirs.Size().(types.Int) {
			checkZero(t, fmt.Sprint(path, "[", i, "]"), ours.(traits.Lister).Get(i), theirs.Get(i))
		}
	}
}

// TestUnstructuredExpressions evaluates expressions on the unstructured form of objects.
func TestUnstructuredExpressions(t *testing.T) {
	object, old := deployment(), deployment()
	*old.Spec.Replicas++
	ours := func() map[string]any {
		return map[string]any{"object": values.OfUnstructured(object), "old": values.OfUnstructured(old), "json": values.Of(object)}
	}
	theirs := map[string]any{"object": convert(object), "old": convert(old), "json": values.Of(object)}
	shared := ours()
	for _, source := range expressions {
		program := compile(t, source)
		// The shared value has parts that earlier expressions read or converted.
		for _, ours := range []map[string]any{ours(), shared} {
			got, gotDetails, gotErr := program.Eval(ours)
			want, wantDetails, wantErr := program.Eval(theirs)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s: error %v, want %v", source, gotErr, wantErr)
				continue
			}
			if wantErr == nil && (got.Type() != want.Type() || types.Equal(got, want) != types.True || types.Equal(want, got) != types.True) {
				t.Errorf("%s is %v, want %v", source, got, want)
			}
			if *gotDetails.ActualCost() != *wantDetails.ActualCost() {
				t.Errorf("%s cost %d, want %d", source, *gotDetails.ActualCost(), *wantDetails.ActualCost())
			}
		}
	}
}

// TestUnstructuredDiffers covers expressions whose results differ between a typed object and
// its unstructured form.
func TestUnstructuredDiffers(t *testing.T) {
	limits := func(text string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}}
	}
	a, b := limits("1Gi"), limits("1073741824")
	if values.OfUnstructured(&a).Equal(values.OfUnstructured(&b)) != types.False || values.Of(&a).Equal(values.Of(&b)) != types.True {
		t.Error("quantities of different format are not told apart by their text alone")
	}
	empty := values.OfUnstructured(&corev1.PodSecurityContext{})
	if zeroer, ok := empty.(traits.Zeroer); !ok || !zeroer.IsZeroValue() {
		t.Error("an empty struct is not a zero value")
	}
	if v := empty.Equal(types.True); v != types.False {
		t.Errorf("a struct equal to true is %v, want false", v)
	}
	port := intstr.FromString("\xff")
	if v := values.OfUnstructured(&port); v != types.String("\ufffd") {
		t.Errorf("text that is not UTF-8 is %q, want what JSON has for it", v.Value())
	}
}

// TestUnstructuredIsLazy checks that reading a path converts nothing.
func TestUnstructuredIsLazy(t *testing.T) {
	root := values.OfUnstructured(deployment())
	keys := keysOf("spec", "template", "spec", "containers", 1, "image")
	readPath(root, keys)
	if n := testing.AllocsPerRun(100, func() { readPath(root, keys) }); n != 0 {
		t.Errorf("reading a path again allocates %v times, want none", n)
	}
	object := deployment()
	if n := testing.AllocsPerRun(100, func() { readPath(values.OfUnstructured(object), keys) }); n > 8 {
		t.Errorf("reading a path allocates %v times, want at most one for each step and a little more", n)
	}
}
