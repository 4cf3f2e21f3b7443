// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("UPDATE")+`
validations:
- expression: request.operation == 'UPDATE' && int(object.data.size) >= int(oldObject.data.size)
  messageExpression: "'no shrinking from ' + oldObject.data.size + ' to ' + object.data.size"`)
	client := core.CoreV1().ConfigMaps(ns)
	stored, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "box"}, Data: map[string]string{"size": "5"}}, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)

	resize := func(size string) error {
		changed := stored.DeepCopy()
		changed.Data["size"] = size
		_, err := client.Update(ctx, changed, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	by.expectInvalid(t, resize("4"), "no shrinking from 5 to 4")
	testserver.ExpectAdmitted(t, resize("6"))

	_, err = client.Patch(ctx, "box", types.MergePatchType, []byte(`{"data": {"size": "3"}}`), metav1.PatchOptions{})
	by.expectInvalid(t, err, "no shrinking from 5 to 3")
	_, err = client.Apply(ctx, coreapply.ConfigMap("box", ns).WithData(map[string]string{"size": "2"}), metav1.ApplyOptions{FieldManager: "test", Force: true})
	by.expectInvalid(t, err, "no shrinking from 5 to 2")
	_, err = client.Apply(ctx, coreapply.ConfigMap("new", ns).WithData(map[string]string{"size": "1"}), metav1.ApplyOptions{FieldManager: "test"})
	testserver.ExpectAdmitted(t, err)
}

func TestDelete(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, configMaps("DELETE")+`
validations:
- expression: object == null && oldObject.data.keep != 'yes'
  message: to be kept`)
	client := core.CoreV1().ConfigMaps(ns)
	for name, keep := range map[string]string{"kept": "yes", "left": "no", "also-left": "no"} {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"keep": keep}}, metav1.CreateOptions{})
		testserver.ExpectAdmitted(t, err)
	}
	by.expectInvalid(t, client.Delete(ctx, "kept", metav1.DeleteOptions{}), "to be kept")
	testserver.ExpectAdmitted(t, client.Delete(ctx, "left", metav1.DeleteOptions{}))

	err := client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=kept"})
	by.expectInvalid(t, err, "to be kept")
	testserver.ExpectAdmitted(t, client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=also-left"}))
	if _, err := client.Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("the protected object: %v", err)
	}
}

// The object of a connect request holds its options.
func TestConnect(t *testing.T) {
	ns := admin.Namespace(t, nil)
	by := enforce(t, ns, `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CONNECT], resources: [pods/exec]}]
validations:
- expression: object.kind == 'PodExecOptions' && !('sh' in object.command)
  message: no shells`)
	connect := func(subresource, command string) error {
		return core.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Name("none").SubResource(subresource).
			Param("command", command).Param("stdout", "true").Do(t.Context()).Error()
	}
	by.expectInvalid(t, connect("exec", "sh"), "no shells")
	// Admission precedes the lookup of the pod, which does not exist.
	for subresource, command := range map[string]string{"exec": "ls", "attach": "sh"} {
		if err := connect(subresource, command); !apierrors.IsNotFound(err) {
			t.Errorf("%s %s: got error %v, want not found", subresource, command, err)
		}
	}
}

// A subresource is matched only by its own name, and its object has its own kind.
func TestSubresource(t *testing.T) {
	t.Parallel()
	ns, ctx := admin.Namespace(t, nil), t.Context()
	by := enforce(t, ns, `
matchConstraints:
  resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments/scale]}]
validations:
- expression: object.kind == 'Scale' && object.spec.replicas <= 5
  messageExpression: "'from ' + string(oldObject.spec.replicas) + ' to ' + string(object.spec.replicas) + ' by ' + request.subResource"`)
	client := core.AppsV1().Deployments(ns)
	labels := map[string]string{"app": "web"}
	stored, err := client.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)

	scale := func(replicas int32) error {
		_, err := client.UpdateScale(ctx, "web", &autoscalingv1.Scale{
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: ns}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
		}, metav1.UpdateOptions{})
		return err
	}
	by.expectInvalid(t, scale(6), "from 1 to 6 by scale")
	stored.Spec.Replicas = new(int32(6))
	stored, err = client.Update(ctx, stored, metav1.UpdateOptions{})
	testserver.ExpectAdmitted(t, err)
	stored.Status.Replicas = 6
	_, err = client.UpdateStatus(ctx, stored, metav1.UpdateOptions{})
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, scale(5))
}
