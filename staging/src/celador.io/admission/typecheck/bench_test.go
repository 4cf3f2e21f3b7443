// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
)

// BenchmarkCheck compares this package with Kubernetes' checker: a policy with variables,
// parameters and messages against Deployment, as it is and with two errors in it. Kubernetes
// checks fewer of its expressions.
func BenchmarkCheck(b *testing.B) {
	realistic := policy("variables.containers.all(c, c.image.startsWith(params.data.registry))",
		rule("apps", "v1", "deployments"), params("v1", "ConfigMap"),
		condition("!('system:nodes' in request.userInfo.groups)"),
		variables(
			"spec", "object.spec.template.spec",
			"containers", "variables.spec.containers + (has(variables.spec.initContainers) ? variables.spec.initContainers : [])"),
		message("'images have to come from ' + params.data.registry"),
		validation("object.spec.replicas <= int(params.data.maxReplicas)"),
		annotation("'replicas: ' + string(object.spec.replicas)"))
	wrong := realistic.DeepCopy()
	wrong.Spec.Validations[0].Expression = "variables.containers.all(c, c.image.startsWith(params.dat.registry))"
	wrong.Spec.Validations[1].Expression = "object.replicas <= int(params.data.maxReplicas)"
	mapper := mapperFor(deployment, configMap)
	for name, policy := range map[string]*v1.ValidatingAdmissionPolicy{"fits": realistic, "wrong": wrong} {
		b.Run(name+"/celador", func(b *testing.B) {
			b.ReportAllocs()
			c := checker(b, mapper, builtIn)
			for b.Loop() {
				c.CheckValidating(policy)
			}
		})
		b.Run(name+"/upstream", func(b *testing.B) {
			b.ReportAllocs()
			content, err := json.Marshal(policy)
			if err != nil {
				b.Fatal(err)
			}
			var converted upstreamv1.ValidatingAdmissionPolicy
			if err := json.Unmarshal(content, &converted); err != nil {
				b.Fatal(err)
			}
			c := &upstream.TypeChecker{SchemaResolver: builtIn, RestMapper: mapper}
			for b.Loop() {
				c.Check(&converted)
			}
		})
	}
}

// BenchmarkCheckMutating checks a policy for every container of a Deployment, as it is and
// with an error in it. Kubernetes does not check such policies.
func BenchmarkCheckMutating(b *testing.B) {
	source := within("containers: object.spec.template.spec.containers.map(c, " + containers + "{name: c.name, env: [" + containers + ".env{name: 'PROXY', value: params.data.proxy}]})")
	for name, source := range map[string]string{"fits": source, "wrong": strings.ReplaceAll(source, "value:", "vale:")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := checker(b, mapperFor(deployment, configMap), builtIn)
			p := mutatingPolicy([]v1.Mutation{applyConfiguration(source)}, params("v1", "ConfigMap"), condition("!('system:nodes' in request.userInfo.groups)"))
			for b.Loop() {
				c.CheckMutating(p)
			}
		})
	}
}
