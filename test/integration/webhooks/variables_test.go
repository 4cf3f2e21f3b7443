// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// Conditions read the request and call the authorizer on behalf of its user.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{validating, mutating} {
		t.Run(kind, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
			allow(t, ns, "ann", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create", "paint"}})
			configure(t, kind, ns, hook, webhook{name: "hook", rule: createConfigMaps, conditions: []string{
				`object.kind == 'ConfigMap' && object.apiVersion == 'v1' && object.metadata.namespace == '` + ns + `' && object.data == {'mark': 'yes'}`,
				`oldObject == null`,
				`request.operation == 'CREATE' && request.name == object.metadata.name && request.namespace == '` + ns + `'`,
				`request.resource.group == '' && request.resource.version == 'v1' && request.resource.resource == 'configmaps' && !has(request.subResource)`,
				`request.kind.kind == 'ConfigMap' && request.kind == request.requestKind && request.resource == request.requestResource`,
				`request.userInfo.username == 'ann' && 'staff' in request.userInfo.groups && !('system:masters' in request.userInfo.groups)`,
				`request.dryRun == false && request.options.kind == 'CreateOptions'`,
				`authorizer.requestResource.check('create').allowed() && !authorizer.requestResource.check('delete').allowed()`,
				`authorizer.group('').resource('configmaps').namespace('` + ns + `').check('paint').allowed()`,
				`!authorizer.group('').resource('configmaps').namespace('default').check('paint').allowed()`,
				`!authorizer.path('/secret').check('get').allowed()`,
			}})
			_, err := newConfigMap(t, admin.As(t, "ann", "staff", "system:authenticated").Core, ns, "yes")
			testserver.ExpectAdmitted(t, err)
			expectCalls(t, hook, "hook")
			_, err = newConfigMap(t, core, ns, "yes")
			testserver.ExpectAdmitted(t, err)
			expectCalls(t, hook)
		})
	}
}

// allow grants a user permissions in a namespace until the end of the test.
func allow(t *testing.T, namespace, user string, what rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: testserver.UniqueName(user)}
	roles, bindings := core.RbacV1().Roles(namespace), core.RbacV1().RoleBindings(namespace)
	testserver.Must(roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{what}}, metav1.CreateOptions{}))(t)
	testserver.Must(bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		testserver.ExpectDeleted(t, bindings.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
		testserver.ExpectDeleted(t, roles.Delete(context.Background(), meta.Name, metav1.DeleteOptions{}))
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		review, err := core.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: what.Verbs[0], Group: what.APIGroups[0], Resource: what.Resources[0]},
		}}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = fmt.Errorf("%s is not allowed %v yet", user, what)
		}
		return err
	})
}
