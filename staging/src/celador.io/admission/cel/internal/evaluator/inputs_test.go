// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/lazy"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/values"
)

// An input resolves names from a map. It is not safe for concurrent use.
type input struct {
	name      string
	names     map[string]any
	variables map[string]ref.Val
	// reads holds the names of the policy's variables in the order of their first reads, which
	// charge the budget.
	reads []string
}

// read returns the value of a policy's variable, or nil if the input has no variables.
func (in *input) read(name string) ref.Val {
	if in.variables != nil && !slices.Contains(in.reads, name) {
		in.reads = append(in.reads, name)
	}
	return in.variables[name]
}

// readsOf returns the variables that an evaluation reads.
func (in *input) readsOf(evaluate func()) []string {
	in.reads = nil
	evaluate()
	return in.reads
}

// ResolveName implements interpreter.Activation.
func (in *input) ResolveName(name string) (any, bool) {
	if name == "variables" && in.variables != nil {
		object := lazy.NewMapValue(types.NewObjectType("kubernetes.variables"))
		for name := range in.variables {
			object.Append(name, func(*lazy.MapValue) ref.Val { return in.read(name) })
		}
		return object, true
	}
	value, ok := in.names[name]
	return value, ok
}

// Parent implements interpreter.Activation.
func (in *input) Parent() interpreter.Activation { return nil }

// Variable implements evaluator.NameResolver.
func (in *input) Variable(i int) ref.Val { return in.read(variableNames[i]) }

// inputs returns new inputs by name. Those that have an object all describe the same Deployment.
func inputs() map[string]*input {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "blue", Labels: map[string]string{"team": "blüe"}}}
	ins := map[string]*input{
		"typed":         newInput(values.Of(deployment(3)), values.Of(deployment(5)), values.Of(request()), values.Of(namespace)),
		"unstructured":  newInput(unstructured(deployment(3)), unstructured(deployment(5)), unstructured(request()), unstructured(namespace)),
		"native":        newInput(native(deployment(3)), native(deployment(5)), native(request()), native(namespace)),
		"deletion":      newInput(types.NullValue, values.Of(deployment(5)), values.Of(request()), types.NullValue),
		"empty":         newInput(values.Of(&appsv1.Deployment{}), map[string]any{}, values.Of(&admissionv1.AdmissionRequest{}), map[string]string{}),
		"unusual types": unusualTypes(),
		"errors":        {names: oneValue(types.NewErr("an error")), variables: oneVariableValue(types.NewErr("an error"))},
		"unknown":       {names: oneValue(types.NewUnknown(1, types.NewAttributeTrail("object"))), variables: oneVariableValue(types.NewUnknown(1, nil))},
		"optional":      {names: oneValue(types.OptionalOf(types.Int(1))), variables: oneVariableValue(types.OptionalNone)},
		"null":          {names: oneValue(nil), variables: oneVariableValue(types.NullValue)},
		"wrong":         {names: oneValue("text"), variables: oneVariableValue(types.String("text"))},
		"missing":       {},
	}
	for name, in := range ins {
		in.name = name
	}
	return ins
}

// ordinary holds the names of the inputs with which every ordinary expression has a value.
var ordinary = []string{"typed", "unstructured", "native"}

func newInput(object, oldObject, request, namespace any) *input {
	who := &user.DefaultInfo{Name: "jane", Groups: []string{"developers"}}
	names := maps.Clone(scalars)
	maps.Copy(names, map[string]any{
		"object": object, "oldObject": oldObject, "request": request, "namespaceObject": namespace,
		"params":                     map[string]any{"data": map[string]any{"most": "5", "limit": int64(3)}},
		"authorizer":                 library.NewAuthorizerVal(who, testAuthorizer{}),
		"authorizer.requestResource": library.NewResourceAuthorizerVal(who, testAuthorizer{}, requestResource{}),
	})
	return &input{names: names, variables: map[string]ref.Val{
		"number": types.Int(7), "text": types.String("tëxt"), "any": types.Double(1.5),
		"containers": types.DefaultTypeAdapter.NativeToValue([]any{map[string]any{"name": "web"}, map[string]any{"name": "db"}}),
		"broken":     types.NewErr("composited variable fails"), "__namespace__": types.String("escaped"),
	}}
}

