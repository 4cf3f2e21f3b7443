// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/values"
)

func deployment() *appsv1.Deployment {
	replicas, grace, nonRoot := int32(3), int64(30), true
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "registry.example.com/" + name + ":v1", Args: []string{"--name", name},
			Ports:           []corev1.ContainerPort{{ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources:       corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
			SecurityContext: &corev1.SecurityContext{RunAsNonRoot: &nonRoot, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
			LivenessProbe:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}},
		}
	}
	labels := map[string]string{"app": "shop", "team": "a", "tier": "web"}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", Labels: labels, Finalizers: []string{"example.com/a"}, CreationTimestamp: metav1.Unix(1_700_000_000, 0)},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{container("web"), container("proxy"), container("log")}, TerminationGracePeriodSeconds: &grace,
					Volumes:         []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
					SecurityContext: &corev1.PodSecurityContext{},
				},
			},
		},
	}
}

// expressions read three variables: object, a Deployment; json, the same Deployment after decoding
// from JSON; and old, the same Deployment with one more replica.
var expressions = []string{
	"object.spec.replicas <= 100",
	"object.spec.replicas * 2 + 1 == 7 && object.spec.replicas / 2 < 5.5",
	"object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
	"has(object.metadata.labels) && 'team' in object.metadata.labels",
	"has(object.metadata.annotations) ? object.metadata.annotations.size() : -1",
	"has(object.metadata.deletionTimestamp) || has(object.spec.paused) || has(object.status)",
	"object.metadata.?labels[?'team'].orValue('none')",
	"object.metadata.?annotations[?'x'].orValue('none')",
	"object[?'spec'].?replicas.optMap(r, r + 1).hasValue()",
	"optional.ofNonZeroValue(object.status).hasValue()",
	"object.metadata.labels.all(k, k.matches('^[a-z]+$') && size(object.metadata.labels[k]) < 63)",
	"object.metadata.labels.all(k, v, k != v)",
	"object.metadata.labels.transformList(k, v, k + '=' + v).sort().join(',')",
	"object.metadata.labels.transformMap(k, v, v.upperAscii())",
	"object.metadata.labels == object.spec.selector.matchLabels",
	"object.metadata.labels == {'app': 'shop', 'team': 'a', 'tier': 'web'}",
	"{'app': 'shop', 'team': 'a', 'tier': 'web'} == object.metadata.labels",
	"object.spec.selector == object.spec.selector && object.spec != old.spec && object.spec.template == old.spec.template",
	"object == json", "json == object", "object.spec == json.spec", "json.spec.template.spec.containers == object.spec.template.spec.containers",
	"object.spec.template.spec.containers[0].args == ['--name', 'web']",
	"['--name', 'web'] == object.spec.template.spec.containers[0].args",
	"'--name' in object.spec.template.spec.containers[1].args && !('x' in object.spec.template.spec.containers[1].args)",
	"object.spec.template.spec.containers.map(c, c.name) + ['more']",
	"(object.spec.template.spec.containers + object.spec.template.spec.volumes).size()",
	"(['first'] + object.spec.template.spec.containers[2].args)[2]",
	"object.spec.template.spec.containers.exists_one(c, c.name == 'web') && object.spec.template.spec.containers.exists(c, has(c.livenessProbe.httpGet))",
	"object.spec.template.spec.containers.all(i, c, c.name != string(i))",
	"object.spec.template.spec.containers.filter(c, !has(c.resources.requests)).map(c, c.resources.limits.cpu)",
	"quantity(object.spec.template.spec.containers[0].resources.limits['memory']).isLessThan(quantity('2Gi'))",
	"object.spec.template.spec.containers.all(c, c.securityContext.runAsNonRoot && c.securityContext.capabilities.drop.exists(d, d == 'ALL'))",
	"object.spec.template.spec.containers.all(c, type(c.livenessProbe.httpGet.port) == string && c.ports.all(p, p.containerPort > 1024))",
	"timestamp(object.metadata.creationTimestamp) < timestamp('2030-01-01T00:00:00Z')",
	"type(object) == map && type(object.metadata.finalizers) == list && type(object.spec.replicas) == int",
	"object.metadata.finalizers.all(f, f.contains('/')) && object.metadata.finalizers.isSorted() && object.metadata.finalizers.indexOf('x') == -1",
	"object.spec.template.spec.securityContext == {} && object.spec.template.spec.securityContext.size() == 0",
	"object.map(k, k).size() == object.size()",
	"'%s in %s with %d and %s'.format([object.metadata.name, object.metadata.namespace, object.spec.replicas, object.metadata.labels])",
	"object.metadata.name.matches('^' + object.metadata.labels.app + '$') && url('https://' + object.metadata.name).getHost() == 'shop'",
	"sets.contains(object.spec.template.spec.containers.map(c, c.name), ['web', 'log'])",
	"object[object.kind == 'Deployment' ? 'spec' : 'data'].replicas",
	"dyn(object).spec['template'].spec.containers[2 - 1].name",
	// Errors.
	"object.missing", "object.spec.missing.more", "object.metadata.annotations.a", "object.metadata.labels.missing", "object.metadata.labels['missing']",
	"object[1]", "object.metadata.labels[1]", "object.metadata.labels[true]", "1 in object", "1 in object.metadata.labels", "has(object.spec.replicas.x)",
	"object.spec.template.spec.containers[3]", "object.spec.template.spec.containers[-1]", "object.spec.template.spec.containers[0.0].name",
	"object.spec.template.spec.containers['0']", "object.spec.template.spec.containers.name", "object.spec + 1", "object + object", "object < object",
	"string(object)", "int(object.spec)", "object.metadata.finalizers + 1", "object == 1", "object.metadata.finalizers == 1", "1 == object.metadata.labels",
	"object.spec.replicas.all(x, true)", "object.metadata.name.foo", "!object.spec", "object ? 1 : 2",
}

func compile(tb testing.TB, source string) cel.Program {
	tb.Helper()
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: environment.DefaultCompatibilityVersion(),
		EnvOptions:        []cel.EnvOption{cel.Variable("object", cel.DynType), cel.Variable("old", cel.DynType), cel.Variable("json", cel.DynType)},
	})
	if err != nil {
		tb.Fatal(err)
	}
	env := set.StoredExpressionsEnv()
	ast, issues := env.Compile(source)
	if issues.Err() != nil {
		tb.Fatal(issues.Err())
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(&library.CostEstimator{}))
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

func TestExpressions(t *testing.T) {
	object, old := deployment(), deployment()
	*old.Spec.Replicas++
	decoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	with := func(of func(any) ref.Val) map[string]any {
		return map[string]any{"object": of(object), "old": of(old), "json": types.DefaultTypeAdapter.NativeToValue(decoded)}
	}
	// All expressions share one value, as the policies of one request do.
	ours, theirs := with(values.Of), with(common.SchemalessTypedToVal)
	for _, source := range expressions {
		program := compile(t, source)
		// The first evaluation fills the caches that the second reads.
		for range 2 {
			got, gotDetails, gotErr := program.Eval(ours)
			want, wantDetails, wantErr := program.Eval(theirs)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s: error %v, want %v", source, gotErr, wantErr)
				continue
			}
			if wantErr == nil && (got.Type() != want.Type() || types.Equal(got, want) != types.True || types.Equal(want, got) != types.True) {
				t.Errorf("%s is %v, want %v", source, got, want)
			}
			if *gotDetails.ActualCost() != *wantDetails.ActualCost() {
				t.Errorf("%s cost %d, want %d", source, *gotDetails.ActualCost(), *wantDetails.ActualCost())
			}
		}
	}
}
