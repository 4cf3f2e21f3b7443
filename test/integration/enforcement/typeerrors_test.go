// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// expectRefused checks that a policy is invalid because of an expression in the field, with the
// text.
func expectRefused(t *testing.T, err error, field, text string) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !asStatus(err, &status) {
		t.Fatalf("got error %v, want %s: %s", err, field, text)
	}
	causes := status.Status().Details.Causes
	if len(causes) != 1 || causes[0].Field != field || causes[0].Message != "Invalid value: "+text {
		t.Errorf("got causes %q, want %s: %s", causes, field, text)
	}
}

func asStatus(err error, status *apierrors.APIStatus) (ok bool) {
	*status, ok = err.(apierrors.APIStatus)
	return ok
}

// A policy with type errors against built-in types is rejected, in every version and by every
// kind of write.
func TestTypeErrorsOfBuiltInTypes(t *testing.T) {
	ctx, client := t.Context(), policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	const field, text = "spec.validations[0].expression", "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dada'\n | object.dada.size() < 3\n | ......^"
	written := func(mode, expression string) *v1.ValidatingAdmissionPolicy {
		return &v1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("policy")},
			Spec:       testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, configMaps("CREATE")+"typeChecking: "+mode+"\nvalidations: [{expression: "+expression+"}]"),
		}
	}
	const wrong, right = "object.dada.size() < 3", "object.data.size() < 3"
	all := []string{metav1.DryRunAll}

	_, err := client.Create(ctx, written("Enforced", wrong), metav1.CreateOptions{})
	expectRefused(t, err, field, text)
	_, err = client.Create(ctx, written("Enforced", wrong), metav1.CreateOptions{DryRun: all})
	expectRefused(t, err, field, text)
	_, err = client.Create(ctx, written("Enforced", right), metav1.CreateOptions{DryRun: all})
	testserver.ExpectAdmitted(t, err)
	_, err = client.Create(ctx, written("Informational", wrong), metav1.CreateOptions{DryRun: all})
	testserver.ExpectAdmitted(t, err)

	for _, version := range []string{"v1beta1", "v1alpha1"} {
		t.Run("object of "+version, func(t *testing.T) {
			sent := written("Enforced", "object.spec.typeChecking == 'Enforced' && object.spec.typeCheking == ''")
			sent.Spec.MatchConstraints.ResourceRules[0].Rule = v1.Rule{APIGroups: []string{v1.GroupName}, APIVersions: []string{version}, Resources: []string{"validatingadmissionpolicies"}}
			_, err := client.Create(ctx, sent, metav1.CreateOptions{DryRun: all})
			expectRefused(t, err, field, v1.GroupName+"/"+version+", Kind=ValidatingAdmissionPolicy: ERROR: <input>:1:54: undefined field 'typeCheking'\n"+
				" | object.spec.typeChecking == 'Enforced' && object.spec.typeCheking == ''\n | .....................................................^")
		})
	}

	name := writePolicy(t, configMaps("CREATE")+"validations: [{expression: "+wrong+"}]")
	patch := func(kind types.PatchType, text string, options metav1.PatchOptions) error {
		_, err := client.Patch(ctx, name, kind, []byte(text), options)
		return err
	}
	expectRefused(t, patch(types.MergePatchType, `{"spec": {"typeChecking": "Enforced"}}`, metav1.PatchOptions{}), field, text)
	expectRefused(t, patch(types.MergePatchType, `{"spec": {"typeChecking": "Enforced"}}`, metav1.PatchOptions{DryRun: all}), field, text)
	expectRefused(t, patch(types.ApplyPatchType, `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "spec": {"typeChecking": "Enforced"}}`,
		metav1.PatchOptions{FieldManager: "test"}), field, text)
	testserver.ExpectAdmitted(t, patch(types.MergePatchType, `{"spec": {"typeChecking": "Enforced", "validations": [{"expression": "`+right+`"}]}}`, metav1.PatchOptions{}))
	expectRefused(t, patch(types.MergePatchType, `{"spec": {"validations": [{"expression": "`+wrong+`"}]}}`, metav1.PatchOptions{}), field, text)
	testserver.ExpectAdmitted(t, patch(types.MergePatchType, `{"spec": {"typeChecking": null, "validations": [{"expression": "`+wrong+`"}]}}`, metav1.PatchOptions{}))
}

// Type checking resolves every built-in resource that the server serves.
func TestTypeErrorsOfEveryBuiltInType(t *testing.T) {
	_, lists, err := core.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		if !scheme.Scheme.IsGroupRegistered(version.Group) && version.Group != "apiextensions.k8s.io" && version.Group != "apiregistration.k8s.io" {
			continue // a group that another test has defined
		}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") {
				continue
			}
			sent := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("policy")}, Spec: v1.ValidatingAdmissionPolicySpec{
				TypeChecking: new(v1.EnforcedTypeChecking),
				Validations:  []v1.Validation{{Expression: "object.nonesuch == 1"}},
				MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.OperationAll},
					Rule:       v1.Rule{APIGroups: []string{version.Group}, APIVersions: []string{version.Version}, Resources: []string{resource.Name}},
				}}}},
			}}
			_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			expectRefused(t, err, "spec.validations[0].expression",
				fmt.Sprintf("%s/%s, Kind=%s: ERROR: <input>:1:7: undefined field 'nonesuch'\n | object.nonesuch == 1\n | ......^", version.Group, version.Version, resource.Kind))
			checked++
		}
	}
	if checked < 50 {
		t.Errorf("%d resources were checked, that cannot be all", checked)
	}
}

// sizedKind is a custom kind in its own API group, whose field data.size may change its type. The
// same field of config maps is a string.
type sizedKind struct{ group string }

