// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/mutating"
	"celador.io/admission/validating"
)

// A Response is the answer of a cluster to a request. The caller owns it.
type Response struct {
	// Allowed reports whether the server would perform the request.
	Allowed bool
	// Status is the error of a rejected request, as the server returns it. Its source may be a
	// policy or the API itself, such as a validation of the resource. Nil if the request is
	// allowed.
	Status *apierrors.StatusError
	// Warnings are the warnings to the client, those of policies and those of the API.
	Warnings []string
	// AuditAnnotations are the annotations of the audit event by their full keys.
	AuditAnnotations map[string]string
	// Object is the object in the response, in the version of the request. It is nil if the request
	// is rejected or its operation is CONNECT.
	Object *unstructured.Unstructured
	// Policies has an entry for each policy of the cluster and each of its bindings, in the order
	// of kind (mutating first), policy name and binding name. A policy without a binding has one
	// entry without a Binding. Policies that the request did not reach, because it was rejected
	// before, have the Effect NotReached.
	Policies []PolicyRecord
	// Webhooks has an entry for each webhook of the cluster in the order in which a server calls
	// them: mutating ones first, then by configuration. A cluster calls none, so each entry is
	// about the object without changes by other webhooks.
	Webhooks []WebhookRecord
}

// PolicyRecord describes how one policy applied to a request, through one binding.
type PolicyRecord struct {
	// Kind is MutatingKind or ValidatingKind.
	Kind            string
	Policy, Binding string
	Effect          Effect
	// Reason explains NotMatched and NotReached.
	Reason string
	// Decisions are the decisions of a validating policy, satisfied validations included.
	Decisions []validating.Decision
	// Mutations are the mutations that a mutating policy applied, or that failed.
	Mutations []mutating.Mutation
	// Failures are the reasons of a mutating policy to reject the request.
	Failures []mutating.Failure
}

// Applied reports whether the policy was evaluated and its expressions took part in the answer.
func (p *PolicyRecord) Applied() bool {
	switch p.Effect {
	case NotReached, NotMatched, Excluded:
		return false
	}
	return true
}

// An Effect is what a policy does to a request, through one binding.
type Effect string

const (
	// NotReached means that the request was rejected before the policy.
	NotReached Effect = "NotReached"
	// NotMatched means that the request does not match the policy or the binding, or that the
	// policy has no binding.
	NotMatched Effect = "NotMatched"
	// Excluded means that a match condition was false.
	Excluded Effect = "Excluded"
	// Admitted means that all validations were satisfied, or that the mutations changed nothing.
	Admitted Effect = "Admitted"
	// Mutated means that a mutation changed the object.
	Mutated Effect = "Mutated"
	// Denied means that a validation was not satisfied, with any validationAction, or that a
	// mutation refused the request.
	Denied Effect = "Denied"
	// Failed means that the policy could not be evaluated. The request is rejected unless
	// failurePolicy is Ignore.
	Failed Effect = "Failed"
)
