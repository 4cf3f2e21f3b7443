// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/cel/expression"
	"celador.io/admission/matching"
	"celador.io/admission/mutating"
	"celador.io/admission/params"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	"celador.io/admission/validating"
	"celador.io/admission/webhook"
	v1 "celador.io/api/admissionregistration/v1"
)

// The kinds of policies, in the order in which a server evaluates them.
const (
	MutatingKind   = "MutatingAdmissionPolicy"
	ValidatingKind = "ValidatingAdmissionPolicy"
)

// IsPolicy reports whether objects of the kind are mutating or validating policies.
func IsPolicy(kind schema.GroupKind) bool {
	return kind.Group == v1.GroupName && (kind.Kind == MutatingKind || kind.Kind == ValidatingKind)
}

// A policySet holds the compiled policies of a cluster. It is immutable. A policySet without
// engines applies the admission plugins only: asStored creates objects with such a set, so that no
// policy changes or denies them.
type policySet struct {
	// plugins change objects before policies.
	plugins    []admission.MutationInterface
	mutating   *mutating.Engine
	mutations  *mutating.Snapshot
	validating *validating.Engine
	validation *validating.Snapshot
	params     paramSource

	mutatingWebhooks, validatingWebhooks webhooks
	// excluded are the resources to which no policy applies.
	excluded sets.Set[schema.GroupResource]

	// described is sorted by kind, policy and binding.
	described []described
}

// exemption returns why policies do not apply to requests for a resource, or an empty string if
// they do.
func (s *policySet) exemption(resource schema.GroupResource) string {
	switch {
	case policyspec.IsExempt(resource):
		return "policies do not apply to policies and bindings"
	case s.excluded.Has(resource):
		return "policies do not apply to " + resource.String() + ", which the server itself relies on"
	}
	return ""
}

// described is the part of a response about a policy and one of its bindings that does not depend
// on the request.
type described struct {
	kind, policy, binding string
	// criteria are nil if the policy, or the binding, matches everything.
	criteria, bindingCriteria *matching.Criteria
	// paramKind is that of the policy, and params the paramRef of the binding. Each may be nil.
	paramKind *v1.ParamKind
	params    *params.Ref
	// singleton is set if the policy applies without a binding. fallback is set if the binding
	// applies only to requests to which no regular binding of the policy applies.
	singleton, fallback bool
}