// define creates or updates the definition.
func (k sizedKind) define(t *testing.T, size string) {
	t.Helper()
	definition := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.`+k.group+`}
spec:
  group: `+k.group+`
  names: {kind: Box, plural: boxes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {data: {type: object, properties: {size: {type: `+size+`}}}}}}`)}
	applyDefinition(t, definition)
}

func (k sizedKind) remove(t *testing.T) {
	t.Helper()
	testserver.ExpectAdmitted(t, objects.Resource(definitions).Delete(t.Context(), "boxes."+k.group, metav1.DeleteOptions{}))
}

func (k sizedKind) create(t *testing.T, namespace string, size any) error {
	t.Helper()
	_, err := objects.Resource(schema.GroupVersionResource{Group: k.group, Version: "v1", Resource: "boxes"}).Namespace(namespace).
		Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": k.group + "/v1",
			"kind":       "Box",
			"metadata":   map[string]any{"name": testserver.UniqueName("box")},
			"data":       map[string]any{"size": size},
		}}, metav1.CreateOptions{})
	return err
}

// notNine returns the spec of a policy for config maps and boxes in one namespace that fits boxes
// only if their size is a string.
func (k sizedKind) notNine(namespace, failurePolicy string) string {
	return `
typeChecking: Enforced
failurePolicy: ` + failurePolicy + `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}
  resourceRules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  - {apiGroups: [` + k.group + `], apiVersions: [v1], operations: [CREATE], resources: [boxes]}
validations: [{expression: object.data.size != '9', message: nine}]`
}

// misfit returns the message of denials while the size of boxes is an integer.
func (k sizedKind) misfit() string {
	return "failed to configure policy: spec.validations[0].expression does not fit " + k.group + "/v1, Kind=Box: " +
		"ERROR: <input>:1:18: found no matching overload for '_!=_' applied to '(int, string)'\n | object.data.size != '9'\n | .................^"
}

// A changed definition may cause type errors in a stored policy. Such a policy is misconfigured for
// all kinds that it matches until the definition or the policy changes.
func TestTypeErrorsOfCustomResources(t *testing.T) {
	t.Parallel()
	kind, ns, lenient := sizedKind{testserver.UniqueName("boxes") + ".example.com"}, admin.Namespace(t, nil), admin.Namespace(t, nil)
	policy := writePolicy(t, kind.notNine(ns, "Fail"))
	by := denier{policy, bind(t, policy, "validationActions: [Deny]")}
	ignoring := writePolicy(t, kind.notNine(lenient, "Ignore"))
	leniently := denier{ignoring, bind(t, ignoring, "validationActions: [Deny]")}

	expectDecides := func(what string) {
		t.Helper()
		t.Log(what)
		by.expectLimit(t, ns, "9", "nine")
		by.expectLimit(t, ns, "1", "")
	}
	expectMisfit := func(what string) {
		t.Helper()
		t.Log(what)
		denier{policy: policy}.expectLimit(t, ns, "1", kind.misfit())
	}
	change := func(expression string) {
		t.Helper()
		_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(t.Context(), policy, types.MergePatchType,
			[]byte(`{"spec": {"validations": [{"expression": "`+expression+`", "message": "nine"}]}}`), metav1.PatchOptions{})
		testserver.ExpectAdmitted(t, err)
	}

	expectDecides("without a definition")
	leniently.expectLimit(t, lenient, "9", "nine")
	kind.define(t, "integer")
	expectMisfit("defined")
	denier{policy: policy}.eventually(t, kind.misfit(), func() error { return kind.create(t, ns, int64(1)) })
	leniently.expectLimit(t, lenient, "9", "")
	kind.define(t, "string")
	expectDecides("definition repaired")
	by.eventually(t, "nine", func() error { return kind.create(t, ns, "9") })
	by.eventually(t, "", func() error { return kind.create(t, ns, "1") })
	leniently.expectLimit(t, lenient, "9", "nine")
	kind.define(t, "integer")
	expectMisfit("definition changed back")
	change("string(object.data.size) != '9'")
	expectDecides("policy repaired")
	leniently.expectLimit(t, lenient, "9", "")
	change("object.data.size != '9'")
	expectMisfit("policy changed back")
	kind.remove(t)
	expectDecides("definition deleted")
	leniently.expectLimit(t, lenient, "9", "nine")
	kind.define(t, "integer")
	expectMisfit("defined again")

	_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(t.Context(), policy, types.MergePatchType, []byte(`{"spec": {"typeChecking": "Informational"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	expectDecides("no longer enforced")
}

// A changed definition of params has the same effect.
func TestTypeErrorsOfCustomParams(t *testing.T) {
	t.Parallel()
	kind, ns := sizedKind{testserver.UniqueName("boxes") + ".example.com"}, admin.Namespace(t, nil)
	kind.define(t, "string")
	policy := writePolicy(t, `
typeChecking: Enforced
paramKind: {apiVersion: `+kind.group+`/v1, kind: Box}
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+ns+`}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
validations: [{expression: object.data.size == params.data.size}]`)
	bind(t, policy, "paramRef: {selector: {}, parameterNotFoundAction: Allow}")
	by := denier{policy: policy}
	by.expectLimit(t, ns, "1", "")
	kind.define(t, "integer")
	by.expectLimit(t, ns, "1", "failed to configure policy: spec.validations[0].expression does not fit /v1, Kind=ConfigMap: "+
		"ERROR: <input>:1:18: found no matching overload for '_==_' applied to '(string, int)'\n | object.data.size == params.data.size\n | .................^")
	kind.define(t, "string")
	by.expectLimit(t, ns, "1", "")
}
