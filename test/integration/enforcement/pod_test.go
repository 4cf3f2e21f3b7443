// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Policies apply to every connect operation on pods before the connection is made, which would
// fail here because the pods run on no node.
func TestConnections(t *testing.T) {
	ns := admin.Namespace(t, nil)
	newPod(t, ns, "idle")
	by := enforce(t, ns, `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CONNECT], resources: [pods/*]}]
validations:
- expression: "false"
  messageExpression: "request.name + ': ' + request.subResource + ' of ' + object.kind + (oldObject == null ? '' : ' with old object')"`)
	for subresource, kind := range map[string]string{
		"exec": "PodExecOptions", "attach": "PodAttachOptions", "portforward": "PodPortForwardOptions", "proxy": "PodProxyOptions",
	} {
		for _, verb := range []string{"GET", "POST"} {
			err := core.CoreV1().RESTClient().Verb(verb).Namespace(ns).Resource("pods").Name("idle").SubResource(subresource).Do(t.Context()).Error()
			by.expectInvalid(t, err, "idle: "+subresource+" of "+kind)
		}
	}
	// Reading logs is not a connect operation.
	testserver.ExpectAdmitted(t, core.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").Name("idle").SubResource("log").Do(t.Context()).Error())
}

func TestEphemeralContainers(t *testing.T) {
	ns, ctx := admin.Namespace(t, nil), t.Context()
	pod := newPod(t, ns, "idle")
	by := enforce(t, ns, `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods/ephemeralcontainers]}]
validations:
- expression: object.spec.ephemeralContainers.all(c, c.image == 'good')
  messageExpression: >-
    request.operation + ' of ' + object.kind + ' with ' + string(object.spec.ephemeralContainers.size()) + ' instead of ' +
    string(oldObject.spec.?ephemeralContainers.orValue([]).size())`)
	client := core.CoreV1().Pods(ns)
	debug := func(image string) error {
		changed := pod.DeepCopy()
		changed.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: image}}}
		_, err := client.UpdateEphemeralContainers(ctx, "idle", changed, metav1.UpdateOptions{})
		return err
	}
	by.expectInvalid(t, debug("bad"), "UPDATE of Pod with 1 instead of 0")
	_, err := client.Patch(ctx, "idle", types.StrategicMergePatchType,
		[]byte(`{"spec": {"ephemeralContainers": [{"name": "debug", "image": "bad"}]}}`), metav1.PatchOptions{}, "ephemeralcontainers")
	by.expectInvalid(t, err, "UPDATE of Pod with 1 instead of 0")
	_, err = client.Patch(ctx, "idle", types.MergePatchType, []byte(`{"metadata": {"labels": {"changed": "true"}}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	pod, err = client.Get(ctx, "idle", metav1.GetOptions{})
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, debug("good"))
}

// Evictions and bindings are create requests, although they delete or change pods.
func TestEvictionAndBinding(t *testing.T) {
	ns, ctx := admin.Namespace(t, nil), t.Context()
	newPod(t, ns, "idle")
	by := enforce(t, ns, `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods/eviction, pods/binding]}]
validations:
- expression: >-
    request.subResource == 'binding' && object.target.name == 'mine' ||
    request.subResource == 'eviction' && has(object.deleteOptions.gracePeriodSeconds)
  messageExpression: "request.operation + ' ' + object.apiVersion + ' ' + object.kind + ' of ' + object.metadata.name"`)
	client := core.CoreV1().Pods(ns)
	meta := metav1.ObjectMeta{Name: "idle", Namespace: ns}
	assign := func(node string) error {
		return client.Bind(ctx, &corev1.Binding{ObjectMeta: meta, Target: corev1.ObjectReference{Kind: "Node", Name: node}}, metav1.CreateOptions{})
	}
	by.expectInvalid(t, assign("theirs"), "CREATE v1 Binding of idle")
	testserver.ExpectAdmitted(t, assign("mine"))
	evict := func(options metav1.DeleteOptions) error {
		return client.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: meta, DeleteOptions: &options})
	}
	by.expectInvalid(t, evict(metav1.DeleteOptions{}), "CREATE policy/v1 Eviction of idle")
	testserver.ExpectAdmitted(t, evict(metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
}

// newPod creates a pod that is not scheduled.
func newPod(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	// No controller creates the service account.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := core.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sent := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		Containers:                   []corev1.Container{{Name: "main", Image: "main"}},
		AutomountServiceAccountToken: new(false),
	}}
	created, err := core.CoreV1().Pods(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}
