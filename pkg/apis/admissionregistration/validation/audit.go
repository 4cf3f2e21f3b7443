// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

const (
	maxAuditAnnotations = 20
	// maxValueExpression is half of the 10 kB that a value may have: expressions
	// often give more text than they consist of.
	maxValueExpression = 5 << 10 // bytes
)

// untagged is how the error for too many annotations prints each of them:
// clients know these field names, not those of the wire format.
type untagged struct{ Key, ValueExpression string }

func (s *scope) checkAuditAnnotations(path *field.Path, annotations []v1.AuditAnnotation) field.ErrorList {
	var errs field.ErrorList
	if len(annotations) > maxAuditAnnotations {
		var all []untagged
		for _, annotation := range annotations {
			all = append(all, untagged(annotation))
		}
		errs = invalid(path, all, fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations))
	}
	unique := once[string]()
	return append(errs, each(path, annotations, func(path *field.Path, annotation *v1.AuditAnnotation) field.ErrorList {
		key := path.Child("key")
		return slices.Concat(
			s.checkAuditKey(key, annotation.Key),
			s.checkValueExpression(path.Child("valueExpression"), annotation.ValueExpression),
			unique(key, &annotation.Key),
		)
	})...)
}

// checkAuditKey checks the name that the annotation will have in the audit event.
func (s *scope) checkAuditKey(path *field.Path, key string) field.ErrorList {
	if s.policy == "" {
		return invalid(path, key, "requires metadata.name be non-empty")
	}
	name := s.policy + "/" + key
	return invalid(path, name, validation.IsQualifiedName(name)...)
}

// checkValueExpression compiles the expression without surrounding space, but
// quotes it as it was written.
func (s *scope) checkValueExpression(path *field.Path, source string) field.ErrorList {
	trimmed := strings.TrimSpace(source)
	switch {
	case trimmed == "":
		return missing(path, "valueExpression is not specified")
	case len(trimmed) > maxValueExpression:
		return missing(path, fmt.Sprintf("must not exceed %d bytes in length", maxValueExpression))
	}
	_, err := s.composed.Compile(trimmed, s.declarations(), s.origin(source), cel.StringType, cel.NullType)
	return compileError(path, source, err)
}
