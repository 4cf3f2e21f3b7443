// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// The types of the conditions in a policy's status.
const (
	// PolicyConditionAvailable is True when the policy can decide as written over the
	// requests that it matches, False when it cannot, and Unknown as long as the server
	// cannot find out.
	PolicyConditionAvailable = "Available"

	// PolicyConditionTypeChecked is True when the expressions fit all types that they
	// are applied to, False when one does not, and else Unknown.
	PolicyConditionTypeChecked = "TypeChecked"
)

// The reasons of these conditions.
const (
	// PolicyReasonConfigured is why a policy is Available.
	PolicyReasonConfigured = "Configured"

	// PolicyReasonMisconfigured is why a policy is not Available. The message says what
	// is wrong: expressions, the kind of its parameters, or custom resources that are
	// not defined (KEP-3488, "Writing to Status").
	PolicyReasonMisconfigured = "Misconfigured"

	// PolicyReasonNoTypeErrors is why TypeChecked is True.
	PolicyReasonNoTypeErrors = "NoTypeErrors"

	// PolicyReasonTypeErrors is why TypeChecked is False. status.typeChecking has the
	// errors.
	PolicyReasonTypeErrors = "TypeErrors"

	// PolicyReasonTypesNotFound is why TypeChecked is Unknown: no error was found, but
	// the server does not know all of the types.
	PolicyReasonTypesNotFound = "TypesNotFound"

	// PolicyReasonTypesNotChecked is why TypeChecked is Unknown: no error was found, but
	// there are types that are never looked at. The message says why.
	PolicyReasonTypesNotChecked = "TypesNotChecked"

	// PolicyReasonTypesUnavailable is why TypeChecked, Available or both are Unknown: the
	// server could not find out about all of the types. It tries again.
	PolicyReasonTypesUnavailable = "TypesUnavailable"
)
