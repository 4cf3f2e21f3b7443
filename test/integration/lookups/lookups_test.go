// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lookups tests policies that read other objects than those of a request. All tests share
// one server with the feature gates AdmissionPolicyLookups and CustomResourceConversionRules.
package lookups

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/examples"
	"celador.io/celador/test/integration/testserver"
)

var admin testserver.Clients

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) { admin = clients }, "--feature-gates=AdmissionPolicyLookups=true,CustomResourceConversionRules=true"))
}

// example returns the object in a file of the example of unique hosts.
func example[T any](t *testing.T, file string) *T {
	t.Helper()
	text, err := examples.Files.ReadFile("unique-ingress-hosts/" + file)
	if err != nil {
		t.Fatal(err)
	}
	object := testserver.Parse[T](t, string(text))
	return &object
}

// configMaps matches config maps in a namespace.
func configMaps(namespace string) string {
	return `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`
}

// validate creates a policy with a spec in YAML and binds it. Both are deleted at the end of the
// test.
func validate(t testing.TB, spec string) {
	t.Helper()
	name, client := testserver.UniqueName("policy"), admin.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec),
	})
	testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	})
}

// tryConfigMap sends a dry run of the creation of a config map.
func tryConfigMap(ctx context.Context, namespace string) (*corev1.ConfigMap, error) {
	return admin.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// await waits until try returns nil, if text is empty, or an error with the text.
func await(t *testing.T, text string, try func(context.Context) error) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		err := try(ctx)
		switch {
		case text == "":
			return err
		case err == nil || !strings.Contains(err.Error(), text):
			return fmt.Errorf("got error %v, want %q", err, text)
		default:
			return nil
		}
	})
}

// The example denies a host that another namespace has, as the objects change.
func TestUniqueHosts(t *testing.T) {
	client := admin.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.ValidatingAdmissionPolicies(), example[v1.ValidatingAdmissionPolicy](t, "policy.yaml"))
	testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), example[v1.ValidatingAdmissionPolicyBinding](t, "binding.yaml"))
	shop, blog := admin.Namespace(t, nil), admin.Namespace(t, nil)
	in := func(namespace, file string) *networkingv1.Ingress {
		ingress := example[networkingv1.Ingress](t, file)
		ingress.Namespace = namespace
		return ingress
	}
	try := func(ctx context.Context) error {
		_, err := admin.Core.NetworkingV1().Ingresses(blog).Create(ctx, in(blog, "ingress-denied.yaml"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	const denied = "another namespace has these hosts: www.example.com"

	if err := try(t.Context()); err != nil {
		t.Fatal(err)
	}
	ingresses := admin.Core.NetworkingV1().Ingresses(shop)
	created := testserver.Must(ingresses.Create(t.Context(), in(shop, "ingress-shop.yaml"), metav1.CreateOptions{}))(t)
	await(t, denied, try)
	if _, err := admin.Core.NetworkingV1().Ingresses(blog).Create(t.Context(), in(blog, "ingress-admitted.yaml"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("a host of its own: %v", err)
	}

	created.Spec.Rules[0].Host = "shop.example.com"
	created = testserver.Must(ingresses.Update(t.Context(), created, metav1.UpdateOptions{}))(t)
	await(t, "", try)
	created.Spec.Rules = append(created.Spec.Rules, networkingv1.IngressRule{Host: "www.example.com"})
	testserver.Must(ingresses.Update(t.Context(), created, metav1.UpdateOptions{}))(t)
	await(t, denied, try)
	if err := ingresses.Delete(t.Context(), created.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "", try)
}

// A lookup follows its kind: it fails while the kind is not served, and reads custom resources as
// soon as it is.
func TestCustomResources(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	validate(t, configMaps(namespace)+`
lookups: [{name: teams, apiVersion: lookups.example.com/v1, kind: Team}]
validations: [{expression: lookups.teams.get('`+namespace+`').value().size > 3}]`)
	try := func(ctx context.Context) error {
		_, err := tryConfigMap(ctx, namespace)
		return err
	}
	await(t, "lookup 'teams' of Team in lookups.example.com/v1 failed: ", try)
	admin.Define(t, `
metadata: {name: teams.lookups.example.com}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: lookups.example.com
  names: {kind: Team, plural: teams}
  scope: Cluster
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}`)
	await(t, "optional.none() dereference", try)
	teams := admin.Objects.Resource(schema.GroupVersionResource{Group: "lookups.example.com", Version: "v1", Resource: "teams"})
	team := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "lookups.example.com/v1", "kind": "Team", "metadata": map[string]any{"name": namespace}, "size": int64(2),
	}}
	created := testserver.Must(teams.Create(t.Context(), team, metav1.CreateOptions{}))(t)
	await(t, "failed expression", try)
	created.Object["size"] = int64(4)
	testserver.Must(teams.Update(t.Context(), created, metav1.UpdateOptions{}))(t)
	await(t, "", try)
}

// A mutation copies a label of the namespace's service account, and does not change what the server
// has cached.
func TestMutation(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	name, client := testserver.UniqueName("policy"), admin.Policies.AdmissionregistrationV1()
	testserver.Create(t, client.MutatingAdmissionPolicies(), &v1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.MutatingAdmissionPolicySpec](t, configMaps(namespace)+`
reinvocationPolicy: IfNeeded
lookups: [{name: owners, apiVersion: v1, kind: ServiceAccount}]
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: lookups.owners.get('owner').value().metadata.labels}}"}
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels/more', value: 'yes'}]"}`),
	})
	testserver.Create(t, client.MutatingAdmissionPolicyBindings(), &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	})
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "owner", Labels: map[string]string{"team": "blue"}}}
	testserver.Must(admin.Core.CoreV1().ServiceAccounts(namespace).Create(t.Context(), owner, metav1.CreateOptions{}))(t)
	for range 3 {
		await(t, "", func(ctx context.Context) error {
			created, err := tryConfigMap(ctx, namespace)
			if err == nil && (created.Labels["team"] != "blue" || created.Labels["more"] != "yes") {
				err = fmt.Errorf("the labels are %v", created.Labels)
			}
			return err
		})
	}
	cached := testserver.Must(admin.Core.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "owner", metav1.GetOptions{ResourceVersion: "0"}))(t)
	if len(cached.Labels) != 1 {
		t.Errorf("the cached service account has labels %v", cached.Labels)
	}
}

