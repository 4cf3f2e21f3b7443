// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// A user who may edit bindings but not read a Secret must not learn its content by making it a
// parameter of a binding that applies to the user's own requests.
func TestEditorsOfBindingsDoNotReadParams(t *testing.T) {
	t.Parallel()
	const (
		everywhere = `{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: Exists}]}}`
		configmaps = `
paramKind: {apiVersion: v1, kind: Secret}
matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}`
	)
	for resource, tc := range map[string]struct {
		policies, policy, binding string
		changes                   map[string]string // by field of the spec
	}{
		bindings: {
			policies: policies,
			policy: `
validations: [{expression: "false", messageExpression: "'the token is ' + string(params.data.token)"}]`,
			binding: `
validationActions: [Deny]`,
			changes: map[string]string{"matchResources": everywhere, "validationActions": `[Audit]`},
		},
		mutatingBindings: {
			policies: mutatingPolicies,
			policy: `
failurePolicy: Fail
reinvocationPolicy: Never
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{data: {'leak': 'the token is ' + string(params.data.token)}}"}`,
			changes: map[string]string{"matchResources": everywhere},
		},
	} {
		t.Run(resource, func(t *testing.T) {
			may := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
				return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
			}
			guarded, own := testserver.Must(testserver.NewClients(admin))(t).Namespace(t, nil), testserver.Must(testserver.NewClients(admin))(t).Namespace(t, nil)
			editor := author(t, may(group, resource, "*"), may("", "configmaps", "create"))
			reader := author(t, may(group, resource, "*"), may("", "secrets", "get"))
			testserver.Must(stock(t, admin).CoreV1().Secrets(guarded).Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "token"}, Data: map[string][]byte{"token": []byte("swordfish")},
			}, metav1.CreateOptions{}))(t)
			name := testserver.UniqueName("access")
			create(t, raw(t, admin, "v1", tc.policies), object(t, "v1", tc.policies, name, configmaps+tc.policy))
			create(t, raw(t, admin, "v1", resource), object(t, "v1", resource, name, `
policyName: `+name+`
paramRef: {name: token, namespace: `+guarded+`, parameterNotFoundAction: Deny}
matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+guarded+`}}}`+tc.binding))
			expectToken(t, "", guarded)

			for field, value := range tc.changes {
				for _, version := range versions[resource] {
					for how, write := range specWrites {
						t.Run(strings.Join([]string{field, version, how}, " "), func(t *testing.T) {
							err := write(t, raw(t, as(editor), version, resource), version, resource, name, field, value)
							expectCauses(t, err, map[string]string{"spec.paramRef": "Forbidden: user " + described(editor) +
								` does not have "get" permission on the object referenced by paramRef`})
						})
					}
				}
			}
			patch := []byte(`{"metadata": {"labels": {"team": "blue"}}}`)
			if _, err := raw(t, as(editor), "v1", resource).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Errorf("a change of labels: %v", err)
			}
			if answer := answer(t.Context(), t, editor, own); strings.Contains(answer, "token") {
				t.Errorf("the editor reads %s", answer)
			}

			// The same change has this effect if a user makes it who may read the Secret.
			if err := specWrites["update"](t, raw(t, as(reader), "v1", resource), "v1", resource, name, "matchResources", everywhere); err != nil {
				t.Fatal(err)
			}
			expectToken(t, editor, own)
		})
	}
}

// specWrites set one field of an object's spec to a YAML value, each through another API
// operation.
var specWrites = map[string]func(t *testing.T, client dynamic.ResourceInterface, version, resource, name, field, value string) error{
	"update": func(t *testing.T, client dynamic.ResourceInterface, _, _, name, field, value string) error {
		stored := testserver.Must(client.Get(t.Context(), name, metav1.GetOptions{}))(t)
		stored.Object["spec"].(map[string]any)[field] = parse(t, "value: "+value)["value"]
		_, err := client.Update(t.Context(), stored, metav1.UpdateOptions{})
		return err
	},
	"merge patch": func(t *testing.T, client dynamic.ResourceInterface, _, _, name, field, value string) error {
		patch := testserver.Must(json.Marshal(map[string]any{"spec": parse(t, field+": "+value)}))(t)
		_, err := client.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	},
	"JSON patch": func(t *testing.T, client dynamic.ResourceInterface, _, _, name, field, value string) error {
		patch := fmt.Appendf(nil, `[{"op": "add", "path": "/spec/%s", "value": %s}]`, field, testserver.Must(json.Marshal(parse(t, "value: "+value)["value"]))(t))
		_, err := client.Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{})
		return err
	},
	"apply": func(t *testing.T, client dynamic.ResourceInterface, version, resource, name, field, value string) error {
		_, err := client.Apply(t.Context(), name, object(t, version, resource, name, field+": "+value), metav1.ApplyOptions{FieldManager: "editor", Force: true})
		return err
	},
	"dry run": func(t *testing.T, client dynamic.ResourceInterface, _, _, name, field, value string) error {
		patch := testserver.Must(json.Marshal(map[string]any{"spec": parse(t, field+": "+value)}))(t)
		_, err := client.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	},
}

// expectToken waits until the response to the creation of a ConfigMap contains the token. An
// empty user is the administrator.
func expectToken(t *testing.T, user, namespace string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		if answer := answer(ctx, t, user, namespace); !strings.Contains(answer, "the token is ") {
			return errors.New("no token in: " + answer)
		}
		return nil
	})
}

// answer returns the response to the creation of a ConfigMap in a dry run. An empty user is the
// administrator.
func answer(ctx context.Context, t *testing.T, user, namespace string) string {
	t.Helper()
	created, err := stock(t, as(user)).CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatal(err)
	}
	return fmt.Sprint(created, err)
}

// namespace creates a namespace and returns its name.
