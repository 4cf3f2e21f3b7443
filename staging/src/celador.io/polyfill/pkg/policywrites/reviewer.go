// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policywrites reviews writes of the polyfill's own policies and bindings as the API server
// reviews writes of the native ones: with the same rules, checks of access to params, messages and
// warnings. A field whose feature gate is off is an error: the native API drops it, which a
// validating webhook cannot do.
package policywrites

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"
	"celador.io/admission/review"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/paramaccess"
	"celador.io/apiserver/pkg/admission/policyvalidation"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/client-go/clientset"
	informers "celador.io/client-go/informers/admissionregistration/v1"
	"celador.io/polyfill/pkg/policyapi"
)

// Config is what a Reviewer reads. Every field except Types and Warner is required.
type Config struct {
	// Client reads policies and bindings of the polyfill: see policyapi.NewForConfigAndClient. It
	// must be allowed to get policies and to list bindings.
	Client clientset.Interface
	// Informers watch the bindings of the polyfill. They must be started after New.
	Informers informers.Interface
	// Authorizer decides whether the user of a write may read the params of the policy.
	Authorizer authorizer.UnconditionalAuthorizer
	// Mapper finds the resource of a paramKind. It is reset if it does not know the kind, and if it
	// is a meta.ResettableRESTMapper.
	Mapper meta.RESTMapper
	// Types returns the type errors of Enforced policies. May be nil.
	Types *typechecks.Validator
	// Warner warns about type errors. May be nil.
	Warner *typechecks.Warner
}

// A Reviewer reviews writes of policies and bindings. It is safe for concurrent use.
type Reviewer struct {
	resources map[string]check
}

// check returns the error for which a write is denied, or warnings about it.
type check func(ctx context.Context, write *admissionv1.AdmissionRequest) ([]string, error)

// New returns a Reviewer for all four kinds.
func New(config Config) *Reviewer {
	params := paramaccess.Checker{Authorizer: config.Authorizer, Resolver: resolver{config.Mapper}}
	policies := config.Client.AdmissionregistrationV1()
	validating := config.Informers.ValidatingAdmissionPolicyBindings().Lister()
	mutating := config.Informers.MutatingAdmissionPolicyBindings().Lister()
	var warnValidating policyvalidation.TypeWarnings[*v1.ValidatingAdmissionPolicy]
	var warnMutating policyvalidation.TypeWarnings[*v1.MutatingAdmissionPolicy]
	if config.Warner != nil {
		warnValidating, warnMutating = config.Warner.Validating, config.Warner.Mutating
	}
	return &Reviewer{map[string]check{
		"validatingadmissionpolicies": checkOf("ValidatingAdmissionPolicy",
			policyvalidation.ValidatingPolicies.Validator(params, config.Types.Validating, warnValidating, boundPolicies(
				validating.List, policies.ValidatingAdmissionPolicyBindings().List,
				func(binding *v1.ValidatingAdmissionPolicyBinding) string { return binding.Spec.PolicyName })),
			func(policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec { return &policy.Spec }),
		"mutatingadmissionpolicies": checkOf("MutatingAdmissionPolicy",
			policyvalidation.MutatingPolicies.Validator(params, config.Types.Mutating, warnMutating, boundPolicies(
				mutating.List, policies.MutatingAdmissionPolicyBindings().List,
				func(binding *v1.MutatingAdmissionPolicyBinding) string { return binding.Spec.PolicyName })),
			func(policy *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicySpec { return &policy.Spec }),
		"validatingadmissionpolicybindings": checkOf("ValidatingAdmissionPolicyBinding",
			policyvalidation.ValidatingBindings.Validator(params, getter(policies.ValidatingAdmissionPolicies().Get)),
			func(binding *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBindingSpec {
				return &binding.Spec
			}),
		"mutatingadmissionpolicybindings": checkOf("MutatingAdmissionPolicyBinding",
			policyvalidation.MutatingBindings.Validator(params, getter(policies.MutatingAdmissionPolicies().Get)),
			func(binding *v1.MutatingAdmissionPolicyBinding) *v1.MutatingAdmissionPolicyBindingSpec {
				return &binding.Spec
			}),
	}}
}

// Review answers a review of a create or update of one of the four kinds. Other operations, and
// subresources, are allowed. A denial has the message, reason, code and causes of the native API.
func (r *Reviewer) Review(ctx context.Context, write *review.Request) *admissionv1.AdmissionResponse {
	if write.GetSubresource() != "" || write.GetOperation() != admission.Create && write.GetOperation() != admission.Update {
		return write.Response(nil)
	}
	resource := write.GetResource()
	check, known := r.resources[resource.Resource]
	if !known || resource.GroupVersion() != policyapi.GroupVersion {
		return write.Response(apierrors.NewBadRequest(fmt.Sprintf("%s is not a resource of %s", resource, policyapi.GroupVersion)))
	}
	warnings, err := check(request.WithUser(ctx, write.GetUserInfo()), write.AdmissionRequest())
	return write.Response(err, warnings...)
}

// checkOf returns the check of writes of a kind.
func checkOf[T any, P interface {
	*T
	metav1.Object
}, S policyspec.Spec](kind string, validator policyvalidation.Validator[P], spec func(P) *S) check {
	return func(ctx context.Context, write *admissionv1.AdmissionRequest) ([]string, error) {
		obj, stored := P(new(T)), P(new(T))
		if err := json.Unmarshal(write.Object.Raw, obj); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("decoding the %s: %v", kind, err))
		}
		creates := write.Operation == admissionv1.Create
		if !creates {
			if err := json.Unmarshal(write.OldObject.Raw, stored); err != nil {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("decoding the stored %s: %v", kind, err))
			}
		}
		// The other fields are validated as if the API had dropped those that are disabled.
		enabled := policyspec.FeaturesOf(utilfeature.DefaultFeatureGate)
		errs := policyspec.Disabled(spec(obj), policyspec.InUse(spec(stored), enabled))
		policyspec.DropDisabled(spec(obj), spec(stored), enabled)
		if obj.GetDeletionTimestamp() == nil {
			errs = append(errs, unsupported(spec(obj))...)
		}
		errs = append(errs, validate(validator, obj, stored, creates)...)
		if len(errs) == 0 {
			errs = validator.Check(ctx, obj, stored)
		}
		if len(errs) > 0 {
			return nil, apierrors.NewInvalid(policyapi.GroupVersion.WithKind(kind).GroupKind(), obj.GetName(), errs)
		}
		if creates {
			return validator.Warnings(ctx, obj), nil
		}
		return validator.UpdateWarnings(ctx, obj), nil
	}
}

