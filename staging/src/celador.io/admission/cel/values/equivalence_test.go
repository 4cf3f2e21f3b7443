// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/values"
)

// seeds is the number of objects of each type that are compared.
const seeds = 10

// objects holds the types whose views are compared with Kubernetes' conversions.
var objects = []reflect.Type{
	reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[appsv1.StatefulSet](), reflect.TypeFor[appsv1.DaemonSet](),
	reflect.TypeFor[appsv1.ReplicaSet](), reflect.TypeFor[appsv1.ControllerRevision](), reflect.TypeFor[appsv1.DeploymentList](),
	reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Service](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.ConfigMap](),
	reflect.TypeFor[corev1.Secret](), reflect.TypeFor[corev1.Namespace](), reflect.TypeFor[corev1.PersistentVolume](),
	reflect.TypeFor[corev1.ResourceQuota](), reflect.TypeFor[corev1.Event](), reflect.TypeFor[corev1.Binding](),
	reflect.TypeFor[batchv1.Job](), reflect.TypeFor[batchv1.CronJob](),
	reflect.TypeFor[networkingv1.Ingress](), reflect.TypeFor[networkingv1.NetworkPolicy](),
	reflect.TypeFor[rbacv1.ClusterRole](), reflect.TypeFor[rbacv1.RoleBinding](),
	reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](), reflect.TypeFor[policyv1.PodDisruptionBudget](), reflect.TypeFor[policyv1.Eviction](),
	reflect.TypeFor[admissionv1.AdmissionRequest](), reflect.TypeFor[admissionregistrationv1.ValidatingAdmissionPolicy](),
	reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.LabelSelector](), reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.Status](),
	reflect.TypeFor[shapes](),
}

func TestEquivalence(t *testing.T) {
	for _, object := range objects {
		t.Run(object.String(), func(t *testing.T) {
			for seed := range uint64(seeds) {
				checkFilled(t, object, seed)
			}
		})
	}
}

func FuzzEquivalence(f *testing.F) {
	for i := range objects {
		f.Add(uint64(i)+1000, uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, object uint8) {
		checkFilled(t, objects[int(object)%len(objects)], seed)
	})
}

// checkFilled checks an object of the type, as a pointer and as a value, and its equality with an
// equal object and with a different one.
func checkFilled(t *testing.T, object reflect.Type, seed uint64) {
	t.Helper()
	a, same, b := reflect.New(object), reflect.New(object), reflect.New(object)
	fillType(seed, a.Elem())
	fillType(seed, same.Elem())
	fillType(seed+1, b.Elem())
	check(t, fmt.Sprintf("%v %d", object, seed), values.Of(a.Interface()), common.SchemalessTypedToVal(a.Interface()))
	check(t, fmt.Sprintf("%v %d by value", object, seed), values.Of(a.Elem().Interface()), common.SchemalessTypedToVal(a.Elem().Interface()))
	for _, other := range []reflect.Value{same, b} {
		ours := values.Of(a.Interface()).Equal(values.Of(other.Interface()))
		theirs := common.SchemalessTypedToVal(a.Interface()).Equal(common.SchemalessTypedToVal(other.Interface()))
		checkSame(t, fmt.Sprintf("%v %d: equality of two", object, seed), ours, theirs)
	}
}

