// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

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
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/paramaccess"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// kind is a kind of policies or bindings.
type descriptor struct {
	name     string
	strategy strategy // without type checks
	// storage returns the storage of the kind beside the storage of the bindings of its policies,
	// or of the policies of its bindings.
	storage      func(getter generic.RESTOptionsGetter, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST, error)
	demo         func(changes ...change) policy.APIObject
	other        change // changes the spec
	invalid      change // makes the spec invalid
	invalidField string
	hidden       change // makes the object name params that alice must not read
	hiddenError  string
}

type strategy interface {
	rest.RESTCreateUpdateStrategy
	rest.ResetFieldsStrategy
}

// policyKind is a kind of policies.
type policyKind struct {
	descriptor
	status statusStrategy
	// rules and otherRules are JSON of parts of a spec.
	rules, otherRules string
}

type statusStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

const (
	kindDenied = `user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`
	refDenied  = `user &{alice  [] map[]} does not have "get" permission on the object referenced by paramRef`
)

var policyKinds = []policyKind{{
	descriptor: descriptor{
		name:     "ValidatingAdmissionPolicy",
		strategy: policy.NewStrategy(policy.Validating, access, nil, nil, policy.ValidatingBinding.PoliciesBoundBy(notServed)),
		storage: func(getter generic.RESTOptionsGetter, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST, error) {
			return policy.NewREST(policy.Validating, getter, access, nil, nil, policy.ValidatingBinding.PoliciesBoundBy(beside))
		},
		demo:         func(changes ...change) policy.APIObject { return validating(changes...) },
		other:        expression("object.spec.replicas <= 3"),
		invalid:      expression("object."),
		invalidField: "spec.validations[0].expression",
		hidden:       params("Secret"),
		hiddenError:  "spec.paramKind: Forbidden: " + kindDenied,
	},
	status:     policy.NewStatusStrategy(policy.Validating),
	rules:      `{"validations": [{"expression": "true"}]}`,
	otherRules: `{"validations": [{"expression": "false"}]}`,
}, {
	descriptor: descriptor{
		name:     "MutatingAdmissionPolicy",
		strategy: policy.NewStrategy(policy.Mutating, access, nil, nil, policy.MutatingBinding.PoliciesBoundBy(notServed)),
		storage: func(getter generic.RESTOptionsGetter, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST, error) {
			return policy.NewREST(policy.Mutating, getter, access, nil, nil, policy.MutatingBinding.PoliciesBoundBy(beside))
		},
		demo:         func(changes ...change) policy.APIObject { return mutating(changes...) },
		other:        expression("[JSONPatch{}]"),
		invalid:      expression("object."),
		invalidField: "spec.mutations[0].jsonPatch.expression",
		hidden:       params("Secret"),
		hiddenError:  "spec.paramKind: Forbidden: " + kindDenied,
	},
	status:     policy.NewStatusStrategy(policy.Mutating),
	rules:      `{"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}]"}}], "reinvocationPolicy": "Never"}`,
	otherRules: `{"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}, JSONPatch{}]"}}], "reinvocationPolicy": "Never"}`,
}}

var bindingKinds = []descriptor{{
	name:     "ValidatingAdmissionPolicyBinding",
	strategy: policy.NewBindingStrategy(policy.ValidatingBinding, access, validatingPolicies),
	storage: func(getter generic.RESTOptionsGetter, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST, error) {
		resource, err := policy.NewBindingREST(policy.ValidatingBinding, getter, access, validatingPolicies, beside)
		return resource, nil, err
	},
	demo:         func(changes ...change) policy.APIObject { return validatingBinding(changes...) },
	other:        actions(v1.Audit),
	invalid:      actions(),
	invalidField: "spec.validationActions",
	hidden:       paramName("hidden"),
	hiddenError:  "spec.paramRef: Forbidden: " + refDenied,
}, {
	name:     "MutatingAdmissionPolicyBinding",
	strategy: policy.NewBindingStrategy(policy.MutatingBinding, access, mutatingPolicies),
	storage: func(getter generic.RESTOptionsGetter, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST, error) {
		resource, err := policy.NewBindingREST(policy.MutatingBinding, getter, access, mutatingPolicies, beside)
		return resource, nil, err
	},
	demo:         func(changes ...change) policy.APIObject { return mutatingBinding(changes...) },
	other:        matchPolicy(v1.Exact),
	invalid:      matchPolicy(""),
	invalidField: "spec.matchResources.matchPolicy",
	hidden:       paramName("hidden"),
	hiddenError:  "spec.paramRef: Forbidden: " + refDenied,
}}

