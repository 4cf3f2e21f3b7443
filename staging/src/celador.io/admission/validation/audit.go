// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

const maxAuditAnnotations = 20

// printedAnnotation formats an annotation in the error for too many annotations. Its field names
// are those of Kubernetes' Go type, which Kubernetes' error shows.
type printedAnnotation struct{ Key, ValueExpression string }

func checkAuditAnnotations(path *field.Path, policy string, annotations []v1.AuditAnnotation, expressions expressionErrors) field.ErrorList {
	var errs field.ErrorList
	if len(annotations) > maxAuditAnnotations {
		var all []printedAnnotation
		for _, annotation := range annotations {
			all = append(all, printedAnnotation(annotation))
		}
		errs = invalid(path, all, fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations))
	}
	unique := once[string]()
	return append(errs, each(path, annotations, func(path *field.Path, annotation *v1.AuditAnnotation) field.ErrorList {
		key := path.Child("key")
		return slices.Concat(
			checkAuditKey(key, policy, annotation.Key),
			expressions.take(path.Child("valueExpression")),
			unique(key, &annotation.Key),
		)
	})...)
}

// checkAuditKey checks the key of the annotation in the audit event: the policy's name, a slash and
// key.
func checkAuditKey(path *field.Path, policy, key string) field.ErrorList {
	if policy == "" {
		return invalid(path, key, "requires metadata.name be non-empty")
	}
	name := policy + "/" + key
	return invalid(path, name, validation.IsQualifiedName(name)...)
}