func TestEquivalenceOfOthers(t *testing.T) {
	text, huge := "text", uint64(1<<63)
	for _, object := range []any{
		nil, true, "s", 1, int8(-1), int32(3), int64(4), uint(5), uint8(6), uint64(1<<63 - 1), huge, &huge, float32(1.5), 2.5,
		[]byte("bytes"), []byte(nil), []byte{}, namedRaw("x"), namedRaw(nil), []named8{1, 2}, key("k"), namedBool(true), namedF(1),
		&text, (*string)(nil), []string(nil), map[string]string(nil), []string{}, []int{1, 2}, []string{"a", "b"},
		map[string]string{}, map[string]string{"a": "1", "b": "2"}, namedMap{"a": "1"}, map[key]int{"x": 1}, map[int]string{1: "a"}, map[bool]int{true: 1},
		map[string]any{"a": 1, "nil": nil, "s": []any{1, "b", nil, map[string]any{}}}, []any{1, nil, "x", []byte("b")}, [][]int{{1}, nil, {}},
		map[string][]byte{"a": []byte("b"), "nil": nil}, map[string]*string{"a": &text, "nil": nil}, []*string{&text, nil},
		[2]int{}, complex(1, 1), make(chan int), func() {}, uintptr(1), struct{}{}, &struct{}{}, (*shapes)(nil),
		byValue{"v"}, &byValue{"v"}, byPointer{"p"}, &byPointer{"p"}, (*byPointer)(nil), []byPointer{{"l"}}, map[string]byPointer{"m": {"p"}},
		failing{}, []failing{{}}, map[string]failing{"f": {}}, marshalledSlice{"a"}, marshalledSlice(nil), []uint64{1, huge}, map[string]uint64{"huge": huge},
		intstr.FromInt32(80), intstr.FromString("http"), intstr.FromString("\xff"), []intstr.IntOrString{intstr.FromString("\xff"), {Type: 7}},
		metav1.Now(), &metav1.Time{}, metav1.Time{}, shapes{}, &shapes{Any: &shapes{}, Skipped: "y", EmbeddedPointer: &EmbeddedPointer{}},
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "X", "spec": map[string]any{"n": int64(1), "f": 2.0}}},
		unstructured.Unstructured{Object: map[string]any{"kind": "X"}},
	} {
		check(t, fmt.Sprintf("%T %#v", object, object), values.Of(object), common.SchemalessTypedToVal(object))
	}
}

// TestEqual compares pairs that random objects seldom contain, in both directions.
func TestEqual(t *testing.T) {
	type one struct {
		A []string `json:"a"`
	}
	native := func(v any) func(func(any) ref.Val) ref.Val {
		return func(func(any) ref.Val) ref.Val { return types.DefaultTypeAdapter.NativeToValue(v) }
	}
	typed := func(v any) func(func(any) ref.Val) ref.Val {
		return func(of func(any) ref.Val) ref.Val { return of(v) }
	}
	sides := []func(func(any) ref.Val) ref.Val{
		typed(one{}), typed(&one{A: []string{}}), typed(one{A: []string{"x"}}), typed(&one{A: []string{"y"}}), typed(struct{ A []string }{}),
		typed(map[string][]string{"a": {"x"}}), typed(map[string][]string{"a": nil}), typed(map[key]any{"a": []any{"x"}}), typed(map[string]string{"a": "x"}),
		typed(map[string]uint64{"a": 1 << 63}), typed([]string{"x"}), typed([]any{"x"}), typed([]uint64{1 << 63}), typed([]one{{}}), typed([]one{{A: []string{}}}),
		native(map[string]any{"a": 1}), native(map[string]any{"a": []any{"x"}}), native(map[string]any{"a": nil}), native(map[string]any{"b": 1}),
		native([]any{"x"}), native([]any{1}), native([]any{map[string]any{"a": nil}}), native("x"),
	}
	for i, left := range sides {
		for j, right := range sides {
			checkSame(t, fmt.Sprintf("%d equal to %d", i, j),
				left(values.Of).Equal(right(values.Of)), left(common.SchemalessTypedToVal).Equal(right(common.SchemalessTypedToVal)))
		}
	}
}

// TestHidden covers structs with unexported fields. Comparing them panics, in Kubernetes'
// conversion and in views.
func TestHidden(t *testing.T) {
	object := &unexportedField{Shown: "a", hidden: "b"}
	checkMap(t, "unexportedField", values.Of(object).(traits.Mapper), common.SchemalessTypedToVal(object).(traits.Mapper))
}

// otherValues holds values that serve as keys, indexes and operands of comparisons.
var otherValues = []ref.Val{
	types.NullValue, types.True, types.Int(0), types.Int(-1), types.Int(99), types.Uint(0), types.Double(0), types.String("no such"), types.String(""),
	types.Bytes("x"), types.NewErr("an error"), types.NewUnknown(7, nil), types.MapType,
	types.DefaultTypeAdapter.NativeToValue([]string{"a"}), types.DefaultTypeAdapter.NativeToValue([]string{}),
	types.DefaultTypeAdapter.NativeToValue(map[string]string{"a": "1"}), types.DefaultTypeAdapter.NativeToValue(map[int]int{}),
}