// scalars holds the variables that have the same values in all inputs made by newInput.
var scalars = map[string]any{
	"b": true, "i": 42, "j": types.Int(-7), "u": uint64(9), "d": 2.5, "s": "héllo wörld", "t": types.String("wörld"), "bytesOf": []byte("bÿtes"),
	"nothing": types.NullValue,
	"span":    90 * time.Minute, "moment": time.Date(2026, 2, 3, 4, 5, 6, 7_000_000, time.UTC),
	"ints": []int{3, 1, 2, 3}, "texts": []string{"web", "db", "ä"}, "anys": []any{1, "web", 2.5, nil, true, []any{1}}, "lists": [][]int64{{1, 2}, {}, {3}},
	"scores": map[string]int{"web": 3}, "labels": map[string]string{"app": "wéb"}, "byInt": map[int]string{1: "one"}, "anyMap": map[any]any{"web": 1},
	"any": map[string]any{"number": int32(1), "text": "wéb", "list": []string{"a", "b"}, "map": map[string]bool{"yes": true}, "nil": nil,
		"uints": map[uint]any{1: "one"}, "bools": map[bool]any{true: "yes"}, "floats": []float32{1.5}, "empty": []any{}, "none": map[string]any{}},
	"maybe": types.OptionalOf(types.Int(1)), "maybeText": types.OptionalOf(types.String("a text that is long")),
}

// unusualTypes returns an input whose values have other types than usual in many places.
func unusualTypes() *input {
	broken := types.NewErr("broken element")
	object := map[string]any{
		"metadata": map[string]any{"name": 1, "labels": []any{"app"}, "annotations": types.OptionalOf(types.String("x")), "namespace": nil},
		"spec": map[string]any{"replicas": broken, "paused": types.NewUnknown(3, nil),
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": broken}, broken, 3, nil}}}},
		"kind": uint(3), "size": 3.0, "data": map[int]any{1: "one"},
	}
	in := newInput(object, []any{1, 2}, map[string]any{"name": broken, "operation": "CREATE", "userInfo": types.OptionalNone}, []string{"blue"})
	maps.Copy(in.names, map[string]any{
		"i": 42.0, "j": uint(3), "s": []byte("text"), "t": "\xff\xfeé", "ints": []any{1, "two", broken}, "texts": types.OptionalOf(types.String("x")),
		"labels": map[string]any{"app": broken}, "b": "true",
	})
	return in
}

// oneValue returns the given value for all names.
func oneValue(value any) map[string]any {
	names := map[string]any{}
	for name := range newInput(nil, nil, nil, nil).names {
		names[name] = value
	}
	return names
}

func oneVariableValue(value ref.Val) map[string]ref.Val {
	variables := map[string]ref.Val{}
	for _, name := range variableNames {
		variables[name] = value
	}
	return variables
}

func native(object any) map[string]any {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	return content
}

func unstructured(object any) ref.Val { return types.DefaultTypeAdapter.NativeToValue(native(object)) }

// deployment returns a Deployment with one label and one annotation: the order of several entries
// is random in Go maps.
func deployment(replicas int32) *appsv1.Deployment {
	container := func(name, image string) corev1.Container {
		return corev1.Container{
			Name: name, Image: image, Args: []string{"--name", name},
			Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources:       corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}},
			SecurityContext: &corev1.SecurityContext{RunAsNonRoot: new(true)},
			LivenessProbe:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}},
		}
	}
	labels := map[string]string{"app": "shöp"}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "shöp", Namespace: "blue", Labels: labels, Annotations: map[string]string{
			"owner": "jane"}, CreationTimestamp: metav1.Unix(1_700_000_000, 0),
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{container("web", "registry.example.com/web:v1"), container("db", "registry.example.com/db:v2"), container("log", "log:latest")},
				Volumes:    []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
			}},
		},
	}
}

func request() *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
		Resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
		Name:     "shöp", Namespace: "blue", Operation: admissionv1.Create, DryRun: new(false),
	}
}

// A testAuthorizer allows the verb get, has no opinion about others, and returns an error for the
// verb fail.
type testAuthorizer struct{}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (testAuthorizer) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch a.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, "you may réad", nil
	case "fail":
		return authorizer.DecisionNoOpinion, "", errors.New("failed on purpose")
	default:
		return authorizer.DecisionNoOpinion, "", nil
	}
}

// requestResource is the resource of the request.
type requestResource struct{}

func (requestResource) GetName() string      { return "shöp" }
func (requestResource) GetNamespace() string { return "blue" }
func (requestResource) GetResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
}
func (requestResource) GetSubresource() string { return "" }