// unsupported returns an error for each field of a spec that only an API server can support.
func unsupported(spec any) field.ErrorList {
	var lookups []v1.Lookup
	switch spec := spec.(type) {
	case *v1.ValidatingAdmissionPolicySpec:
		lookups = spec.Lookups
	case *v1.MutatingAdmissionPolicySpec:
		lookups = spec.Lookups
	}
	var errs field.ErrorList
	for i := range lookups {
		if c := lookups[i].Consistency; c != nil && *c == v1.LatestLookupConsistency {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "lookups").Index(i).Child("consistency"),
				"the polyfill reads objects by requests, and cannot wait for the latest: remove consistency Latest"))
		}
	}
	return errs
}

func validate[P metav1.Object](validator policyvalidation.Validator[P], obj, stored P, creates bool) field.ErrorList {
	if creates {
		return validator.Validate(obj)
	}
	return validator.ValidateUpdate(obj, stored)
}

// boundPolicies returns a function that returns the names of the policies that have bindings. For
// version "0", it reads the cache of an informer, which may be outdated, and otherwise a list of
// the API server.
func boundPolicies[B runtime.Object, List runtime.Object](cached func(labels.Selector) ([]B, error), latest func(context.Context, metav1.ListOptions) (List, error), policyName func(B) string) policyvalidation.BoundPolicyNames {
	return func(ctx context.Context, version string) (sets.Set[string], error) {
		names := sets.New[string]()
		if version == "0" {
			bindings, err := cached(labels.Everything())
			for _, binding := range bindings {
				names.Insert(policyName(binding))
			}
			return names, err
		}
		bindings, err := latest(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return names, meta.EachListItem(bindings, func(binding runtime.Object) error {
			names.Insert(policyName(binding.(B)))
			return nil
		})
	}
}

// getter returns the policy that the API server has.
func getter[P metav1.Object](get func(context.Context, string, metav1.GetOptions) (P, error)) policyvalidation.Getter[P] {
	return func(ctx context.Context, name string) (P, error) { return get(ctx, name, metav1.GetOptions{}) }
}

// resolver finds resources by the mapper.
type resolver struct{ mapper meta.RESTMapper }

// Resolve implements paramaccess.ResourceResolver.
func (r resolver) Resolve(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		// The kind may be new. A mapper that has read the cluster once does not read it again.
		meta.MaybeResetRESTMapper(r.mapper)
		mapping, err = r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}
