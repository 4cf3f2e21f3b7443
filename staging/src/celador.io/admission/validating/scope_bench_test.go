// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// What a scope costs, compared with a macro over the same containers. Policies without scopes take
// the same path through the engine whether the feature is on or off.
func BenchmarkScopes(b *testing.B) {
	a := deploymentOf(admission.Create, []corev1.Container{container("web", "web:v1"), container("log", "log:v1"), container("proxy", "proxy:v1")})
	macro := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(
		"object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest')) && object.spec.template.spec.initContainers.all(c, !c.image.endsWith(':latest'))")})
	for name, policy := range map[string]*v1.ValidatingAdmissionPolicy{
		"macro": macro,
		"type":  scoped("type Container", "!self.image.endsWith(':latest')", ""),
		"path":  scoped("spec.template.spec.containers[*].image", "!self.endsWith(':latest')", ""),
	} {
		b.Run(name, func(b *testing.B) {
			server := newServer()
			engine := validating.NewEngine(validating.Config{Features: scopesOn, Schemas: describedBy(b, models), Namespaces: server, Authorizer: server})
			s := engine.NewStore()
			if err := s.Set(policy, policytest.Binding("b", "p")); err != nil {
				b.Fatal(err)
			}
			snapshot := s.Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				result, err := engine.Evaluate(b.Context(), a, server, snapshot)
				if err != nil || len(result.Violations) > 0 {
					b.Fatal(result.Violations, err)
				}
				result.Free()
			}
		})
	}
}
