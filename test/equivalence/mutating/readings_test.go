// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"

	"celador.io/celador/test/equivalence/harness"
)

// richPod returns a pod with fields of many types and the given memory limit.
func richPod(memory string) *corev1.Pod {
	p := pod("blue", "p")
	p.Spec.NodeSelector, p.Spec.Tolerations = map[string]string{}, nil
	p.Spec.Containers[1] = corev1.Container{Name: "side"}
	p.CreationTimestamp = metav1.Unix(1_767_323_045, 0)
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "u1", Controller: new(true), BlockOwnerDeletion: new(false)}}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Update", Time: &metav1.Time{Time: p.CreationTimestamp.Time}, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:containers":{}}}`)}}}
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(0)), SupplementalGroups: []int64{1, 2}}
	p.Spec.Priority = new(int32(-5))
	main := &p.Spec.Containers[0]
	main.Env, main.Ports = main.Env[:1], main.Ports[:1]
	main.Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse(memory), "cpu": resource.MustParse("0.5")}}
	main.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: p.CreationTimestamp.Time}, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	return p
}

// updates returns update requests with fields of many types. Old and new objects differ in the
// format of a quantity.
func updates() map[string]request {
	podUpdate := fixed["create pod"]
	podUpdate.Operation, podUpdate.Options = admission.Update, &metav1.UpdateOptions{}
	podUpdate.Object, podUpdate.Old = received(richPod("1Gi")), received(richPod("1073741824"))
	secret := func(text string) runtime.Object {
		return received(&corev1.Secret{ObjectMeta: harness.Metadata("blue", "p"), Immutable: new(false), Data: map[string][]byte{"plain": []byte(text), "empty": {}, "binary": {0xff, 0, 0x3e}}})
	}
	secretUpdate := podUpdate
	secretUpdate.Resource, secretUpdate.Kind = corev1.SchemeGroupVersion.WithResource("secrets"), corev1.SchemeGroupVersion.WithKind("Secret")
	secretUpdate.Object, secretUpdate.Old = secret("hello"), secret("hullo")
	return map[string]request{"pod": podUpdate, "secret": secretUpdate}
}

// content returns the JSON value of an object in the version of the request.
func content(t *testing.T, r request, object runtime.Object) map[string]any {
	t.Helper()
	versioned, err := legacyscheme.Scheme.ConvertToVersion(object, r.Kind.GroupVersion())
	must(t, err)
	decoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(versioned)
	must(t, err)
	return decoded
}

// TestReadings compares how expressions of mutations see every value other than the objects of
// the request.
func TestReadings(t *testing.T) {
	r := updates()["secret"]
	for root, others := range map[string][]string{
		"request":              {"", ".name", ".dryRun", ".resource", ".userInfo", ".userInfo.groups", ".options"},
		"namespaceObject":      {"", ".metadata", ".metadata.labels"},
		"dyn(namespaceObject)": {"", ".metadata", ".metadata.ownerReferences", ".metadata.managedFields", ".spec.finalizers", ".status"},
		"object":               {".data", ".data.plain", ".data.empty", ".data.binary", ".immutable"},
	} {
		t.Run(root, func(t *testing.T) {
			var paths []string
			for _, path := range others {
				paths = append(paths, root+path)
			}
			compareReadings(t, r, nil, root, map[string]string{"object": "oldObject"}[root], paths)
		})
	}
	built := configMap("blue", "a", "5")
	built.SetLabels(map[string]string{"app": "shop"})
	built.SetFinalizers([]string{"example.com/f"})
	built.Object["binaryData"], built.Object["immutable"] = map[string]any{"binary": "/wD+"}, true
	custom := limit("blue", "a", 5, "x")
	custom.Object["more"] = []any{int64(1), 1.5, nil, map[string]any{"a": map[string]any{}}, []any{}, "é", false}
	for _, param := range []*unstructured.Unstructured{built, custom} {
		t.Run(param.GetKind(), func(t *testing.T) {
			compareReadings(t, r, param, "params", "", harness.Paths("params", param.Object))
		})
		t.Run(param.GetKind()+" with conditions", func(t *testing.T) {
			compareReadings(t, r, param, "params", "", []string{"params", "params.metadata"}, when("size(params) > 0"))
		})
	}
}

// compareReadings compares all readings of the values at the given paths, which begin with
// root. If other is not empty, each value is also compared to the value at the same path below
// other.
func compareReadings(t *testing.T, r request, param *unstructured.Unstructured, root, other string, paths []string, changes ...func(*spec)) {
	t.Helper()
	var mutations []v1.Mutation
	for _, path := range paths {
		for _, reading := range harness.Readings {
			with := path
			if other != "" {
				with = harness.OtherRoot(path, root, other)
			}
			mutations = append(mutations, shown(harness.Read(reading, path, with)))
		}
	}
	for some := range slices.Chunk(mutations, 1000) {
		compareShown(t, r, param, with(spec{Mutations: some}, changes...))
	}
}

// shown returns a mutation whose error contains the value or the error of an expression.
func shown(expression string) v1.Mutation { return patch(showing(expression)) }

func showing(expression string) string {
	return "[JSONPatch{op: 'add', path: {}['%s'.format([" + expression + "])], value: 1}]"
}

// compareShown compares a policy whose mutations all fail.
func compareShown(t *testing.T, r request, param *unstructured.Unstructured, s spec) {
	t.Helper()
	e := example{spec: s}
	if param != nil {
		parameterized(&v1.ParamKind{APIVersion: param.GetAPIVersion(), Kind: param.GetKind()})(&e.spec)
		e.bindings = []*v1.MutatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, using(v1.ParamRef{Name: param.GetName()}))}
		e.params = []*unstructured.Unstructured{param}
	}
	got := compareIn(t, e.scenario(), map[string]request{"it": r})
	got.check(t)
	if causes := got.outcomes["it"].last().Status.Details.Causes; len(causes) != len(s.Mutations) {
		t.Errorf("%d of %d values were seen: %v", len(causes), len(s.Mutations), causes)
	}
}

// check fails the test if outcomes differ in more than the names of Go types.
func (c comparison) check(t *testing.T) {
	t.Helper()
	if c.Unexplained != nil {
		t.Error(c)
	}
	for _, name := range c.Explained {
		if name != goTypeNames {
			t.Errorf("%s shows", name)
		}
	}
}

// places are paths to values of many types in richPod.
var places = []string{
	"metadata", "metadata.labels", "metadata.finalizers", "metadata.creationTimestamp", "metadata.ownerReferences", "spec", "spec.containers", "spec.containers[0]", "spec.containers[0].resources.limits.memory",
	"spec.containers[0].readinessProbe.httpGet.port", "spec.nodeSelector", "spec.priority", "status.conditions",
}

// TestReadingsInForms reads values in both forms: in JSON patches, apply configurations,
// variables and match conditions, with and without preceding match conditions.
func TestReadingsInForms(t *testing.T) {
	r := updates()["pod"]
	for name, changes := range map[string][]func(*spec){"without conditions": nil, "with conditions": {when("true")}} {
		for root, other := range map[string]string{"object": "oldObject", "oldObject": "object"} {
			t.Run(root+" "+name, func(t *testing.T) {
				var paths []string
				for _, place := range places {
					paths = append(paths, root+"."+place)
				}
				compareReadings(t, r, nil, root, other, paths, changes...)
			})
		}
		t.Run("configurations "+name, func(t *testing.T) {
			var s spec
			for _, place := range places[:5] {
				for _, reading := range harness.Readings {
					s.Mutations = append(s.Mutations, configuration(labelled("v", "{}['%s'.format(["+harness.Read(reading, "object."+place, "oldObject."+place)+"])]")))
				}
			}
			compareShown(t, r, nil, with(s, changes...))
		})
		t.Run("variables "+name, func(t *testing.T) {
			var s spec
			for i, place := range places[5:10] {
				let(fmt.Sprint("v", i), "object."+place, fmt.Sprint("w", i), "oldObject."+place)(&s)
				for _, reading := range harness.Readings {
					s.Mutations = append(s.Mutations, shown(harness.Read(reading, fmt.Sprint("variables.v", i), fmt.Sprint("variables.w", i))))
				}
			}
			compareShown(t, r, nil, with(s, changes...))
		})
	}
	t.Run("conditions", func(t *testing.T) {
		for _, place := range places {
			var conditions []string
			for _, reading := range harness.Readings {
				conditions = append(conditions, "{}['%s'.format(["+harness.Read(reading, "object."+place, "oldObject."+place)+"])]")
			}
			got := compareIn(t, example{spec: with(applying(one), when(conditions...))}.scenario(), map[string]request{"it": r})
			got.check(t)
		}
	})
}

// TestPartsOfObjects writes parts of the object with JSON patches.
func TestPartsOfObjects(t *testing.T) {
	for name, r := range updates() {
		for _, value := range []string{"%s", "dyn([%s])[0]", "{'a': %s}.a", "[[%s]][0][0]", "[%s].map(x, x)[0]", "optional.of(%s).value()"} {
			var s spec
			for _, path := range harness.Paths("object", content(t, r, r.Object))[1:] {
				s.Mutations = append(s.Mutations, patch(fmt.Sprintf("[JSONPatch{op: 'replace', path: '%s', value: %s}]", pointerTo(path), fmt.Sprintf(value, path))))
			}
			t.Run(name+"/"+value, func(t *testing.T) {
				got := compareIn(t, example{spec: s}.scenario(), map[string]request{"it": r})
				got.check(t)
			})
		}
	}
}

// pointerTo returns the JSON pointer of a path in the object.
func pointerTo(path string) string {
	return strings.NewReplacer("object", "", ".", "/", "['", "/", "']", "", "[", "/", "]", "").Replace(strings.ReplaceAll(strings.ReplaceAll(path, "~", "~0"), "a/b", "a~1b"))
}

// TestUnconvertibleObjects compares expressions over objects with a field that only protobuf can
// encode.
func TestUnconvertibleObjects(t *testing.T) {
	broken := func(memory string) runtime.Object {
		object := received(richPod(memory))
		object.(*core.Pod).Spec.Containers[0].LivenessProbe.HTTPGet.Port.Type = 7
		return object
	}
	r := updates()["pod"]
	intact := r.Old
	for name, objects := range map[string][2]runtime.Object{"object": {broken("1Gi"), intact}, "oldObject": {r.Object, broken("1Gi")}, "both": {broken("1Gi"), broken("2Gi")}} {
		r.Object, r.Old = objects[0], objects[1]
		for of, s := range map[string]spec{
			"another part": patching(showing("object.metadata.name")), "the part": patching(showing("object.spec.containers[0].livenessProbe.httpGet.port")),
			"nothing": patching("[JSONPatch{op: 'remove', path: '/nothing'}]"), "whole": patching(showing("object == oldObject")), "does not compile": applying(invalid), "unset": applying("Object{spec: Object.spec{none: 1}}"),
		} {
			t.Run(name+"/"+of, func(t *testing.T) {
				got := compareIn(t, example{spec: s}.scenario(), map[string]request{"it": r})
				got.check(t)
			})
		}
	}
}
