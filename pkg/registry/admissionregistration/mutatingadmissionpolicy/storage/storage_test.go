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
	"celador.io/celador/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// newREST stores into an etcd of its own and refuses all paramKinds.
func newREST(t *testing.T) *storage.REST {
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion)
	resource, _, err := storage.NewREST(generic.RESTOptions{
		StorageConfig:  config.ForResource(schema.GroupResource{}),
		ResourcePrefix: "policies",
		Decorator:      generic.UndecoratedStorage,
	}, paramaccess.Checker{
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionDeny, "", nil
		}),
		Resolver: resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
			return gvk.GroupVersion().WithResource("any"), nil
		}),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	return resource
}

func demo() *admissionregistration.MutatingAdmissionPolicy {
	return &admissionregistration.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: v1.MutatingAdmissionPolicySpec{
			FailurePolicy: new(v1.Fail),
			MatchConstraints: &v1.MatchResources{
				MatchPolicy:       new(v1.Equivalent),
				NamespaceSelector: &metav1.LabelSelector{},
				ObjectSelector:    &metav1.LabelSelector{},
				ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.Create},
					Rule:       v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}, Scope: new(v1.AllScopes)},
				}}},
			},
			Mutations:          []v1.Mutation{{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "[JSONPatch{}]"}}},
			ReinvocationPolicy: v1.NeverReinvocationPolicy,
		},
	}
}

func TestWrites(t *testing.T) {
	resource := newREST(t)
	ctx := request.WithNamespace(t.Context(), "")

	withParams := demo()
	withParams.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "Secret"}
	if _, err := resource.Create(ctx, withParams, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("paramKind that nobody may read: got error %v, want invalid", err)
	}

	if _, err := resource.Create(ctx, demo(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stored, err := resource.Get(ctx, "demo", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	update := func(policy *admissionregistration.MutatingAdmissionPolicy) (*admissionregistration.MutatingAdmissionPolicy, error) {
		updated, _, err := resource.Update(ctx, "demo", rest.DefaultUpdatedObjectInfo(policy), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		return updated.(*admissionregistration.MutatingAdmissionPolicy), nil
	}
	policy := stored.(*admissionregistration.MutatingAdmissionPolicy)
	policy.Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
	if policy, err = update(policy); err != nil {
		t.Fatal(err)
	}
	if policy.Spec.ReinvocationPolicy != v1.IfNeededReinvocationPolicy || policy.Generation != 2 {
		t.Errorf("got reinvocationPolicy %s and generation %d, want IfNeeded and 2", policy.Spec.ReinvocationPolicy, policy.Generation)
	}
	policy = policy.DeepCopy()
	policy.ResourceVersion = ""
	if _, err := update(policy); !apierrors.IsInvalid(err) {
		t.Errorf("update without a resourceVersion: got error %v, want invalid", err)
	}
}

func TestDiscovery(t *testing.T) {
	resource := newREST(t)
	if got := resource.GetSingularName(); got != "mutatingadmissionpolicy" {
		t.Errorf("got singular name %q", got)
	}
	if diff := cmp.Diff([]string{"api-extensions"}, resource.Categories()); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if resource.NamespaceScoped() {
		t.Error("got a namespaced resource, want a cluster-scoped one")
	}
}
