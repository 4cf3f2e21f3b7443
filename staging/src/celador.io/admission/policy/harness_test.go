// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/cel/expression"
	"celador.io/admission/matching"
	"celador.io/admission/params"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

// The body of the policies is the message of their first validation.
type (
	store    = policy.Store[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, string]
	snapshot = policy.Snapshot[string]
)

var descriptor = policy.Descriptor[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, string]{
	Policy: func(p *v1.ValidatingAdmissionPolicy) *policy.Policy[string] {
		return policy.New(expression.Default(), p, policyspec.Validating(&p.Spec), func(*policy.Compilation) string { return p.Spec.Validations[0].Message })
	},
	Binding: func(b *v1.ValidatingAdmissionPolicyBinding) policy.BindingSpec {
		return policy.BindingSpec{
			PolicyName: b.Spec.PolicyName, ParamRef: b.Spec.ParamRef, MatchResources: b.Spec.MatchResources,
			Actions: b.Spec.ValidationActions, Fallback: policyspec.IsFallback(b.Spec.BindingType),
		}
	},
}

// newStore returns a store with the given policies and bindings.
func newStore(enforceTypes bool, source params.Source, objects ...any) *store {
	s := policy.NewStore(descriptor, source, nil, enforceTypes)
	for _, object := range objects {
		if err := s.Set(object.(runtime.Object)); err != nil {
			panic(err)
		}
	}
	return s
}

// denyingWith returns a policy with the given body.
func denyingWith(name, message string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: message}}})
}

// limiting returns policy "p" with the given paramKind.
func limiting(kind schema.GroupVersionKind) *v1.ValidatingAdmissionPolicy {
	p := denyingWith("p", "no")
	p.Spec.ParamKind = &v1.ParamKind{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	return p
}

func singleton(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	p.Spec.PolicyType = new(v1.SingletonPolicy)
	return p
}

func fallback(b *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.BindingType = new(v1.FallbackBinding)
	return b
}

// withParam sets the binding's paramRef to the param with the name, which must exist or the request
// is denied.
func withParam(b *v1.ValidatingAdmissionPolicyBinding, name string) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.ParamRef = &v1.ParamRef{Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
	return b
}

// allowing lets the binding allow requests without params.
func allowing(b *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.ParamRef.ParameterNotFoundAction = new(v1.AllowAction)
	return b
}

// narrowed adds match resources to a binding.
func narrowed(b *v1.ValidatingAdmissionPolicyBinding, match *v1.MatchResources) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.MatchResources = match
	return b
}

// selecting returns match resources that select objects with the label app.
func selecting(app string) *v1.MatchResources {
	match := policytest.Match(v1.Equivalent)
	match.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	return match
}

// request returns the request to create a ConfigMap in namespace blue, with label app=web.
func request(ctx context.Context) *matching.Request {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "c", Labels: map[string]string{"app": "web"}}}
	a := admission.NewAttributesRecord(object, nil, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "blue", "c", corev1.SchemeGroupVersion.WithResource("configmaps"), "", admission.Create, nil, false, nil)
	return matching.NewRequest(ctx, a, &admission.RuntimeObjectInterfaces{EquivalentResourceMapper: runtime.NewEquivalentResourceRegistry()}, nil)
}

// matched returns the matches of a snapshot as "policy/binding: body", followed by the param's name
// if there is a param. A policy or binding that cannot be applied has its error for the body.
func matched(ctx context.Context, s *snapshot) []string {
	var result []string
	var matches policy.Matches[string]
	matches.Init(ctx, request(ctx))
	for m := range matches.In(s) {
		if m.Err != nil {
			result = append(result, fmt.Sprintf("%s/: %v", m.Name, m.Err))
			continue
		}
		for b := range m.Bindings {
			found, err := b.Params()
			if err = errors.Join(b.Err, err); err != nil {
				result = append(result, fmt.Sprintf("%s/%s: %v", m.Name, b.Name(), err))
				continue
			}
			for _, param := range found {
				text := fmt.Sprintf("%s/%s: %s", m.Name, b.Name(), m.Compiled().Body)
				if param != nil {
					text += " " + param.GetName()
				}
				result = append(result, text)
			}
		}
	}
	return result
}

func denials(t *testing.T, s *snapshot) []string {
	t.Helper()
	return matched(t.Context(), s)
}

// Kinds of params. Nothing serves unknown, and secret is forbidden.
var (
	limits    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"}
	allLimits = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "ClusterLimit"}
	unknown   = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Unknown"}
	secret    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Secret"}
)

// source is a params.Source. Each of its kinds has the cluster-scoped objects "low" and "high". It
// counts how often each kind is open.
type source struct {
	open map[schema.GroupVersionKind]int
	// changed is called, if it is set, before a kind is opened or closed.
	changed func(change string)
}

func newSource() *source { return &source{open: map[schema.GroupVersionKind]int{}} }

// Open implements params.Source.
func (s *source) Open(gvk schema.GroupVersionKind) params.Handle {
	if s.changed != nil {
		s.changed("open")
	}
	s.open[gvk]++
	return &opened{s, gvk}
}

type opened struct {
	*source
	gvk schema.GroupVersionKind
}

// Close implements params.Handle.
func (k *opened) Close() {
	if k.changed != nil {
		k.changed("close")
	}
	if k.open[k.gvk]--; k.open[k.gvk] == 0 {
		delete(k.open, k.gvk)
	}
}

// Lister implements params.Handle.
func (k *opened) Lister(context.Context) (params.Lister, error) {
	if k.gvk == secret {
		return nil, apierrors.NewForbidden(schema.GroupResource{Group: secret.Group, Resource: "secrets"}, "", errors.New("no permission"))
	}
	if k.gvk == unknown {
		return nil, errors.New("no such kind")
	}
	return lister{}, nil
}

type lister struct{}

// Namespaced implements params.Lister.
func (lister) Namespaced() bool { return false }

// Synced implements params.Lister.
func (lister) Synced() <-chan struct{} {
	synced := make(chan struct{})
	close(synced)
	return synced
}

// Get implements params.Lister.
func (l lister) Get(_ context.Context, _, name string) (*unstructured.Unstructured, error) {
	objects, _ := l.List("", labels.Everything())
	for _, o := range objects {
		if o.GetName() == name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "limits"}, name)
}

// List implements params.Lister.
func (lister) List(string, labels.Selector) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range []string{"high", "low"} {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetName(name)
		objects = append(objects, u)
	}
	return objects, nil
}
