// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/mutating"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// on enables the features of mutating policies.
var on = policyspec.Features{policyspec.InlineExpressions: true}

// subject is a request to create an object. Mutations change the object in place.
type subject struct {
	admission.Attributes
	engine   *mutating.Engine
	snapshot *mutating.Snapshot
}

// create returns a request to create the object, which is a pod, config map or Widget. Each policy
// has a binding with the same name.
func create(features policyspec.Features, object runtime.Object, policies ...*v1.MutatingAdmissionPolicy) subject {
	engine := mutating.NewEngine(mutating.Config{
		Config:     policy.Config{Namespaces: namespaces{}, Features: features},
		PluginName: "MutatingAdmissionPolicy", TypeConverters: converters{applyconfigurations.NewTypeConverter(scheme.Scheme)},
	})
	var objects []runtime.Object
	for _, p := range policies {
		binding := &v1.MutatingAdmissionPolicyBinding{Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: p.Name}}
		binding.Name = p.Name
		objects = append(objects, p, binding)
	}
	snapshot, err := engine.NewSnapshot(objects...)
	if err != nil {
		panic(err)
	}
	kind := object.GetObjectKind().GroupVersionKind()
	resource := map[string]string{"Pod": "pods", "ConfigMap": "configmaps", "Widget": "widgets"}[kind.Kind]
	return subject{
		admission.NewAttributesRecord(object, nil, kind, "test", "subject", kind.GroupVersion().WithResource(resource), "", admission.Create,
			&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "somebody"}),
		engine,
		snapshot,
	}
}

// applyMutations applies the policies to the request.
func (s subject) mutate(t *testing.T) (mutating.Result, error) {
	t.Helper()
	return s.engine.Mutate(t.Context(), s.Attributes, interfaces, mutating.Options{Changes: true}, s.snapshot)
}

// reinvoke applies the policies to the request in a reinvocation of admission.
func (s subject) reinvoke(t *testing.T) (mutating.Result, error) {
	t.Helper()
	s.GetReinvocationContext().SetIsReinvoke()
	return s.mutate(t)
}

func (s subject) data() map[string]string { return s.GetObject().(*corev1.ConfigMap).Data }

// configMap returns a config map with the data, given as alternating keys and values.
func configMap(data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "subject", Namespace: "test"}, Data: map[string]string{}}
	for i := 0; i < len(data); i += 2 {
		c.Data[data[i]] = data[i+1]
	}
	return c
}

func pod(containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "subject", Namespace: "test"},
		Spec: corev1.PodSpec{Containers: containers}}
}

func widget(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "subject", "namespace": "test"}, "spec": spec,
	}}
}

// ignoring sets failurePolicy Ignore.
func ignoring(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.FailurePolicy = new(v1.Ignore)
	return p
}

// ifNeeded sets reinvocationPolicy IfNeeded.
func ifNeeded(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
	return p
}

func inline(expression string) v1.Mutation { return v1.Mutation{Expression: &expression} }

type namespaces struct{}

// GetNamespace implements matching.NamespaceGetter.
func (namespaces) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

type converters struct{ managedfields.TypeConverter }

// GetTypeConverter implements mutating.TypeConverters.
func (c converters) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if kind.Group != "" {
		return managedfields.NewDeducedTypeConverter()
	}
	return c.TypeConverter
}

// interfaces convert built-in types to themselves, as in a server whose storage version is the
// version of the request.
var interfaces admission.ObjectInterfaces = func() objectInterfaces {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err)
	}
	for _, object := range []runtime.Object{&corev1.ConfigMap{}, &corev1.Pod{}} {
		if err := s.AddConversionFunc(object, object, func(from, into any, _ conversion.Scope) error {
			switch from := from.(type) {
			case *corev1.ConfigMap:
				from.DeepCopyInto(into.(*corev1.ConfigMap))
			case *corev1.Pod:
				from.DeepCopyInto(into.(*corev1.Pod))
			}
			return nil
		}); err != nil {
			panic(err)
		}
	}
	return objectInterfaces{admission.NewObjectInterfacesFromScheme(s), converter{s}}
}()

type objectInterfaces struct {
	admission.ObjectInterfaces
	converter converter
}

func (o objectInterfaces) GetObjectConvertor() runtime.ObjectConvertor { return o.converter }

// converter does not convert custom resources.
type converter struct{ *runtime.Scheme }

func (c converter) ConvertToVersion(in runtime.Object, version runtime.GroupVersioner) (runtime.Object, error) {
	if custom, ok := in.(*unstructured.Unstructured); ok && custom.GetKind() == "Widget" {
		return custom, nil
	}
	return c.Scheme.ConvertToVersion(in, version)
}

func (c converter) Convert(in, out, context any) error {
	if custom, ok := in.(*unstructured.Unstructured); ok {
		out.(*unstructured.Unstructured).Object = custom.Object
		return nil
	}
	return c.Scheme.Convert(in, out, context)
}
