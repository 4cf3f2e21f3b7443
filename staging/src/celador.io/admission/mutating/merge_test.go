// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"celador.io/admission/internal/constructed"
)

// For random objects and configurations, merge returns nil or the result of structured-merge-diff. It
// supports at least a fifth of them.
func TestMergeMatchesStructuredMergeDiff(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	const rounds = 3000
	plain := 0
	for seed := range uint64(rounds) {
		random := &random{rand.New(rand.NewPCG(seed, 7))}
		object, configuration := random.pod(), random.configuration()
		before, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var merged *merged
		if shape := shapeOf(converter, object); shape != nil {
			merged = merge(object, shape, random.constructedFrom(configuration.Object))
		}
		if after, err := json.Marshal(object); err != nil || string(before) != string(after) {
			t.Fatalf("seed %d: the object itself has changed (-before +after):\n%s", seed, cmp.Diff(string(before), string(after)))
		}
		if merged == nil {
			continue
		}
		plain++
		want, err := patch.ApplyStructuredMergeDiff(converter, object, configuration)
		if err != nil {
			t.Fatalf("seed %d: got %v, want the error %v\nfrom %v", seed, merged.object, err, configuration.Object)
		}
		wantPod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(want.(*unstructured.Unstructured).Object, wantPod); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := text(t, merged.object), text(t, wantPod); got != want {
			t.Fatalf("seed %d: %s\nis merged to (-want +got):\n%s", seed, text(t, configuration), cmp.Diff(want, got))
		}
	}
	if plain < rounds/5 {
		t.Errorf("only %d of %d configurations were plain", plain, rounds)
	}
}

// merge returns changed exactly if the merged object differs from the object.
func TestMergeReportsChanges(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	both := map[bool]int{}
	for seed := range uint64(3000) {
		random := &random{rand.New(rand.NewPCG(seed, 8))}
		object, configuration := random.pod(), random.configuration()
		if random.IntN(2) == 0 {
			configuration = random.part(object)
		}
		shape := shapeOf(converter, object)
		if shape == nil {
			continue
		}
		merged := merge(object, shape, random.constructedFrom(configuration.Object))
		if merged == nil {
			continue
		}
		both[merged.changed]++
		if same := text(t, object) == text(t, merged.object); same == merged.changed {
			t.Fatalf("seed %d: change is %t, but the objects are the same: %t\n%s\n%s", seed, merged.changed, same, text(t, object), text(t, configuration))
		}
	}
	if both[true] < 100 || both[false] < 100 {
		t.Errorf("changed and did not: %v", both)
	}
}

// merge leaves objects whose type names do not match their paths to structured-merge-diff's caller, which
// reports them.
func TestMergeChecksTypeNames(t *testing.T) {
	shape := shapeOf(applyconfigurations.NewTypeConverter(scheme.Scheme), emptyPod())
	for name, supported := range map[string]bool{"Object.spec": true, "Object.status": false, "Object.spe.c": false, "Object": false, "Xbject.spec": false} {
		spec := constructed.New(types.NewObjectType(name), map[string]ref.Val{"hostname": types.String("h")})
		configuration := constructed.New(types.NewObjectType("Object"), map[string]ref.Val{"spec": spec})
		if got := merge(emptyPod(), shape, configuration) != nil; got != supported {
			t.Errorf("merge supports a spec of type %s: %t, want %t", name, got, supported)
		}
	}
}

func emptyPod() *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
}

// shapeOf returns the shape of an object, or nil if the object does not conform to its schema.
func shapeOf(converter managedfields.TypeConverter, object *corev1.Pod) *shape {
	typed, err := converter.ObjectToTyped(object, typed.AllowDuplicates)
	if err != nil {
		return nil
	}
	return (&shapes{}).of(reflect.TypeFor[corev1.Pod](), typed)
}

// constructedFrom returns an object that an expression could construct: from constructors, list literals
// and map literals, or from lists and maps of other origin.
func (r *random) constructedFrom(fields map[string]any) *constructed.Object {
	return r.constructedAt("Object", fields)
}

func (r *random) constructedAt(path string, fields map[string]any) *constructed.Object {
	values := map[string]ref.Val{}
	for name, field := range fields {
		values[name] = r.value(path+"."+name, field)
	}
	return constructed.New(types.NewObjectType(path), values)
}

