// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// The condition types in the status of a policy.
const (
	// PolicyConditionAvailable is True if the policy can be evaluated as specified,
	// False if it cannot, and Unknown while the server cannot determine it.
	PolicyConditionAvailable = "Available"

	// PolicyConditionTypeChecked is True if the expressions fit all kinds that they
	// apply to, False if an expression does not fit one of them, and Unknown
	// otherwise.
	PolicyConditionTypeChecked = "TypeChecked"
)

// The reasons of the conditions.
const (
	// PolicyReasonConfigured is the reason if Available is True.
	PolicyReasonConfigured = "Configured"

	// PolicyReasonMisconfigured is a reason if Available is False. The message
	// names the problem: expressions, the paramKind, or custom resources that are
	// not defined (KEP-3488, "Writing to Status").
	PolicyReasonMisconfigured = "Misconfigured"

	// PolicyReasonLookupsUnavailable is the reason if Available is False because the
	// server does not know the objects of a lookup, or the keys of its index, for
	// longer than a request waits for them. The server retries. Requests that match
	// the policy are subject to failurePolicy meanwhile.
	PolicyReasonLookupsUnavailable = "LookupsUnavailable"

	// PolicyReasonNoTypeErrors is the reason if TypeChecked is True.
	PolicyReasonNoTypeErrors = "NoTypeErrors"

	// PolicyReasonTypeErrors is the reason if TypeChecked is False.
	// status.typeChecking contains the errors.
	PolicyReasonTypeErrors = "TypeErrors"

	// PolicyReasonTypesNotFound is a reason if TypeChecked is Unknown: there are no
	// errors for the known kinds, but the server does not know all kinds.
	PolicyReasonTypesNotFound = "TypesNotFound"

	// PolicyReasonTypesNotChecked is a reason if TypeChecked is Unknown: there are
	// no errors for the checked kinds, but some kinds are never checked. The
	// message names the cause.
	PolicyReasonTypesNotChecked = "TypesNotChecked"

	// PolicyReasonTypesUnavailable is the reason if TypeChecked, Available or both
	// are Unknown because the server failed to get the schemas of all kinds. The
	// server retries.
	PolicyReasonTypesUnavailable = "TypesUnavailable"
)
