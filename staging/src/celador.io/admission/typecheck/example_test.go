// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

func Example() {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	checker, err := typecheck.New(base, configMaps{mapper})
	if err != nil {
		panic(err)
	}

	policy := &v1.ValidatingAdmissionPolicy{}
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.Create},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}}}
	policy.Spec.Validations = []v1.Validation{{Expression: "object.immutabel"}}
	for _, finding := range checker.CheckValidating(policy).Findings {
		fmt.Println(finding.Field)
		fmt.Println(finding.Message)
	}
	// Output:
	// spec.validations[0].expression
	// ERROR: <input>:1:7: undefined field 'immutabel'
	//  | object.immutabel
	//  | ......^
}

// configMaps implements typecheck.Types with a single type.
type configMaps struct{ meta.RESTMapper }

func (configMaps) ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error) {
	configMap := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	configMap.SetProperty("immutable", *spec.BooleanProperty())
	return configMap, nil
}
