// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicybinding_test

import (
	"context"
	"errors"
	"reflect"
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
	"celador.io/celador/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
)

// strategy lets users get the config map "readable", and list config maps in
// namespace "readable". It knows a policy with that paramKind, "by-configmap".
func strategy() mutatingadmissionpolicybinding.Strategy {
	return mutatingadmissionpolicybinding.NewStrategy(paramaccess.Checker{
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			named := a.GetVerb() == "get" && a.GetName() == "readable"
			selected := a.GetVerb() == "list" && a.GetNamespace() == "readable"
			if a.GetResource() == "configmaps" && (named || selected) {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionDeny, "", nil
		}),
		Resolver: resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
			return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s"), nil
		}),
	}, func(_ context.Context, policy string) (*v1.ParamKind, error) {
		if policy == "by-configmap" {
			return &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, nil
		}
		return nil, apierrors.NewNotFound(admissionregistration.Resource("mutatingadmissionpolicies"), policy)
	})
}

func byAlice() context.Context {
	return request.WithUser(request.WithNamespace(context.Background(), ""), &user.DefaultInfo{Name: "alice"})
}

type change func(*admissionregistration.MutatingAdmissionPolicyBinding)

// demo is a valid binding as it arrives in a request. Each change makes it another.
func demo(changes ...change) *admissionregistration.MutatingAdmissionPolicyBinding {
	binding := &admissionregistration.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "7", ResourceVersion: "1", CreationTimestamp: metav1.Unix(1, 0), Generation: 7},
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "by-configmap"},
	}
	for _, change := range changes {
		change(binding)
	}
	return binding
}