// check fails the test if any operation distinguishes ours from theirs.
func check(t *testing.T, path string, ours, theirs ref.Val) {
	t.Helper()
	if t.Failed() {
		return
	}
	checkSame(t, path, ours, theirs)
	for _, to := range []ref.Type{types.MapType, types.ListType, types.TypeType, types.StringType, types.IntType} {
		checkSame(t, fmt.Sprintf("%s as %v", path, to), ours.ConvertToType(to), theirs.ConvertToType(to))
	}
	checkNative(t, path, ours, theirs)
	checkEqual(t, path+" equal to itself", ours, ours, theirs, theirs)
	others := otherValues
	if copied, ok := plain(theirs); ok {
		others = append([]ref.Val{types.DefaultTypeAdapter.NativeToValue(copied)}, otherValues...)
	}
	for _, other := range others {
		checkEqual(t, fmt.Sprintf("%s equal to %v", path, other), ours, other, theirs, other)
		checkEqual(t, fmt.Sprintf("%v equal to %s", other, path), other, ours, other, theirs)
	}
	switch theirs := theirs.(type) {
	case traits.Mapper:
		checkMap(t, path, ours.(traits.Mapper), theirs)
	case traits.Lister:
		checkList(t, path, ours.(traits.Lister), theirs)
	}
}

// checkSame compares the types and the Go values of two CEL values.
func checkSame(t *testing.T, path string, ours, theirs ref.Val) {
	t.Helper()
	if (ours == nil) != (theirs == nil) {
		t.Errorf("%s: %v, want %v", path, ours, theirs)
		return
	}
	if ours == nil {
		return
	}
	if ours.Type() != theirs.Type() {
		t.Errorf("%s: the type is %v, want %v", path, ours.Type(), theirs.Type())
		return
	}
	a, b := ours.Value(), theirs.Value()
	if err, ok := b.(error); ok {
		if a.(error).Error() != err.Error() {
			t.Errorf("%s: error %v, want %v", path, a, b)
		}
	} else if reflect.TypeOf(a) != reflect.TypeOf(b) {
		t.Errorf("%s: the value is a %T, want a %T", path, a, b)
	} else if !isFunc(a) && !reflect.DeepEqual(a, b) {
		t.Errorf("%s: the value is %v, want %v", path, a, b)
	}
}

func checkNative(t *testing.T, path string, ours, theirs ref.Val) {
	t.Helper()
	for _, to := range []reflect.Type{
		reflect.TypeOf(theirs.Value()), reflect.TypeFor[any](), reflect.TypeFor[[]int](), reflect.TypeFor[map[string]any](), reflect.TypeFor[[2]int](),
		reflect.TypeFor[string](), reflect.TypeFor[interface{ Missing() }](),
	} {
		if to == nil {
			continue
		}
		a, errA := native(ours, to)
		b, errB := native(theirs, to)
		if fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%s as Go %v: error %v, want %v", path, to, errA, errB)
		}
		if errB == nil && !reflect.DeepEqual(a, b) {
			t.Errorf("%s as Go %v: %v, want %v", path, to, a, b)
		}
	}
}

// native converts a value and turns a panic into an error. cel-go's lists panic when they are
// converted to an array.
func native(v ref.Val, to reflect.Type) (converted any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return v.ConvertToNative(to)
}

func checkMap(t *testing.T, path string, ours, theirs traits.Mapper) {
	t.Helper()
	checkSame(t, path+": size", ours.Size(), theirs.Size())
	var keys []ref.Val
	for it := theirs.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	ourKeys := items(t, path, ours)
	if a, b := sorted(ourKeys), sorted(keys); !slices.Equal(a, b) {
		t.Errorf("%s: the keys are %v, want %v", path, a, b)
	}
	// Kubernetes' conversion returns nil for unknown fields, after the keys of the others.
	if a, b := slices.Index(ourKeys, nil), slices.Index(keys, nil); a != b {
		t.Errorf("%s: the first nil is key %d, want %d", path, a, b)
	}
	for _, key := range slices.Concat(keys, otherValues) {
		at := fmt.Sprintf("%s.%v", path, key)
		// The second lookup reads the cache.
		for range 2 {
			a, foundA := ours.Find(key)
			b, foundB := theirs.Find(key)
			if foundA != foundB {
				t.Errorf("%s: found is %t, want %t", at, foundA, foundB)
			}
			checkSame(t, at, a, b)
			checkSame(t, at+" by Get", ours.Get(key), theirs.Get(key))
			checkSame(t, at+" by Contains", ours.Contains(key), theirs.Contains(key))
			tester, isTester := ours.(traits.FieldTester)
			reference, wantTester := theirs.(traits.FieldTester)
			if isTester != wantTester {
				t.Fatalf("%s: IsSet is implemented: %t, want %t", path, isTester, wantTester)
			}
			if isTester {
				checkSame(t, at+" by IsSet", tester.IsSet(key), reference.IsSet(key))
			}
		}
	}
	for _, key := range keys {
		if key == nil {
			continue
		}
		a, _ := ours.Find(key)
		b, _ := theirs.Find(key)
		if a != nil && b != nil {
			check(t, fmt.Sprintf("%s.%v", path, key), a, b)
		}
	}
}

