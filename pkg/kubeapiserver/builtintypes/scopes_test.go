// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtintypes_test

import (
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// podSpecs are the paths of the pod specs in built-in kinds.
var podSpecs = map[string]string{
	"Pod": "spec", "PodTemplate": "template.spec", "CronJob": "spec.jobTemplate.spec.template.spec", "Job": "spec.template.spec",
	"Deployment": "spec.template.spec", "ReplicaSet": "spec.template.spec", "DaemonSet": "spec.template.spec",
	"StatefulSet": "spec.template.spec", "ReplicationController": "spec.template.spec",
}

// builtInSchemas is a policy.Schemas.
type builtInSchemas struct{}

func (builtInSchemas) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	return modelschema.New(func() (*spec.Schema, error) { return builtintypes.Schemas.ResolveSchema(kind) }), nil
}

// One policy with scopes decides about each built-in kind with a pod spec as a policy that was
// written for the kind. It finds the first container that the other does not admit.
func TestContainersOfEveryKind(t *testing.T) {
	const condition = "!%s.image.endsWith(':latest')"
	scoped := policytest.Validating("scoped", v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
		{Scope: &v1.ScopedValues{Type: "io.k8s.api.core.v1.Container"}, Expression: fmt.Sprintf(condition, "self"), MessageExpression: "path"},
		{Scope: &v1.ScopedValues{Type: "io.k8s.api.core.v1.EphemeralContainer"}, Expression: fmt.Sprintf(condition, "self"), MessageExpression: "path"},
	}})
	engine := validating.NewEngine(validating.Config{Features: policyspec.Features{policyspec.ExpressionScopes: true}, Schemas: builtInSchemas{}})
	random, tested, denied := rand.New(rand.NewSource(1)), map[string]bool{}, 0
	for _, kind := range kindsWithPodSpecs() {
		path, ok := podSpecs[kind.Kind]
		if !ok {
			t.Errorf("%v has a pod spec of which the test does not know the path", kind)
			continue
		}
		var expressions []string
		for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
			at := "object." + path + "."
			expressions = append(expressions, fmt.Sprintf("!has(%[1]s%[2]s) || %[1]s%[2]s.all(c, %[3]s)", at, list, fmt.Sprintf(condition, "c")))
		}
		byHand := policytest.Validating("by-hand", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(expressions...)})
		snapshot, err := engine.NewSnapshot(scoped, policytest.Binding("b", "scoped"), byHand, policytest.Binding("c", "by-hand"))
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			object, err := builtintypes.Scheme().New(kind)
			if err != nil {
				t.Fatal(err)
			}
			wrong := fill(random, reflect.ValueOf(object).Elem(), path)
			a := admission.NewAttributesRecord(object, nil, kind, "", "name", kind.GroupVersion().WithResource("resources"), "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{})
			result, err := engine.Evaluate(t.Context(), a, admission.NewObjectInterfacesFromScheme(builtintypes.Scheme()), snapshot)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for _, d := range result.Violations {
				got[d.Policy] = append(got[d.Policy], d.Field)
				if d.Outcome != validating.Denied || d.Policy == "scoped" && d.Message != d.Field {
					t.Errorf("%v: %+v", kind, d)
				}
			}
			if (len(got["scoped"]) > 0) != (len(got["by-hand"]) > 0) {
				t.Errorf("%v: scoped %v, by hand %d", kind, got["scoped"], len(got["by-hand"]))
			}
			for _, field := range got["scoped"] {
				if !slices.Contains(wrong, field) {
					t.Errorf("%v: %s is not one of %v", kind, field, wrong)
				}
				denied++
			}
		}
		tested[kind.Kind] = true
	}
	if len(tested) != len(podSpecs) || denied < 100 {
		t.Errorf("tested %v with %d denials", slices.Sorted(maps.Keys(tested)), denied)
	}
}

// fill gives the pod spec at a path random containers, and returns the paths of those with the wrong
// image.
func fill(random *rand.Rand, object reflect.Value, path string) (wrong []string) {
	for _, name := range strings.Split(path, ".") {
		object = object.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
		if object.Kind() == reflect.Pointer {
			object.Set(reflect.New(object.Type().Elem()))
			object = object.Elem()
		}
	}
	pod := object.Addr().Interface().(*corev1.PodSpec)
	image := func(list string, i int) string {
		if random.Intn(8) > 0 {
			return "image:v1"
		}
		wrong = append(wrong, fmt.Sprintf("%s.%s[%d]", path, list, i))
		return "image:latest"
	}
	for i := range 1 + random.Intn(3) {
		pod.Containers = append(pod.Containers, corev1.Container{Image: image("containers", i)})
	}
	for i := range random.Intn(3) {
		pod.InitContainers = append(pod.InitContainers, corev1.Container{Image: image("initContainers", i)})
	}
	for i := range random.Intn(3) {
		pod.EphemeralContainers = append(pod.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Image: image("ephemeralContainers", i)}})
	}
	return wrong
}

// kindsWithPodSpecs returns the built-in kinds of which a value can have a pod spec, apart from
// lists, and those of versions without a schema.
func kindsWithPodSpecs() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for kind, object := range builtintypes.Scheme().AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || strings.HasSuffix(kind.Kind, "List") || !leadsToPodSpec(object, map[reflect.Type]bool{}) {
			continue
		}
		if _, err := builtintypes.Schemas.ResolveSchema(kind); err == nil {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

func leadsToPodSpec(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == reflect.TypeFor[corev1.PodSpec]() {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return leadsToPodSpec(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToPodSpec(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
