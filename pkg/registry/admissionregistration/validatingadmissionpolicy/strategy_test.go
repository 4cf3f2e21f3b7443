// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/typeerrors"
	"celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicy"
)

// strategy lets users read config maps, and nothing else, and checks no types.
func strategy() validatingadmissionpolicy.Strategy { return strategyWith(nil) }

func strategyWith(types typeerrors.Check[v1.ValidatingAdmissionPolicy]) validatingadmissionpolicy.Strategy {
	return validatingadmissionpolicy.NewStrategy(paramaccess.Checker{
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetVerb() == "get" && a.GetResource() == "configmaps" {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionDeny, "", nil
		}),
		Resolver: resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
			switch gvk.Kind {
			case "ConfigMap", "Secret":
				return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s"), nil
			}
			return schema.GroupVersionResource{}, errors.New("unknown kind")
		}),
	}, types)
}

func byAlice() context.Context {
	return request.WithUser(request.WithNamespace(context.Background(), ""), &user.DefaultInfo{Name: "alice"})
}

// demo is a valid policy as it arrives in a request. Each change makes it another.
func demo(changes ...func(*admissionregistration.ValidatingAdmissionPolicy)) *admissionregistration.ValidatingAdmissionPolicy {
	policy := &admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "7", ResourceVersion: "1", CreationTimestamp: metav1.Unix(1, 0), Generation: 7},
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
		Status: observed(1),
	}
	for _, change := range changes {
		change(policy)
	}
	return policy
}

func observed(generation int64) v1.ValidatingAdmissionPolicyStatus {
	return v1.ValidatingAdmissionPolicyStatus{
		ObservedGeneration:      generation,
		ObservedCustomResources: []v1.ObservedCustomResource{{Group: "rules.example.com", Version: "v1", Kind: "Limit", Generation: generation}},
	}
}

func params(kind string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: kind}
	}
}

func expression(source string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.Validations[0].Expression = source
	}
}

func label(policy *admissionregistration.ValidatingAdmissionPolicy) {
	policy.Labels = map[string]string{"team": "blue"}
}

func named(name string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) { policy.Name = name }
}

func TestCreate(t *testing.T) {
	created := demo()
	if err := rest.BeforeCreate(strategy(), byAlice(), created); err != nil {
		t.Fatal(err)
	}
	if created.Generation != 1 {
		t.Errorf("got generation %d, want 1", created.Generation)
	}
	if diff := cmp.Diff(v1.ValidatingAdmissionPolicyStatus{}, created.Status); diff != "" {
		t.Errorf("status of a new policy (-want +got):\n%s", diff)
	}
}

func TestUpdate(t *testing.T) {
	for name, tc := range map[string]struct {
		change         func(*admissionregistration.ValidatingAdmissionPolicy)
		wantGeneration int64
	}{
		"spec":               {expression("object.spec.replicas <= 3"), 8},
		"generation by hand": {func(policy *admissionregistration.ValidatingAdmissionPolicy) { policy.Generation = 99 }, 7},
		"metadata":           {label, 7},
		"empty list instead of none": {func(policy *admissionregistration.ValidatingAdmissionPolicy) {
			policy.Spec.Variables = []v1.Variable{}
		}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			stored, updated := demo(), demo(tc.change)
			updated.Status = observed(42)
			if err := rest.BeforeUpdate(strategy(), byAlice(), updated, stored); err != nil {
				t.Fatal(err)
			}
			if updated.Generation != tc.wantGeneration {
				t.Errorf("got generation %d, want %d", updated.Generation, tc.wantGeneration)
			}
			if diff := cmp.Diff(stored.Status, updated.Status); diff != "" {
				t.Errorf("a spec write changed the status (-want +got):\n%s", diff)
			}
		})
	}
}

// What the validation package refuses in detail is tested there.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		stored, sent *admissionregistration.ValidatingAdmissionPolicy
		wantFields   []string
	}{
		"create: valid, readable params":           {sent: demo(params("ConfigMap"))},
		"create: invalid":                          {sent: demo(expression("object.")), wantFields: []string{"spec.validations[0].expression"}},
		"create: reserved name":                    {sent: demo(named("demo.static.k8s.io")), wantFields: []string{"metadata.name"}},
		"create: unreadable params":                {sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
		"create: unknown params":                   {sent: demo(params("Unheard")), wantFields: []string{"spec.paramKind"}},
		"create: invalid, access is not looked at": {sent: demo(params("Secret"), expression("object.")), wantFields: []string{"spec.validations[0].expression"}},
		"update: invalid":                          {stored: demo(), sent: demo(expression("object.")), wantFields: []string{"spec.validations[0].expression"}},
		"update: params added":                     {stored: demo(), sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
		"update: params changed":                   {stored: demo(params("ConfigMap")), sent: demo(params("Secret")), wantFields: []string{"spec.paramKind"}},
		"update: params kept":                      {stored: demo(params("Secret")), sent: demo(params("Secret"), label)},
		"update: params removed":                   {stored: demo(params("Secret")), sent: demo()},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategy(), byAlice(), tc.sent)
			} else {
				err = rest.BeforeUpdate(strategy(), byAlice(), tc.sent, tc.stored)
			}
			expectCauses(t, err, tc.wantFields...)
		})
	}
}

func TestAccessMessage(t *testing.T) {
	err := rest.BeforeCreate(strategy(), byAlice(), demo(params("Secret")))
	const want = `ValidatingAdmissionPolicy.admissionregistration.k8s.io "demo" is invalid: spec.paramKind: Forbidden: ` +
		`user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestWarnings(t *testing.T) {
	recorder := &warnings{}
	ctx := warning.WithWarningRecorder(byAlice(), recorder)
	if err := rest.BeforeUpdate(strategy(), ctx, demo(named("demo.static.k8s.io")), demo(named("demo.static.k8s.io"))); err != nil {
		t.Fatal(err)
	}
	if len(recorder.texts) != 1 || !strings.HasPrefix(recorder.texts[0], "metadata.name: ") {
		t.Errorf("got warnings %q, want one about metadata.name", recorder.texts)
	}
}

type warnings struct{ texts []string }

func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// expectCauses wants an invalid error with a cause at each of the fields, or none.
func expectCauses(t *testing.T, err error, fields ...string) {
	t.Helper()
	var got []string
	if err != nil {
		var status apierrors.APIStatus
		if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
			t.Fatalf("got %v, want an invalid error", err)
		}
		for _, cause := range status.Status().Details.Causes {
			got = append(got, cause.Field)
		}
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("fields with errors (-want +got):\n%s\n%v", diff, err)
	}
}
