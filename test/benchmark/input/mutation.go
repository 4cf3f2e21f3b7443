// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"strconv"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/openapi/openapitest"

	"celador.io/celador/test/benchmark/api"
)

// configurations holds apply configurations as found in clusters. In each policy, its number
// replaces #, so that each policy adds an annotation of its own. Fields that can have only one
// value get the same one from all policies: upstream applies policies in random order, and the
// results are compared.
var configurations = []string{
	`Object{metadata: Object.metadata{labels: {"team-#.example.com/owner": "team-#"}}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/rule-#": request.userInfo.username}}}`,
	`Object{spec: Object.spec{containers: [Object.spec.containers{name: "web", env: [Object.spec.containers.env{name: "SETTING_#", value: "#"}]}]}}`,
	`Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{
		name: c.name, env: [Object.spec.containers.env{name: "PROXY_#", value: "http://proxy-#.example.com:3128"}]})}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/dns-#": "set"}}, spec: Object.spec{dnsPolicy: "ClusterFirstWithHostNet"}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/pull-#": "set"}}, spec: Object.spec{
		containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: "Always"})}}`,
	`Object{spec: Object.spec{
		volumes: [Object.spec.volumes{name: "certificates-#", configMap: Object.spec.volumes.configMap{name: "authority-#"}}],
		containers: object.spec.containers.map(c, Object.spec.containers{
			name: c.name, volumeMounts: [Object.spec.containers.volumeMounts{name: "certificates-#", mountPath: "/etc/certificates/#", readOnly: true}]})}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/grace-#": "set"}}, spec: Object.spec{terminationGracePeriodSeconds: 120}}`,
	`Object{spec: Object.spec{volumes: [Object.spec.volumes{name: "cache-#", emptyDir: Object.spec.volumes.emptyDir{sizeLimit: "#Mi"}}]}}`,
	`Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "setup-#", image: "mesh.example.com/setup:1.#", tty: true}]}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/user-#": "set"}}, spec: Object.spec{
		securityContext: Object.spec.securityContext{runAsNonRoot: true, fsGroup: 2000}}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/privilege-#": "set"}}, spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{
		name: c.name, securityContext: Object.spec.containers.securityContext{allowPrivilegeEscalation: false, runAsUser: 1000}})}}`,
	`Object{metadata: Object.metadata{finalizers: ["example.com/cleaner-#"]}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/token-#": "set"}}, spec: Object.spec{automountServiceAccountToken: false}}`,
	`Object{spec: Object.spec{containers: [Object.spec.containers{name: "proxy", ports: [Object.spec.containers.ports{containerPort: 20#, protocol: "TCP", name: "port-#"}]}]}}`,
	`Object{spec: Object.spec{topologySpreadConstraints: [Object.spec.topologySpreadConstraints{topologyKey: "example.com/zone-#", whenUnsatisfiable: "ScheduleAnyway", maxSkew: 1}]}}`,
	`Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{
		name: c.name, resources: Object.spec.containers.resources{limits: {"example.com/share-#": "1"}, requests: {"example.com/share-#": "1"}}})}}`,
	`Object{metadata: Object.metadata{labels: has(object.metadata.labels) && "team" in object.metadata.labels ?
		{"cost-#.example.com/center": object.metadata.labels["team"]} : {"cost-#.example.com/center": "none"}}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/links-#": "set"}}, spec: Object.spec{enableServiceLinks: false, priority: 100}}`,
	`Object{metadata: Object.metadata{annotations: {"example.com/probe-#": "set"}}, spec: Object.spec{containers: object.spec.containers.filter(c, !has(c.livenessProbe)).map(c, Object.spec.containers{
		name: c.name, livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{path: "/alive", port: c.ports[0].containerPort}, periodSeconds: 60}})}}`,
}

// Mutation returns the i-th MutatingAdmissionPolicy, which changes pods with one apply
// configuration, and its binding for requests of Create.
func Mutation(i int) (*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding) {
	validating := PolicyOf(number("policy", i), "pods", v1.ValidatingAdmissionPolicySpec{})
	binding := MatchingBinding(validating, 0)
	text := strings.ReplaceAll(configurations[i%len(configurations)], "#", strconv.Itoa(i))
	return &v1.MutatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicy"},
			ObjectMeta: validating.ObjectMeta,
			Spec: v1.MutatingAdmissionPolicySpec{
				MatchConstraints:   validating.Spec.MatchConstraints,
				FailurePolicy:      validating.Spec.FailurePolicy,
				ReinvocationPolicy: v1.IfNeededReinvocationPolicy,
				Mutations: []v1.Mutation{{
					PatchType:          v1.PatchTypeApplyConfiguration,
					ApplyConfiguration: &v1.ApplyConfiguration{Expression: text},
				}},
			},
		}, &v1.MutatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicyBinding"},
			ObjectMeta: binding.ObjectMeta,
			Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: validating.Name, MatchResources: binding.Spec.MatchResources},
		}
}

// Mutations returns an API server with the given number of policies and bindings that Mutation
// makes, the namespace of all requests, and the schema of pods.
func Mutations(number int) (*api.Server, error) {
	policies, bindings := make([]*v1.MutatingAdmissionPolicy, number), make([]*v1.MutatingAdmissionPolicyBinding, number)
	for i := range number {
		policies[i], bindings[i] = Mutation(i)
	}
	server := api.New()
	return server, errors.Join(
		server.Describe(openapitest.NewEmbeddedFileClient(), corev1.SchemeGroupVersion),
		storeNamespace(server),
		api.Store(server, v1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicy"), meta.RESTScopeRoot, policies),
		api.Store(server, v1.SchemeGroupVersion.WithKind("MutatingAdmissionPolicyBinding"), meta.RESTScopeRoot, bindings),
	)
}
