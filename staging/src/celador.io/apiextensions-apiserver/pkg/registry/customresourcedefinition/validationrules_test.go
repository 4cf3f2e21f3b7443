// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"strings"
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// A chain that Kubernetes' type checker needs hours for is refused before Kubernetes' validation
// sees it.
func TestLargeValidationRules(t *testing.T) {
	rule := func(calls int) upstream.ValidationRules {
		return upstream.ValidationRules{{Rule: "self.?a" + strings.Repeat(".optMap(x, x)", calls) + ".hasValue()"}}
	}
	for name, test := range map[string]struct {
		schema *upstream.JSONSchemaProps
		want   string
	}{
		"short":       {&upstream.JSONSchemaProps{XValidations: rule(5)}, ""},
		"at the root": {&upstream.JSONSchemaProps{XValidations: rule(30)}, "spec.versions[0].schema.openAPIV3Schema.x-kubernetes-validations[0].rule: "},
		"in items": {&upstream.JSONSchemaProps{Items: &upstream.JSONSchemaPropsOrArray{Schema: &upstream.JSONSchemaProps{XValidations: rule(13)}}},
			"spec.versions[0].schema.openAPIV3Schema.items.x-kubernetes-validations[0].rule: "},
		"in allOf": {&upstream.JSONSchemaProps{AllOf: []upstream.JSONSchemaProps{{XValidations: rule(13)}}},
			"spec.versions[0].schema.openAPIV3Schema.allOf[0].x-kubernetes-validations[0].rule: "},
	} {
		crd := &upstream.CustomResourceDefinition{Spec: upstream.CustomResourceDefinitionSpec{
			Versions: []upstream.CustomResourceDefinitionVersion{{Schema: &upstream.CustomResourceValidation{OpenAPIV3Schema: test.schema}}},
		}}
		errs := checkValidationRules(crd)
		switch {
		case test.want == "" && len(errs) > 0:
			t.Errorf("%s: %v", name, errs)
		case test.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), test.want) || !strings.Contains(errs[0].Error(), "the expression is too large")):
			t.Errorf("%s: got %v", name, errs)
		}
	}
}