func paramName(name string) change {
	return func(binding *admissionregistration.MutatingAdmissionPolicyBinding) {
		binding.Spec.ParamRef = &v1.ParamRef{Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
	}
}

func paramsIn(namespace string) change {
	return func(binding *admissionregistration.MutatingAdmissionPolicyBinding) {
		binding.Spec.ParamRef = &v1.ParamRef{Namespace: namespace, Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: new(v1.DenyAction)}
	}
}

func policy(name string) change {
	return func(binding *admissionregistration.MutatingAdmissionPolicyBinding) { binding.Spec.PolicyName = name }
}

func named(name string) change {
	return func(binding *admissionregistration.MutatingAdmissionPolicyBinding) { binding.Name = name }
}

// exactly makes the binding match with the policy, which may be none that there is.
func exactly(policy v1.MatchPolicyType) change {
	return func(binding *admissionregistration.MutatingAdmissionPolicyBinding) {
		binding.Spec.MatchResources = &v1.MatchResources{
			MatchPolicy: &policy, NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		}
	}
}

func label(binding *admissionregistration.MutatingAdmissionPolicyBinding) {
	binding.Labels = map[string]string{"team": "blue"}
}

func TestGeneration(t *testing.T) {
	created := demo()
	if err := rest.BeforeCreate(strategy(), byAlice(), created); err != nil {
		t.Fatal(err)
	}
	if created.Generation != 1 {
		t.Errorf("create: got generation %d, want 1", created.Generation)
	}
	for name, tc := range map[string]struct {
		change change
		want   int64
	}{
		"spec":     {exactly(v1.Exact), 8},
		"metadata": {label, 7},
		"by hand":  {func(binding *admissionregistration.MutatingAdmissionPolicyBinding) { binding.Generation = 99 }, 7},
	} {
		t.Run(name, func(t *testing.T) {
			updated := demo(tc.change)
			if err := rest.BeforeUpdate(strategy(), byAlice(), updated, demo()); err != nil {
				t.Fatal(err)
			}
			if updated.Generation != tc.want {
				t.Errorf("got generation %d, want %d", updated.Generation, tc.want)
			}
		})
	}
}

// What the validation package refuses in detail is tested there.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		stored, sent *admissionregistration.MutatingAdmissionPolicyBinding
		wantFields   []string
	}{
		"create: no params":                        {sent: demo()},
		"create: readable object":                  {sent: demo(paramName("readable"))},
		"create: readable selection":               {sent: demo(paramsIn("readable"))},
		"create: unreadable object":                {sent: demo(paramName("hidden")), wantFields: []string{"spec.paramRef"}},
		"create: unreadable selection":             {sent: demo(paramsIn("hidden")), wantFields: []string{"spec.paramRef"}},
		"create: unknown policy":                   {sent: demo(policy("other"), paramName("readable")), wantFields: []string{"spec.paramRef"}},
		"create: unknown policy, no params":        {sent: demo(policy("other"))},
		"create: invalid":                          {sent: demo(exactly("")), wantFields: []string{"spec.matchResources.matchPolicy"}},
		"create: reserved name":                    {sent: demo(named("demo.static.k8s.io")), wantFields: []string{"metadata.name"}},
		"create: invalid, access is not looked at": {sent: demo(paramName("hidden"), exactly("")), wantFields: []string{"spec.matchResources.matchPolicy"}},
		"update: invalid":                          {stored: demo(), sent: demo(exactly("")), wantFields: []string{"spec.matchResources.matchPolicy"}},
		"update: params added":                     {stored: demo(), sent: demo(paramName("hidden")), wantFields: []string{"spec.paramRef"}},
		"update: params changed":                   {stored: demo(paramName("readable")), sent: demo(paramName("hidden")), wantFields: []string{"spec.paramRef"}},
		"update: same params of another policy":    {stored: demo(paramName("readable")), sent: demo(policy("other"), paramName("readable")), wantFields: []string{"spec.paramRef"}},
		"update: params kept":                      {stored: demo(paramName("hidden")), sent: demo(paramName("hidden"), label)},
		"update: selection kept":                   {stored: demo(paramsIn("hidden")), sent: demo(paramsIn("hidden"), label)},
		"update: rest changed, readable":           {stored: demo(paramName("readable")), sent: demo(paramName("readable"), exactly(v1.Exact))},
		"update: rest changed, no params":          {stored: demo(), sent: demo(exactly(v1.Exact))},
		"update: unreadable params, now invalid":   {stored: demo(paramName("hidden")), sent: demo(paramName("hidden"), exactly("")), wantFields: []string{"spec.matchResources.matchPolicy"}},
		"update: rest changed, params removed":     {stored: demo(paramName("hidden")), sent: demo(exactly(v1.Exact))},
		"update: params removed":                   {stored: demo(paramName("hidden")), sent: demo()},
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

// A user who changes any field of the spec may redirect messages about the params to other
// readers, so this list must contain every field.
func TestEveryChangeNeedsReadableParams(t *testing.T) {
	changes := map[string]change{
		"PolicyName":     policy("other"),
		"ParamRef":       paramName("other"),
		"MatchResources": exactly(v1.Exact),
	}
	for field := range reflect.TypeFor[v1.MutatingAdmissionPolicyBindingSpec]().Fields() {
		changed, ok := changes[field.Name]
		if !ok {
			t.Errorf("no change of field %s", field.Name)
			continue
		}
		for _, params := range []change{paramName("hidden"), paramsIn("hidden")} {
			t.Run(field.Name, func(t *testing.T) {
				err := rest.BeforeUpdate(strategy(), byAlice(), demo(params, changed), demo(params))
				expectCauses(t, err, "spec.paramRef")
			})
		}
	}
}

func TestAccessMessage(t *testing.T) {
	err := rest.BeforeCreate(strategy(), byAlice(), demo(paramName("hidden")))
	const want = `MutatingAdmissionPolicyBinding.admissionregistration.k8s.io "demo" is invalid: spec.paramRef: Forbidden: ` +
		`user &{alice  [] map[]} does not have "get" permission on the object referenced by paramRef`
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