func (r *random) value(path string, v any) ref.Val {
	if r.IntN(40) == 0 {
		return types.DefaultTypeAdapter.NativeToValue(v)
	}
	switch v := v.(type) {
	case map[string]any:
		if r.IntN(20) != 0 {
			return r.constructedAt(path, v)
		}
		entries := map[ref.Val]ref.Val{}
		for key, value := range v {
			entries[types.String(key)] = r.value(path, value)
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, entries)
	case []any:
		elements := make([]ref.Val, len(v))
		for i, element := range v {
			elements[i] = r.value(path, element)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, elements)
	default:
		return types.DefaultTypeAdapter.NativeToValue(v)
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	encoded, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// random makes pods and parts of pods.
type random struct{ *rand.Rand }

func (r *random) chance() bool { return r.IntN(3) == 0 }

func (r *random) word() string { return []string{"a", "b", "c", "d/e"}[r.IntN(4)] }

func (r *random) words() map[string]string {
	words := map[string]string{}
	for range r.IntN(3) {
		words[r.word()] = r.word()
	}
	return words
}

func several[T any](r *random, most int, one func() T) []T {
	var made []T
	for range r.IntN(most + 1) {
		made = append(made, one())
	}
	return made
}

// sometimes returns nil for most values.
func sometimes[T any](r *random, value T) *T {
	if r.chance() {
		return &value
	}
	return nil
}

func (r *random) pod() *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: r.words(), Annotations: r.words()},
	}
	p.Finalizers = several(r, 2, r.word)
	p.OwnerReferences = several(r, 1, func() metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: r.word(), UID: "u", Controller: sometimes(r, true)}
	})
	s := &p.Spec
	s.HostNetwork, s.NodeName = r.chance(), []string{"", "n"}[r.IntN(2)]
	s.TerminationGracePeriodSeconds, s.Priority = sometimes(r, int64(r.IntN(3))), sometimes(r, int32(r.IntN(3)))
	s.NodeSelector = r.words()
	s.Containers, s.InitContainers = several(r, 3, r.container), several(r, 1, r.container)
	s.ImagePullSecrets = several(r, 2, func() corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: r.word()} })
	s.Tolerations = several(r, 1, func() corev1.Toleration { return corev1.Toleration{Key: r.word(), Operator: corev1.TolerationOpExists} })
	s.SecurityContext = sometimes(r, corev1.PodSecurityContext{RunAsUser: sometimes(r, int64(7)), RunAsNonRoot: sometimes(r, true), SupplementalGroups: several(r, 1, func() int64 { return 5 })})
	s.Affinity = sometimes(r, corev1.Affinity{NodeAffinity: sometimes(r, corev1.NodeAffinity{})})
	s.DNSConfig = sometimes(r, corev1.PodDNSConfig{Nameservers: several(r, 2, r.word)})
	s.TopologySpreadConstraints = several(r, 1, func() corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{MaxSkew: int32(r.IntN(2)), TopologyKey: r.word(), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: r.words()}}
	})
	s.Volumes = several(r, 2, func() corev1.Volume {
		v := corev1.Volume{Name: r.word()}
		v.EmptyDir = sometimes(r, corev1.EmptyDirVolumeSource{SizeLimit: sometimes(r, resource.MustParse("1Gi"))})
		v.ConfigMap = sometimes(r, corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: r.word()}, DefaultMode: sometimes(r, int32(420))})
		return v
	})
	return p
}

func (r *random) container() corev1.Container {
	c := corev1.Container{Name: r.word(), Image: r.word(), TTY: r.chance()}
	c.Command = several(r, 1, r.word)
	c.Env = several(r, 2, func() corev1.EnvVar { return corev1.EnvVar{Name: r.word(), Value: r.word()} })
	c.Ports = several(r, 2, func() corev1.ContainerPort {
		return corev1.ContainerPort{ContainerPort: int32(80 + r.IntN(2)), Protocol: []corev1.Protocol{"", "TCP"}[r.IntN(2)], Name: r.word()}
	})
	c.VolumeMounts = several(r, 2, func() corev1.VolumeMount { return corev1.VolumeMount{Name: r.word(), MountPath: r.word()} })
	c.SecurityContext = sometimes(r, corev1.SecurityContext{Privileged: sometimes(r, false), Capabilities: sometimes(r, corev1.Capabilities{Drop: []corev1.Capability{"ALL"}})})
	if r.chance() {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse([]string{"1", "500m"}[r.IntN(2)])}
	}
	if r.chance() {
		c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: []intstr.IntOrString{intstr.FromInt32(80), intstr.FromString("http")}[r.IntN(2)]}}}
	}
	return c
}

// configuration returns a part of another pod.
func (r *random) configuration() *unstructured.Unstructured { return r.part(r.pod()) }

// part returns an apply configuration with a random part of the fields of a pod.
func (r *random) part(pod *corev1.Pod) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		panic(fmt.Sprint("a pod that cannot be converted: ", err))
	}
	delete(fields, "status")
	r.thin(fields, 0)
	fields["apiVersion"], fields["kind"] = "v1", "Pod"
	return &unstructured.Unstructured{Object: fields}
}

var (
	// keys are the list map keys of the lists in a pod. part keeps them.
	keys = []string{"name", "containerPort", "protocol", "mountPath", "uid", "topologyKey", "whenUnsatisfiable"}
	// atomics are fields with atomic values, which merge does not support. part removes most of them.
	atomics = []string{"command", "nodeSelector", "nameservers", "drop", "supplementalGroups", "tolerations", "labelSelector", "httpGet", "configMap"}
)

// thin removes random fields of an object.
func (r *random) thin(fields map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		keep := depth == 0 || slices.Contains(keys, name)
		if !keep && r.IntN(2) == 0 || slices.Contains(atomics, name) && r.IntN(20) != 0 || r.IntN(60) == 0 {
			delete(fields, name)
			continue
		}
		switch value := fields[name].(type) {
		case nil:
			if r.IntN(20) != 0 {
				delete(fields, name)
			}
		case map[string]any:
			r.thin(value, depth+1)
			if len(value) == 0 && r.IntN(10) != 0 {
				delete(fields, name)
			}
		case []any:
			if r.IntN(20) == 0 {
				fields[name] = []any{}
			}
			for _, element := range value {
				if object, ok := element.(map[string]any); ok {
					r.thin(object, depth+1)
				}
			}
		}
	}
}