// The author of a policy must be allowed to list and watch what it looks up, for each change of the
// spec.
func TestAuthors(t *testing.T) {
	author := testserver.UniqueName("author")
	grant := func(rule rbacv1.PolicyRule) {
		role := testserver.Create(t, admin.Core.RbacV1().ClusterRoles(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("role")}, Rules: []rbacv1.PolicyRule{rule}})
		testserver.Create(t, admin.Core.RbacV1().ClusterRoleBindings(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: author}},
		})
	}
	grant(rbacv1.PolicyRule{APIGroups: []string{v1.GroupName}, Resources: []string{"*"}, Verbs: []string{"*"}})
	client := admin.As(t, author).Policies.AdmissionregistrationV1()
	spec := func(index string) string {
		return configMaps("none") + "lookups: [{name: secrets, apiVersion: v1, kind: Secret, index: " + index + "}]\n"
	}
	name := testserver.UniqueName("policy")
	validating := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec("item.type")+"validations: [{expression: 'true'}]")}
	mutating := &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.MutatingAdmissionPolicySpec](t, spec("item.type")+`
reinvocationPolicy: Never
mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "remove", path: "/data"}]'}}]`)}
	writes := map[string]func() error{
		"create validating": func() error {
			_, err := client.ValidatingAdmissionPolicies().Create(t.Context(), another(validating), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
		"create mutating": func() error {
			_, err := client.MutatingAdmissionPolicies().Create(t.Context(), another(mutating), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
	}
	for text, patch := range map[string]string{
		"index":       `[{"op": "replace", "path": "/spec/lookups/0/index", "value": "item.metadata.name"}]`,
		"consistency": `[{"op": "add", "path": "/spec/lookups/0/consistency", "value": "Latest"}]`,
		"expression":  `[{"op": "add", "path": "/spec/matchConditions", "value": [{"name": "c", "expression": "lookups.secrets.list().size() == 0"}]}]`,
	} {
		writes["update validating: "+text] = func() error {
			_, err := client.ValidatingAdmissionPolicies().Patch(t.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}
		writes["update mutating: "+text] = func() error {
			_, err := client.MutatingAdmissionPolicies().Patch(t.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}
	}
	testserver.Create(t, admin.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies(), validating)
	testserver.Create(t, admin.Policies.AdmissionregistrationV1().MutatingAdmissionPolicies(), mutating)
	expect := func(verb string) {
		t.Helper()
		for write, try := range writes {
			want := ""
			if verb != "" {
				want = fmt.Sprintf(`spec.lookups[0]: Forbidden: user %q must have %q permission on secrets in all namespaces`, author, verb)
			}
			t.Run(write, func(t *testing.T) { await(t, want, func(context.Context) error { return try() }) })
		}
		if _, err := client.ValidatingAdmissionPolicies().Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`), metav1.PatchOptions{}); err != nil {
			t.Errorf("labels: %v", err)
		}
	}
	expect("list")
	grant(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}})
	expect("watch")
	grant(rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"watch"}})
	expect("")
}

// another returns a copy of an object with another name.
func another[T interface {
	metav1.Object
	DeepCopy() T
}](object T) T {
	object = object.DeepCopy()
	object.SetName(object.GetName() + "-another")
	return object
}

// Validation names the field and the reason.
func TestInvalidLookups(t *testing.T) {
	for lookup, want := range map[string]string{
		"{name: a-b, apiVersion: v1, kind: Secret}":                                 `spec.lookups[0].name: Invalid value: "a-b": must be a valid CEL identifier`,
		"{apiVersion: v1, kind: Secret}":                                            "spec.lookups[0].name: Required value",
		"{name: a, apiVersion: a/b/c, kind: Secret}":                                "spec.lookups[0].apiVersion: Invalid value",
		"{name: a, apiVersion: v1}":                                                 "spec.lookups[0].kind: Required value",
		"{name: a, apiVersion: v1, kind: Secret, scope: Node}":                      `spec.lookups[0].scope: Unsupported value: "Node": supported values: "Cluster", "Namespace"`,
		"{name: a, apiVersion: v1, kind: Secret, index: object.type}":               "spec.lookups[0].index: Invalid value: \"object.type\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'object'",
		"{name: a, apiVersion: v1, kind: Secret, index: '3'}":                       "spec.lookups[0].index: Invalid value",
		"{name: a, apiVersion: v1, kind: Secret, index: ' '}":                       "spec.lookups[0].index: Invalid value",
		"{name: b, apiVersion: v1, kind: Secret}":                                   "spec.validations[0].expression: Invalid value: \"lookups.a.list().size() == 0\": compilation failed: ERROR: <input>:1:8: undefined field 'a'",
		"{name: a, apiVersion: v1, kind: Secret, consistency: Newest}":              `spec.lookups[0].consistency: Unsupported value: "Newest": supported values: "Cached", "Latest"`,
		strings.Repeat("{name: a, apiVersion: v1, kind: Secret}, ", 2):              `spec.lookups[1].name: Duplicate value: "a"`,
		"{name: a, apiVersion: v1, kind: Secret, scope: Cluster, index: item.type}": "",
	} {
		policy := &v1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("invalid")},
			Spec:       testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, configMaps("none")+"lookups: ["+lookup+"]\nvalidations: [{expression: lookups.a.list().size() == 0}]"),
		}
		_, err := admin.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if want == "" && err != nil || want != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", lookup, err, want)
		}
	}
}

// A latest lookup finds what was stored a moment ago, and nothing that was deleted.
func TestLatest(t *testing.T) {
	namespace := admin.Namespace(t, nil)
	validate(t, configMaps(namespace)+`
lookups: [{name: secrets, apiVersion: v1, kind: Secret, consistency: Latest, index: item.metadata.labels.key}]
validations:
- {expression: lookups.secrets.get('key').hasValue() == (lookups.secrets.indexed('key').size() > 0), message: the index differs}
- {expression: lookups.secrets.get('key').hasValue(), message: the key is missing}`)
	try := func(ctx context.Context) error {
		_, err := tryConfigMap(ctx, namespace)
		return err
	}
	const missing = "the key is missing"
	await(t, missing, try)
	secrets := admin.Core.CoreV1().Secrets(namespace)
	for range 100 {
		testserver.Must(secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key", Labels: map[string]string{"key": "key"}}}, metav1.CreateOptions{}))(t)
		if err := try(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := secrets.Delete(t.Context(), "key", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := try(t.Context()); err == nil || !strings.Contains(err.Error(), missing) {
			t.Fatalf("got error %v, want %q", err, missing)
		}
	}
}

// warnings collects the warnings of requests.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

// Lookups with consistency Latest of kinds that a watch cache holds find what was stored a moment
// ago. Those of other kinds fail, and the author is warned.
func TestLatestOfKinds(t *testing.T) {
	const webhook = `clientConfig: {url: "https://localhost"}, sideEffects: None, admissionReviewVersions: [v1], name: a.example.com, rules: []`
	for _, test := range []struct {
		apiVersion, kind, resource string
		// object is the manifest of an object without its apiVersion, kind and name. It is empty if the
		// kind cannot have consistency Latest.
		object string
	}{
		{"v1", "Node", "nodes", "{}"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "{rules: []}"},
		{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "{webhooks: [{" + webhook + "}]}"},
		{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "{webhooks: [{" + webhook + "}]}"},
		{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", ""},
		{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", ""},
		{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", ""},
		{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", ""},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", ""},
		{"apiregistration.k8s.io/v1", "APIService", "apiservices", ""},
		{"v1", "Event", "events", ""},
		{"events.k8s.io/v1", "Event", "events", ""},
	} {
		t.Run(test.apiVersion+" "+test.kind, func(t *testing.T) {
			var got warnings
			config := rest.CopyConfig(admin.Config)
			config.WarningHandler = &got
			client := testserver.Must(testserver.NewClients(config))(t).Policies.AdmissionregistrationV1()
			namespace, name := admin.Namespace(t, nil), testserver.UniqueName("policy")
			testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, configMaps(namespace)+`
lookups: [{name: found, apiVersion: `+test.apiVersion+`, kind: `+test.kind+`, scope: Cluster, consistency: Latest}]
validations: [{expression: "!lookups.found.list('latest-of=`+name+`').exists(o, true)", message: it is found}]`),
			})
			testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
			})
			try := func(ctx context.Context) error {
				_, err := tryConfigMap(ctx, namespace)
				return err
			}
			if test.object == "" {
				want := "spec.lookups[0].consistency: expressions that read the lookup fail, because this server cannot tell how new its objects of kind " + test.kind + " in " + test.apiVersion + " are: remove consistency Latest"
				if !slices.Equal(got, warnings{want}) {
					t.Errorf("got warnings %q, want %q", got, want)
				}
				await(t, "this server reads the kind by requests: remove consistency Latest", try)
				return
			}
			if len(got) > 0 {
				t.Errorf("got warnings %q", got)
			}
			version := testserver.Must(schema.ParseGroupVersion(test.apiVersion))(t)
			objects := admin.Objects.Resource(version.WithResource(test.resource))
			object := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, test.object)}
			object.SetAPIVersion(test.apiVersion)
			object.SetKind(test.kind)
			object.SetLabels(map[string]string{"latest-of": name})
			object.SetName(name)
			testserver.Must(objects.Create(t.Context(), object, metav1.CreateOptions{}))(t)
			await(t, "it is found", try)
			for range 10 {
				if err := objects.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := try(t.Context()); err != nil {
					t.Errorf("after the deletion: %v", err)
				}
				testserver.Must(objects.Create(t.Context(), object, metav1.CreateOptions{}))(t)
				if err := try(t.Context()); err == nil || !strings.Contains(err.Error(), "it is found") {
					t.Errorf("after the creation: %v", err)
				}
			}
			if err := objects.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
