// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/validating"
)

// pausing pauses deployments with many replicas, and leaves the field alone in others.
type pausing struct{ runtime.ObjectConvertor }

func (p pausing) Convert(in, out, context any) error {
	err := p.ObjectConvertor.Convert(in, out, context)
	if d, ok := out.(*extensionsv1beta1.Deployment); ok && *d.Spec.Replicas > 5 {
		d.Spec.Paused = true
	}
	return err
}

// The memory of a converted object is reused. The next object has none of its fields.
func TestConvertedObjectsOfSeveralRequests(t *testing.T) {
	s := newServer()
	s.ObjectConvertor = pausing{s.ObjectConvertor}
	engine := validating.NewEngine(validating.Config{Namespaces: s})
	snapshot := store(
		policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(legacyDeployments)),
			Validations:      []v1.Validation{{Expression: "!has(object.spec.paused)"}},
		}),
		policytest.Binding("b", "p", v1.Deny),
	).Snapshot()
	for range 10 {
		for replicas, denied := range map[int32]bool{3: false, 7: true} {
			result, err := engine.Evaluate(t.Context(), create(replicas), s, snapshot)
			if err != nil {
				t.Fatal(err)
			}
			if (result.Err() != nil) != denied {
				t.Errorf("%d replicas: the error is %v", replicas, result.Err())
			}
			result.Free()
		}
	}
}
