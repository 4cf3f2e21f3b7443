// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/admission/mutating"
	"celador.io/admission/validating"
)

// admissionChain is the admission chain of all clusters. It finds the policies of the cluster that
// serves the request in the results of the request's context, applies them, and records in the
// results what they did. It admits requests whose context has no results.
type admissionChain struct{}

var (
	_ admission.MutationInterface   = admissionChain{}
	_ admission.ValidationInterface = admissionChain{}
)

// results holds what the policies and webhooks did to one request.
type results struct {
	policies *policySet
	// mutated is set when the request has reached the mutating policies, and validated when it has
	// reached the validating policies.
	mutated, validated bool
	// mutations has an entry for each round of mutation.
	mutations []mutating.Result
	// mutationEnded is set if an error has ended the last round of mutation before all of its
	// policies were evaluated.
	mutationEnded bool
	validation    validating.Result
	// mismatches holds the reason why a policy and binding do not match the request, by their index
	// in policies.described.
	mismatches map[int]string
	// visit is called after each evaluation of an expression, if the policies were compiled for a
	// Tracing. It is nil if nobody needs the evaluations.
	visit func(Evaluation)
	// mutatingWebhooks and validatingWebhooks are nil until the request reaches the webhooks.
	mutatingWebhooks, validatingWebhooks []WebhookRecord
}

func newResults(policies *policySet) *results {
	return &results{policies: policies, mismatches: map[int]string{}}
}

type resultsKey struct{}

func withResults(ctx context.Context, r *results) context.Context {
	return context.WithValue(ctx, resultsKey{}, r)
}

// resultsFrom returns the results of the context, or nil.
func resultsFrom(ctx context.Context) *results {
	r, _ := ctx.Value(resultsKey{}).(*results)
	return r
}

// Handles implements admission.Interface.
func (admissionChain) Handles(admission.Operation) bool { return true }

// Admit implements admission.MutationInterface. It reinvokes policies as a server's admission chain
// does.
func (c admissionChain) Admit(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	r := resultsFrom(ctx)
	if r == nil {
		return nil
	}
	ctx, release := attach(ctx)
	defer release()
	if err := c.mutate(ctx, r, a, objects); err != nil {
		return err
	}
	reinvocation := a.GetReinvocationContext()
	if !reinvocation.ShouldReinvoke() {
		return nil
	}
	reinvocation.SetIsReinvoke()
	return c.mutate(ctx, r, a, objects)
}

// mutate runs the admission plugins and then the mutating policies, once.
func (admissionChain) mutate(ctx context.Context, r *results, a admission.Attributes, objects admission.ObjectInterfaces) error {
	set := r.policies
	for _, plugin := range set.plugins {
		if !plugin.Handles(a.GetOperation()) {
			continue
		}
		if err := plugin.Admit(ctx, a, objects); err != nil {
			return err
		}
	}
	if set.mutating == nil {
		return nil
	}
	if len(r.mutations) == 0 {
		r.findMismatches(ctx, MutatingKind, a, objects)
	}
	r.mutated = true
	if set.exemption(a.GetResource().GroupResource()) == "" && a.GetOperation() != admission.Delete {
		result, err := set.mutating.Mutate(ctx, a, objects, mutating.Options{Changes: true}, set.mutations)
		r.mutations, r.mutationEnded = append(r.mutations, result), err != nil
		if err != nil {
			return err
		}
		if err := result.Err(); err != nil {
			return err
		}
	}
	if r.mutatingWebhooks != nil {
		return nil
	}
	var err error
	r.mutatingWebhooks, err = set.mutatingWebhooks.match(ctx, a, objects)
	return err
}

// Validate implements admission.ValidationInterface. The registry may call it twice for a deletion,
// with the same result.
func (admissionChain) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	r := resultsFrom(ctx)
	if r == nil || r.policies.validating == nil {
		return nil
	}
	ctx, release := attach(ctx)
	defer release()
	r.findMismatches(ctx, ValidatingKind, a, objects)
	r.validated = true
	if err := r.validate(ctx, a, objects); err != nil {
		return err
	}
	var err error
	if r.validatingWebhooks, err = r.policies.validatingWebhooks.match(ctx, a, objects); err != nil {
		return err
	}
	if a.GetOperation() == admission.Connect {
		return errConnected // there is nothing to connect to
	}
	return nil
}

// validate evaluates the validating policies.
func (r *results) validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	if r.policies.exemption(a.GetResource().GroupResource()) != "" {
		return nil
	}
	result, err := r.policies.validating.Evaluate(ctx, a, objects, r.policies.validation)
	r.validation = result
	if err != nil {
		return err
	}
	for _, text := range result.Warnings() {
		warning.AddWarning(ctx, "", text)
	}
	return result.Err()
}
