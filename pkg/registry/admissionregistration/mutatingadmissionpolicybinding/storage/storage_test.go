// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/mutatingadmissionpolicybinding/storage"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// newREST stores into an etcd of its own and refuses all paramRefs.
func newREST(t *testing.T) *storage.REST {
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion)
	resource, err := storage.NewREST(generic.RESTOptions{
		StorageConfig:  config.ForResource(schema.GroupResource{}),
		ResourcePrefix: "bindings",
		Decorator:      generic.UndecoratedStorage,
	}, paramaccess.Checker{
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionDeny, "", nil
		}),
		Resolver: resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
			return gvk.GroupVersion().WithResource("any"), nil
		}),
	}, func(context.Context, string) (*v1.ParamKind, error) {
		return &v1.ParamKind{APIVersion: "v1", Kind: "Any"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	return resource
}

func demo() *admissionregistration.MutatingAdmissionPolicyBinding {
	return &admissionregistration.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy"},
	}
}

func TestWrites(t *testing.T) {
	resource := newREST(t)
	ctx := request.WithNamespace(t.Context(), "")

	withParams := demo()
	withParams.Spec.ParamRef = &v1.ParamRef{Name: "secret", ParameterNotFoundAction: new(v1.DenyAction)}
	if _, err := resource.Create(ctx, withParams, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("paramRef that nobody may read: got error %v, want invalid", err)
	}

	if _, err := resource.Create(ctx, demo(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stored, err := resource.Get(ctx, "demo", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	update := func(binding *admissionregistration.MutatingAdmissionPolicyBinding) (*admissionregistration.MutatingAdmissionPolicyBinding, error) {
		updated, _, err := resource.Update(ctx, "demo", rest.DefaultUpdatedObjectInfo(binding), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		return updated.(*admissionregistration.MutatingAdmissionPolicyBinding), nil
	}
	binding := stored.(*admissionregistration.MutatingAdmissionPolicyBinding)
	binding.Spec.PolicyName = "other-policy"
	if binding, err = update(binding); err != nil {
		t.Fatal(err)
	}
	if binding.Spec.PolicyName != "other-policy" || binding.Generation != 2 {
		t.Errorf("got policy %s and generation %d, want other-policy and 2", binding.Spec.PolicyName, binding.Generation)
	}
	binding = binding.DeepCopy()
	binding.ResourceVersion = ""
	if _, err := update(binding); !apierrors.IsInvalid(err) {
		t.Errorf("update without a resourceVersion: got error %v, want invalid", err)
	}
}

func TestDiscovery(t *testing.T) {
	resource := newREST(t)
	if got := resource.GetSingularName(); got != "mutatingadmissionpolicybinding" {
		t.Errorf("got singular name %q", got)
	}
	if diff := cmp.Diff([]string{"api-extensions"}, resource.Categories()); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if resource.NamespaceScoped() {
		t.Error("got a namespaced resource, want a cluster-scoped one")
	}
}