// kinds returns the kinds of policies and bindings.
func kinds() []descriptor {
	return []descriptor{policyKinds[0].descriptor, policyKinds[1].descriptor, bindingKinds[0], bindingKinds[1]}
}

// access lets users get all config maps or the config map "readable", and list the config maps in
// namespace "readable". They may list and watch all services. It resolves config maps, secrets and
// services.
var access = paramaccess.Checker{
	Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		got := a.GetVerb() == "get" && (a.GetName() == "readable" || a.GetName() == "*")
		listed := a.GetVerb() == "list" && a.GetNamespace() == "readable"
		services := a.GetResource() == "services" && a.GetNamespace() == "" && (a.GetVerb() == "list" || a.GetVerb() == "watch")
		if a.GetResource() == "configmaps" && (got || listed) || services {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionDeny, "", nil
	}),
	Resolver: resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
		switch gvk.Kind {
		case "ConfigMap", "Secret", "Service":
			return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s"), nil
		}
		return schema.GroupVersionResource{}, errors.New("unknown kind")
	}),
}

// validatingPolicies knows the policy "by-configmap" with params and the Singleton "alone". It
// fails to read the policy "broken".
func validatingPolicies(_ context.Context, name string) (*admissionregistration.ValidatingAdmissionPolicy, error) {
	switch name {
	case "by-configmap":
		return validating(params("ConfigMap")), nil
	case "alone":
		return validating(singleton), nil
	case "broken":
		return nil, errors.New("etcd is gone")
	}
	return nil, apierrors.NewNotFound(admissionregistration.Resource("validatingadmissionpolicies"), name)
}

// mutatingPolicies knows policies as validatingPolicies does.
func mutatingPolicies(_ context.Context, name string) (*admissionregistration.MutatingAdmissionPolicy, error) {
	switch name {
	case "by-configmap":
		return mutating(params("ConfigMap")), nil
	case "alone":
		return mutating(singleton), nil
	case "broken":
		return nil, errors.New("etcd is gone")
	}
	return nil, apierrors.NewNotFound(admissionregistration.Resource("mutatingadmissionpolicies"), name)
}

// notServed is the ListerGetter of a resource that the server does not serve.
func notServed() rest.Lister { return nil }

func cluster() context.Context { return request.WithNamespace(context.Background(), "") }

func byAlice() context.Context {
	return request.WithUser(cluster(), &user.DefaultInfo{Name: "alice"})
}

// write creates sent, or updates stored to sent unless stored is nil. It changes sent to the object
// to be stored.
func write(strategy strategy, stored, sent policy.APIObject) error {
	if stored == nil {
		return rest.BeforeCreate(strategy, byAlice(), sent)
	}
	return rest.BeforeUpdate(strategy, byAlice(), sent, stored)
}

// expectCauses fails the test unless err is an invalid error with a cause at each of the fields, or
// nil if there are no fields.
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

// gateCase is a write while at most one feature gate is on.
type gateCase struct {
	on                 featuregate.Feature // empty if all are off
	stored, sent, want policy.APIObject    // a create if stored is nil
	wantFields         []string            // with errors
	wantGeneration     int64
}

func (tc gateCase) run(t *testing.T, strategy strategy) {
	t.Helper()
	if tc.on != "" {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, tc.on, true)
	}
	err := write(strategy, tc.stored, tc.sent)
	expectCauses(t, err, tc.wantFields...)
	if diff := cmp.Diff(specOf(tc.want), specOf(tc.sent)); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if got := tc.sent.GetGeneration(); err == nil && got != tc.wantGeneration {
		t.Errorf("got generation %d, want %d", got, tc.wantGeneration)
	}
}

func specOf(obj policy.APIObject) any {
	switch obj := obj.(type) {
	case *admissionregistration.ValidatingAdmissionPolicy:
		return obj.Spec
	case *admissionregistration.MutatingAdmissionPolicy:
		return obj.Spec
	case *admissionregistration.ValidatingAdmissionPolicyBinding:
		return obj.Spec
	default:
		return obj.(*admissionregistration.MutatingAdmissionPolicyBinding).Spec
	}
}

func statusOf(obj policy.APIObject) any {
	switch obj := obj.(type) {
	case *admissionregistration.ValidatingAdmissionPolicy:
		return obj.Status
	case *admissionregistration.MutatingAdmissionPolicy:
		return v1.ValidatingAdmissionPolicyStatus(obj.Status)
	default:
		return v1.ValidatingAdmissionPolicyStatus{} // bindings have no status
	}
}

var metadata = metav1.ObjectMeta{Name: "demo", UID: "7", ResourceVersion: "1", CreationTimestamp: metav1.Unix(1, 0), Generation: 7}