func checkList(t *testing.T, path string, ours, theirs traits.Lister) {
	t.Helper()
	checkSame(t, path+": size", ours.Size(), theirs.Size())
	for _, other := range otherValues {
		checkSame(t, fmt.Sprintf("%s has %v", path, other), ours.Contains(other), theirs.Contains(other))
		a, b := ours.Add(other), theirs.Add(other)
		if types.IsUnknownOrError(b) {
			checkSame(t, fmt.Sprintf("%s + %v", path, other), a, b)
		} else {
			checkSame(t, fmt.Sprintf("size of %s + %v", path, other), a.(traits.Lister).Size(), b.(traits.Lister).Size())
			for i := range b.(traits.Lister).Size().(types.Int) {
				checkSame(t, fmt.Sprintf("(%s + %v)[%d]", path, other, i), a.(traits.Lister).Get(i), b.(traits.Lister).Get(i))
			}
		}
		checkSame(t, fmt.Sprintf("%s[%v]", path, other), ours.Get(other), theirs.Get(other))
	}
	elements := items(t, path, ours)
	for i, element := range elements {
		at := types.Int(i)
		checkSame(t, fmt.Sprintf("%s[%d] by Get", path, i), ours.Get(at), element)
		checkSame(t, fmt.Sprintf("%s has [%d]", path, i), ours.Contains(element), theirs.Contains(theirs.Get(at)))
		check(t, fmt.Sprintf("%s[%d]", path, i), element, theirs.Get(at))
	}
	if len(elements) != int(theirs.Size().(types.Int)) {
		t.Errorf("%s: iterated over %d elements, want %v", path, len(elements), theirs.Size())
	}
}

// items returns all items of an iterator and checks that Next reports the end.
func items(t *testing.T, path string, of traits.Iterable) (all []ref.Val) {
	t.Helper()
	it := of.Iterator()
	for it.HasNext() == types.True {
		all = append(all, it.Next())
	}
	if end := it.Next(); !types.IsError(end) && end != nil {
		t.Errorf("%s: Next returns %v after the last item", path, end)
	}
	return all
}

// plain returns a copy of a value in the form of decoded JSON. It returns false if the value
// contains an error.
func plain(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case traits.Mapper:
		copied := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			if key == nil {
				continue
			}
			child, ok := v.Find(key)
			if !ok {
				return nil, false
			}
			if copied[string(key.(types.String))], ok = plain(child); !ok {
				return nil, false
			}
		}
		return copied, true
	case traits.Lister:
		copied := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			element, ok := plain(it.Next())
			if !ok {
				return nil, false
			}
			copied = append(copied, element)
		}
		return copied, true
	case types.Null:
		return nil, true
	default:
		return v.Value(), !types.IsError(v)
	}
}

func sorted(keys []ref.Val) []string {
	var names []string
	for _, key := range keys {
		if key == nil {
			names = append(names, "nil")
			continue
		}
		names = append(names, fmt.Sprint(key.Value()))
	}
	slices.Sort(names)
	return names
}

func isFunc(v any) bool { return v != nil && reflect.TypeOf(v).Kind() == reflect.Func }

// TestOrder checks that iterators return keys in order.
func TestOrder(t *testing.T) {
	for want, object := range map[string]any{
		"[a b c]":              map[string]string{"c": "", "a": "", "b": ""},
		"[drop exec]":          map[key]int{"exec": 1, "drop": 2},
		"[name value]":         corev1.EnvVar{Value: "v", Name: "n"},
		"[kind name]":          map[string]any{"name": 1, "kind": nil},
		"[apiVersion uid]":     map[string]any{"uid": 1, "apiVersion": nil},
		"[key operator]":       metav1.LabelSelectorRequirement{Key: "k", Operator: "In"},
		"[apiGroup kind name]": rbacv1.RoleRef{Name: "n"},
	} {
		var got []string
		for _, item := range items(t, want, values.Of(object).(traits.Iterable)) {
			got = append(got, string(item.(types.String)))
		}
		if diff := cmp.Diff(want, fmt.Sprint(got)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
