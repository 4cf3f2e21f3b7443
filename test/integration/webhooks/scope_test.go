// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// operation is a request about an object with mark "yes" or "no".
type operation struct {
	rule rule
	// other is a rule that the request does not match.
	other rule
	// is is true for all requests of the operation, and marked for those about an object with mark
	// "yes".
	is, marked string
	// prepare creates the objects that the request needs and returns the request. The request must
	// not use outdated objects, because the server would retry it and call webhooks again.
	prepare func(t *testing.T, namespace, mark string) func() error
}

// Requests that match the rules of a webhook reach it if all of its conditions are true. Other
// requests do not reach it, whatever its conditions are.
func TestScope(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("boxes") + ".example.com"
	define(t, group)
	boxes := rule{"", group, "v1", "boxes"}
	of := func(operation string, r rule) rule { r.operation = operation; return r }

	for name, op := range map[string]operation{
		"create": {
			rule: createConfigMaps, other: of("UPDATE", createConfigMaps),
			is:     `request.operation == 'CREATE' && oldObject == null`,
			marked: `object.data.mark == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				return func() error {
					_, err := newConfigMap(t, core, namespace, mark)
					return err
				}
			},
		},
		"update": {
			rule: of("UPDATE", createConfigMaps), other: createConfigMaps,
			is:     `request.operation == 'UPDATE' && object.metadata.uid == oldObject.metadata.uid`,
			marked: `oldObject.data.mark == 'yes' && object.data.mark == 'changed'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newConfigMap(t, core, namespace, mark))(t)
				stored.Data["mark"] = "changed"
				return func() error {
					_, err := core.CoreV1().ConfigMaps(namespace).Update(t.Context(), stored, metav1.UpdateOptions{})
					return err
				}
			},
		},
		"patch": {
			rule: of("UPDATE", createConfigMaps), other: rule{"UPDATE", "", "v1", "secrets"},
			is:     `request.operation == 'UPDATE' && has(object.data.added) && !has(oldObject.data.added)`,
			marked: `object.data.mark == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newConfigMap(t, core, namespace, mark))(t)
				return func() error {
					_, err := core.CoreV1().ConfigMaps(namespace).Patch(t.Context(), stored.Name, types.MergePatchType, []byte(`{"data": {"added": "x"}}`), metav1.PatchOptions{})
					return err
				}
			},
		},
		"delete": {
			rule: of("DELETE", createConfigMaps), other: createConfigMaps,
			is:     `request.operation == 'DELETE' && object == null`,
			marked: `oldObject.data.mark == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newConfigMap(t, core, namespace, mark))(t)
				return func() error {
					return core.CoreV1().ConfigMaps(namespace).Delete(t.Context(), stored.Name, metav1.DeleteOptions{})
				}
			},
		},
		"delete a collection": {
			rule: of("DELETE", createConfigMaps), other: createConfigMaps,
			is:     `request.operation == 'DELETE' && object == null`,
			marked: `oldObject.data.mark == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newConfigMap(t, core, namespace, mark))(t)
				return func() error {
					return core.CoreV1().ConfigMaps(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + stored.Name})
				}
			},
		},
		"connect": {
			rule: rule{"CONNECT", "", "v1", "pods/exec"}, other: rule{"CONNECT", "", "v1", "pods/attach"},
			is:     `request.operation == 'CONNECT' && request.subResource == 'exec' && object.kind == 'PodExecOptions'`,
			marked: `'yes' in object.command`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				return func() error {
					// Admission precedes the lookup of the pod, which does not exist.
					err := core.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name("none").SubResource("exec").
						Param("command", mark).Param("stdout", "true").Do(t.Context()).Error()
					if !apierrors.IsNotFound(err) {
						return fmt.Errorf("got error %w, want not found", err)
					}
					return nil
				}
			},
		},
		"connect to a service": {
			rule: rule{"CONNECT", "", "v1", "services/proxy"}, other: rule{"CONNECT", "", "v1", "pods/proxy"},
			is:     `request.operation == 'CONNECT' && object.kind == 'ServiceProxyOptions' && oldObject == null`,
			marked: `object.path == '/yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "idle-" + mark}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
				testserver.Must(core.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}))(t)
				return func() error {
					err := core.CoreV1().RESTClient().Get().Namespace(namespace).Resource("services").Name(service.Name).SubResource("proxy").
						Suffix(mark).Do(t.Context()).Error()
					if !apierrors.IsServiceUnavailable(err) {
						return fmt.Errorf("got error %w, want a service without endpoints", err)
					}
					return nil
				}
			},
		},
		"change a subresource": {
			rule: rule{"UPDATE", "", "v1", "resourcequotas/status"}, other: rule{"UPDATE", "", "v1", "resourcequotas"},
			is:     `request.operation == 'UPDATE' && request.subResource == 'status' && object.metadata.name == request.name`,
			marked: `oldObject.metadata.labels['mark'] == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: mark, Labels: map[string]string{"mark": mark}}}
				testserver.Must(core.CoreV1().ResourceQuotas(namespace).Create(t.Context(), quota, metav1.CreateOptions{}))(t)
				return func() error {
					_, err := core.CoreV1().ResourceQuotas(namespace).Patch(t.Context(), mark, types.MergePatchType, []byte(`{"status": {"used": {"pods": "1"}}}`), metav1.PatchOptions{}, "status")
					return err
				}
			},
		},
		"create a custom resource in another version": {
			rule: of("CREATE", boxes), other: of("UPDATE", boxes),
			is:     `request.kind.version == 'v1' && request.requestKind.version == 'v2' && object.apiVersion == '` + group + `/v1'`,
			marked: `object.spec.label == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				return func() error {
					_, err := newBox(t.Context(), group, namespace, mark)
					return err
				}
			},
		},
		"update a custom resource in another version": {
			rule: of("UPDATE", boxes), other: of("CREATE", boxes),
			is:     `request.operation == 'UPDATE' && object.apiVersion == '` + group + `/v1' && oldObject.apiVersion == object.apiVersion`,
			marked: `oldObject.spec.label == 'yes' && object.spec.label == 'changed'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newBox(t.Context(), group, namespace, mark))(t)
				return func() error {
					_, err := boxesOf(group, namespace).Patch(t.Context(), stored.GetName(), types.MergePatchType, []byte(`{"spec": {"text": "changed"}}`), metav1.PatchOptions{})
					return err
				}
			},
		},
		"delete a custom resource in another version": {
			rule: of("DELETE", boxes), other: of("CREATE", boxes),
			is:     `request.operation == 'DELETE' && object == null && oldObject.apiVersion == '` + group + `/v1'`,
			marked: `oldObject.spec.label == 'yes'`,
			prepare: func(t *testing.T, namespace, mark string) func() error {
				stored := testserver.Must(newBox(t.Context(), group, namespace, mark))(t)
				return func() error {
					return boxesOf(group, namespace).Delete(t.Context(), stored.GetName(), metav1.DeleteOptions{})
				}
			},
		},
	} {
		for _, kind := range []string{validating, mutating} {
			t.Run(name+" "+kind, func(t *testing.T) {
				ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
				configure(t, kind, ns, hook,
					webhook{name: "unconditional", rule: op.rule},
					webhook{name: "always", rule: op.rule, conditions: []string{op.is}},
					webhook{name: "never", rule: op.rule, conditions: []string{"!(" + op.is + ")"}},
					webhook{name: "one", rule: op.rule, conditions: []string{op.marked}},
					webhook{name: "negated", rule: op.rule, conditions: []string{"!(" + op.marked + ")"}},
					webhook{name: "several", rule: op.rule, conditions: []string{op.is, op.marked, "true"}},
					webhook{name: "several-negated", rule: op.rule, conditions: []string{op.is, "!(" + op.marked + ")"}},
					webhook{name: "several-never", rule: op.rule, conditions: []string{op.is, op.marked, "!(" + op.marked + ")"}},
					webhook{name: "outside-unconditional", rule: op.other},
					webhook{name: "outside-one", rule: op.other, conditions: []string{op.is}},
					webhook{name: "outside-several", rule: op.other, conditions: []string{op.is, "true"}},
				)
				for mark, want := range map[string][]string{
					"yes": {"unconditional", "always", "one", "several"},
					"no":  {"unconditional", "always", "negated", "several-negated"},
				} {
					request := op.prepare(t, ns, mark)
					hook.Take()
					testserver.ExpectAdmitted(t, request())
					expectCalls(t, hook, want...)
				}
			})
		}
	}
}
