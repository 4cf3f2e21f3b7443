// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/audit"
)

// ObjectName returns the name of an object with its kind as kubectl prints it, such as
// deployment.apps/web.
func ObjectName(kind schema.GroupKind, name string) string {
	prefix := strings.ToLower(kind.Kind)
	if kind.Group != "" {
		prefix += "." + kind.Group
	}
	return prefix + "/" + name
}

func display(r *audit.Reference) string { return ObjectName(r.GroupKind(), r.Name) }

// namespaced returns the reference with its namespace, such as shop/deployment.apps/web.
func namespaced(r *audit.Reference) string {
	if r.Namespace == "" {
		return display(r)
	}
	return r.Namespace + "/" + display(r)
}

// result returns the word that reports use for a violation: Violated, or Error if the validation
// could not be evaluated.
func result(f audit.Violation) string {
	if f.Outcome == validating.Denied {
		return "Violated"
	}
	return "Error"
}

// message returns the message of a violation, after its field if it has one.
func message(f audit.Violation) string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

// omitted returns the number of a policy's violations that are not in the report, because there are
// more than MaxViolations.
func omitted(p audit.PolicyResult) int { return p.ViolationsCount - len(p.Violations) }

func joinActions(actions []v1.ValidationAction) string {
	names := make([]string, len(actions))
	for i, action := range actions {
		names[i] = string(action)
	}
	return strings.Join(names, ",")
}
