// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"
)

// newREST stores into an etcd of its own and refuses all paramKinds.
func newREST(t *testing.T) (*storage.REST, *storage.StatusREST) {
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion)
	resource, status, err := storage.NewREST(generic.RESTOptions{
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
	return resource, status
}

func demo() *admissionregistration.ValidatingAdmissionPolicy {
	return &admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec: v1.ValidatingAdmissionPolicySpec{
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
			Validations: []v1.Validation{{Expression: "object.spec.replicas <= 5"}},
		},
	}
}

func TestWrites(t *testing.T) {
	resource, status := newREST(t)
	ctx := request.WithNamespace(t.Context(), "")
	type updater interface {
		Update(context.Context, string, rest.UpdatedObjectInfo, rest.ValidateObjectFunc, rest.ValidateObjectUpdateFunc, bool, *metav1.UpdateOptions) (runtime.Object, bool, error)
	}
	update := func(to updater, obj *admissionregistration.ValidatingAdmissionPolicy) (*admissionregistration.ValidatingAdmissionPolicy, error) {
		const create = true // as server-side apply has it
		updated, _, err := to.Update(ctx, obj.Name, rest.DefaultUpdatedObjectInfo(obj), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, create, &metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		return updated.(*admissionregistration.ValidatingAdmissionPolicy), nil
	}

	if _, err := update(status, demo()); !apierrors.IsNotFound(err) {
		t.Errorf("status of no policy: got error %v, want not found", err)
	}

	withParams := demo()
	withParams.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "Secret"}
	if _, err := resource.Create(ctx, withParams, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("paramKind that nobody may read: got error %v, want invalid", err)
	}

	created, err := resource.Create(ctx, demo(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	policy := created.(*admissionregistration.ValidatingAdmissionPolicy).DeepCopy()

	stale := policy.DeepCopy()
	stale.ResourceVersion = ""
	if _, err := update(resource, stale); !apierrors.IsInvalid(err) {
		t.Errorf("update without a resourceVersion: got error %v, want invalid", err)
	}

	policy.Spec.Validations[0].Expression = "object.spec.replicas <= 3"
	policy.Status.ObservedGeneration = 42
	if policy, err = update(resource, policy); err != nil {
		t.Fatal(err)
	}
	if policy.Generation != 2 || policy.Status.ObservedGeneration != 0 {
		t.Errorf("spec write: got generation %d and observed generation %d, want 2 and 0", policy.Generation, policy.Status.ObservedGeneration)
	}

	spec := policy.Spec.DeepCopy()
	policy = policy.DeepCopy()
	policy.Spec.Validations[0].Expression = "false"
	policy.Status.ObservedGeneration = 2
	if policy, err = update(status, policy); err != nil {
		t.Fatal(err)
	}
	stored, err := status.Get(ctx, "demo", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(policy, stored); diff != "" {
		t.Errorf("stored policy (-answered +stored):\n%s", diff)
	}
	if diff := cmp.Diff(*spec, policy.Spec); diff != "" {
		t.Errorf("spec after a status write (-want +got):\n%s", diff)
	}
	if policy.Generation != 2 || policy.Status.ObservedGeneration != 2 {
		t.Errorf("status write: got generation %d and observed generation %d, want 2 and 2", policy.Generation, policy.Status.ObservedGeneration)
	}
}

func TestDiscovery(t *testing.T) {
	resource, status := newREST(t)
	if got := resource.GetSingularName(); got != "validatingadmissionpolicy" {
		t.Errorf("got singular name %q", got)
	}
	if diff := cmp.Diff([]string{"api-extensions"}, resource.Categories()); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if resource.NamespaceScoped() {
		t.Error("got a namespaced resource, want a cluster-scoped one")
	}
	if _, deletes := any(status).(rest.GracefulDeleter); deletes {
		t.Error("the status subresource can be deleted")
	}
	if got, want := status.GetResetFields(), resource.GetResetFields(); len(got) != len(want) || got["admissionregistration.k8s.io/v1"].Equals(want["admissionregistration.k8s.io/v1"]) {
		t.Errorf("status and resource reset the same fields: %v", got)
	}
}