// compile compiles the policies and webhooks among the objects. compiler, if it is not nil, returns
// a tracing compiler for a kind of objects, and the objects are compiled at once, so that all
// traced expressions are known before the first request. If compiler is nil, objects are compiled
// when a request needs them.
func (c *Cluster) compile(compiler func(kind string) *expression.Compiler) (policySet, error) {
	features, exclusions := c.backend.Features(), c.backend.Exclusions()
	validatingConfig := validating.Config{Features: features, Namespaces: namespaces{}, Params: paramSource{c}, Lookups: newLookupSource(c), Schemas: c, Authorizer: c.access}
	mutatingConfig := mutating.Config{Config: validatingConfig, PluginName: MutatingKind, TypeConverters: c}
	if compiler != nil {
		mutatingConfig.Compiler, validatingConfig.Compiler = compiler(MutatingKind), compiler(ValidatingKind)
	}
	s := policySet{mutating: mutating.NewEngine(mutatingConfig), validating: validating.NewEngine(validatingConfig), params: paramSource{c}, excluded: exclusions.Policies}
	plugins, err := c.backend.NewPlugins(ObjectReader{c})
	if err != nil {
		return policySet{}, err
	}
	s.plugins = plugins
	if err := c.compileWebhooks(&s, webhook.Config{Namespaces: namespaces{}, Authorizer: c.access}, exclusions.Webhooks, compiler); err != nil {
		return policySet{}, err
	}
	mutations, validations := s.mutating.NewStore(), s.validating.NewStore()
	setMutating, setValidating := mutations.SetUncompiled, validations.SetUncompiled
	if compiler != nil {
		setMutating = func(p *v1.MutatingAdmissionPolicy) { mutations.Compile(p)() }
		setValidating = func(p *v1.ValidatingAdmissionPolicy) { validations.Compile(p)() }
	}
	unbound := map[[2]string]described{}
	var bound []described
	enforce := func(verdicts typecheck.VerdictStore, p runtime.Object, m *metav1.ObjectMeta, mode *v1.TypeCheckingMode) error {
		if !features[policyspec.TypeEnforcement] || !policyspec.IsEnforced(mode) {
			return nil
		}
		check, err := c.checkTypes(p)
		verdicts.SetVerdict(m.Name, m.UID, m.Generation, check.Verdict)
		return err
	}
	err = c.eachPolicy(func(object runtime.Object) error {
		switch p := object.(type) {
		case *v1.MutatingAdmissionPolicy:
			setMutating(p)
			unbound[[2]string{MutatingKind, p.Name}] = described{
				kind: MutatingKind, policy: p.Name, criteria: criteria(p.Spec.MatchConstraints), paramKind: p.Spec.ParamKind,
				singleton: features[policyspec.MutatingSingleton] && policyspec.IsSingleton(p.Spec.PolicyType),
			}
			return enforce(mutations, p, &p.ObjectMeta, p.Spec.TypeChecking)
		case *v1.ValidatingAdmissionPolicy:
			setValidating(p)
			unbound[[2]string{ValidatingKind, p.Name}] = described{
				kind: ValidatingKind, policy: p.Name, criteria: criteria(p.Spec.MatchConstraints), paramKind: p.Spec.ParamKind,
				singleton: features[policyspec.Singleton] && policyspec.IsSingleton(p.Spec.PolicyType),
			}
			return enforce(validations, p, &p.ObjectMeta, p.Spec.TypeChecking)
		case *v1.MutatingAdmissionPolicyBinding:
			if err := mutations.Set(p); err != nil {
				return err
			}
			bound = append(bound, described{
				kind: MutatingKind, policy: p.Spec.PolicyName, binding: p.Name, bindingCriteria: criteria(p.Spec.MatchResources),
				params:   paramRef(p.Spec.ParamRef),
				fallback: features[policyspec.MutatingFallbackBinding] && policyspec.IsFallback(p.Spec.BindingType),
			})
		case *v1.ValidatingAdmissionPolicyBinding:
			if err := validations.Set(p); err != nil {
				return err
			}
			bound = append(bound, described{
				kind: ValidatingKind, policy: p.Spec.PolicyName, binding: p.Name, bindingCriteria: criteria(p.Spec.MatchResources),
				params:   paramRef(p.Spec.ParamRef),
				fallback: features[policyspec.FallbackBinding] && policyspec.IsFallback(p.Spec.BindingType),
			})
		}
		return nil
	})
	if err != nil {
		return policySet{}, err
	}
	s.mutations, s.validation = mutations.Snapshot(), validations.Snapshot()
	s.described = describe(unbound, bound)
	return s, nil
}

// describe returns an entry for each policy and each of its bindings, and one for each policy
// without a binding. Bindings that have no effect are left out: those without a policy, and those
// of a singleton.
func describe(policies map[[2]string]described, bindings []described) []described {
	var all []described
	hasBinding := map[[2]string]bool{}
	for _, b := range bindings {
		key := [2]string{b.kind, b.policy}
		p, ok := policies[key]
		if !ok || p.singleton {
			continue
		}
		hasBinding[key] = true
		p.binding, p.bindingCriteria, p.params, p.fallback = b.binding, b.bindingCriteria, b.params, b.fallback
		all = append(all, p)
	}
	for key, p := range policies {
		if !hasBinding[key] {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b described) int {
		// MutatingAdmissionPolicy comes first.
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.policy, b.policy), strings.Compare(a.binding, b.binding))
	})
	return all
}

func criteria(match *v1.MatchResources) *matching.Criteria {
	if match == nil {
		return nil
	}
	return matching.Compile(match)
}

func paramRef(ref *v1.ParamRef) *params.Ref {
	if ref == nil {
		return nil
	}
	return params.Compile(ref)
}

// eachPolicy calls visit with each policy and binding of the cluster, in version v1, until it
// returns an error.
func (c *Cluster) eachPolicy(visit func(runtime.Object) error) error {
	for _, resource := range policyspec.Resources() {
		policies, err := list[runtime.Object](c, v1.SchemeGroupVersion.WithResource(resource), "")
		if err != nil {
			return err
		}
		for _, p := range policies {
			if err := visit(p); err != nil {
				return err
			}
		}
	}
	return nil
}
