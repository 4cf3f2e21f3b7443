// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1beta1"

	"celador.io/celador/test/integration/testserver"
)

// forbid returns the manifests of a policy that denies writes with a label, and of its binding.
func forbid(label string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: forbid-%[1]s.static.k8s.io}
spec:
  matchConstraints:
    objectSelector: {matchLabels: {write: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", message: "%[1]s is forbidden"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: forbid-%[1]s.static.k8s.io}
spec: {policyName: forbid-%[1]s.static.k8s.io, validationActions: [Deny]}
`, label)
}

func forbidden(label string) string {
	return fmt.Sprintf("ValidatingAdmissionPolicy 'forbid-%[1]s.static.k8s.io' with binding 'forbid-%[1]s.static.k8s.io' denied request: %[1]s is forbidden", label)
}

// guard protects policies and bindings whose names start with "guarded", and denies all requests
// of user victim that policies can deny.
const guard = `apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: guard.static.k8s.io}
  spec:
    matchConstraints:
      resourceRules:
      - apiGroups: [admissionregistration.k8s.io]
        apiVersions: [v1]
        operations: ["*"]
        resources: [validatingadmissionpolicies, validatingadmissionpolicybindings, mutatingadmissionpolicies, mutatingadmissionpolicybindings]
    validations: [{expression: "!(oldObject == null ? object : oldObject).metadata.name.startsWith('guarded')", message: on guard, reason: Forbidden}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: victim.static.k8s.io}
  spec:
    matchConstraints:
      resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]
    matchConditions: [{name: victim, expression: "request.userInfo.username == 'victim'"}]
    validations: [{expression: "false"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBindingList
  items:
  - metadata: {name: guard.static.k8s.io}
    spec: {policyName: guard.static.k8s.io, validationActions: [Deny]}
  - metadata: {name: victim.static.k8s.io}
    spec: {policyName: victim.static.k8s.io, validationActions: [Deny]}
`

func TestPolicies(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "first.yaml", forbid("first"))
	server := testserver.Start(t, t.TempDir(), configure(t, map[string]string{"ValidatingAdmissionPolicy": dir}),
		"--runtime-config=admissionregistration.k8s.io/v1beta1=true")
	client := clients{server.Clients()}

	t.Run("in effect from the start", func(t *testing.T) {
		check(t, client.write(t.Context(), "first"), forbidden("first"))
		check(t, client.write(t.Context(), "second"), "")
	})
	t.Run("not an object of the API", func(t *testing.T) {
		list, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("got %v, %v, want no policy", list, err)
		}
		_, err = client.create(t.Context(), "mine.static.k8s.io")
		check(t, err, "reserved for static manifest-based configurations")
	})
	t.Run("reload", func(t *testing.T) {
		_, before := client.loads(t, "success")
		write(t, dir, "second.yaml", forbid("second"))
		client.eventually(t, "second", forbidden("second"))
		check(t, client.write(t.Context(), "first"), forbidden("first"))
		testserver.Eventually(t, func(context.Context) error {
			if count, hash := client.loads(t, "success"); count < 2 || hash == before || hash == "" {
				return fmt.Errorf("%v loads, hash %s", count, hash)
			}
			return nil
		})
	})
	t.Run("wrong file", func(t *testing.T) {
		failures, _ := client.loads(t, "failure")
		_, hash := client.loads(t, "success")
		write(t, dir, "second.yaml", strings.Replace(forbid("third"), `"false"`, `"no"`, 1))
		testserver.Eventually(t, func(context.Context) error {
			if count, _ := client.loads(t, "failure"); count <= failures {
				return fmt.Errorf("%v failures", count)
			}
			return nil
		})
		check(t, client.write(t.Context(), "second"), forbidden("second"))
		check(t, client.write(t.Context(), "third"), "")
		if _, got := client.loads(t, "success"); got != hash {
			t.Errorf("hash is %s, was %s", got, hash)
		}
	})
	t.Run("corrected file", func(t *testing.T) {
		write(t, dir, "second.yaml", forbid("third"))
		client.eventually(t, "third", forbidden("third"))
		check(t, client.write(t.Context(), "second"), "")
	})
	t.Run("removed file", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, "first.yaml")); err != nil {
			t.Fatal(err)
		}
		client.eventually(t, "first", "")
		check(t, client.write(t.Context(), "third"), forbidden("third"))
	})
	t.Run("protected policies", func(t *testing.T) { testProtected(t, dir, server, client) })
}

func testProtected(t *testing.T, dir string, server *testserver.Server, client clients) {
	ctx := t.Context()
	policies, bindings := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies(), client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if _, err := client.create(ctx, "guarded"); err != nil {
		t.Fatal(err)
	}
	mutating := testserver.Parse[v1.MutatingAdmissionPolicySpec](t, `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]
reinvocationPolicy: Never`)
	beta := client.Policies.AdmissionregistrationV1beta1()
	if _, err := beta.MutatingAdmissionPolicies().Create(ctx, &v1beta1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded"}, Spec: mutating,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "guard.json", guard)
	const onGuard = "ValidatingAdmissionPolicy 'guard.static.k8s.io' with binding 'guard.static.k8s.io' denied request: on guard"
	const label = `{"metadata": {"labels": {"changed": "true"}}}`
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := policies.Patch(ctx, "guarded", types.MergePatchType, []byte(label), metav1.PatchOptions{})
		return expect(err, onGuard)
	})
	check(t, policies.Delete(ctx, "guarded", metav1.DeleteOptions{}), onGuard)
	check(t, beta.MutatingAdmissionPolicies().Delete(ctx, "guarded", metav1.DeleteOptions{}), onGuard)
	check(t, policies.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}), onGuard)
	_, err := client.create(ctx, "guarded-too")
	check(t, err, onGuard)
	_, err = beta.MutatingAdmissionPolicyBindings().Create(ctx, &v1beta1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "other"},
	}, metav1.CreateOptions{})
	check(t, err, onGuard)

	// Other policies can be changed, and policies from the API do not apply to bindings.
	_, err = client.create(ctx, "free")
	check(t, err, "")
	_, err = bindings.Create(ctx, &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "free"}, Spec: binding("free")}, metav1.CreateOptions{})
	check(t, err, "")
	client.eventually(t, "anything", "ValidatingAdmissionPolicy 'free' with binding 'free' denied request")
	check(t, bindings.Delete(ctx, "free", metav1.DeleteOptions{}), "")
	client.eventually(t, "anything", "")

	config := rest.CopyConfig(server.Admin())
	config.Impersonate = rest.ImpersonationConfig{UserName: "victim", Groups: []string{"system:masters"}}
	victim := clients{testserver.Must(testserver.NewClients(config))(t)}
	const victimized = "ValidatingAdmissionPolicy 'victim.static.k8s.io' with binding 'victim.static.k8s.io' denied request"
	check(t, victim.write(ctx, "anything"), victimized)
	check(t, victim.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, "free", metav1.DeleteOptions{}), victimized)
	_, err = victim.Core.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}, metav1.CreateOptions{})
	check(t, err, "")

	if err := os.Remove(filepath.Join(dir, "guard.json")); err != nil {
		t.Fatal(err)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		return expect(policies.Delete(ctx, "guarded", metav1.DeleteOptions{}), "")
	})
}

// create creates a policy that denies all config maps.
func (c clients) create(ctx context.Context, name string) (*v1.ValidatingAdmissionPolicy, error) {
	return c.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
				Operations: []v1.OperationType{v1.OperationAll},
				Rule:       v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"configmaps", "validatingadmissionpolicybindings"}},
			}}}},
			Validations: []v1.Validation{{Expression: "false"}},
		},
	}, metav1.CreateOptions{})
}

func binding(policy string) v1.ValidatingAdmissionPolicyBindingSpec {
	return v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: []v1.ValidationAction{v1.Deny}}
}

var (
	reloads = regexp.MustCompile(`(?m)^apiserver_manifest_admission_config_controller_automatic_reloads_total\{apiserver_id_hash="sha256:\w+",plugin="ValidatingAdmissionPolicy",status="(\w+)"\} (\d+)$`)
	current = regexp.MustCompile(`(?m)^apiserver_manifest_admission_config_controller_last_config_info\{apiserver_id_hash="sha256:\w+",hash="(sha256:\w+)",plugin="ValidatingAdmissionPolicy"\} 1$`)
)

// loads returns the number of loads with a status, and the hash of the manifests in effect.
func (c clients) loads(t *testing.T, status string) (count int, hash string) {
	t.Helper()
	text, err := c.Core.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range reloads.FindAllStringSubmatch(string(text), -1) {
		if match[1] == status {
			count, _ = strconv.Atoi(match[2])
		}
	}
	if match := current.FindStringSubmatch(string(text)); match != nil {
		hash = match[1]
	}
	return count, hash
}
