// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation_test

import (
	"context"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
	"celador.io/admission/review"
)

// counting allows every request, counts the decisions and remembers the API group of the last one.
type counting struct {
	decisions int
	group     string
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (c *counting) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	c.decisions++
	c.group = a.GetAPIGroup()
	return authorizer.DecisionAllow, "", nil
}

// subject returns what expressions read about the request to scale a Deployment of apps/v1, for a
// policy that reads it in extensions/v1beta1.
func subject(authz authorizer.UnconditionalAuthorizer) activation.Subject {
	requested := appsv1.SchemeGroupVersion
	return subjectOf(admission.NewAttributesRecord(nil, nil, requested.WithKind("Deployment"), "blue", "web", requested.WithResource("deployments"), "", admission.Update, nil, false, &user.DefaultInfo{Name: "jane"}), authz)
}

// reviewed returns the same as subject, for a webhook to which the API server sends Deployments in
// extensions/v1beta1.
func reviewed(authz authorizer.UnconditionalAuthorizer) activation.Subject {
	requested, converted := appsv1.SchemeGroupVersion, extensionsv1beta1.SchemeGroupVersion
	a, err := review.FromRequest(&admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(converted.WithKind("Deployment")), Resource: metav1.GroupVersionResource(converted.WithResource("deployments")),
		RequestKind: new(metav1.GroupVersionKind(requested.WithKind("Deployment"))), RequestResource: new(metav1.GroupVersionResource(requested.WithResource("deployments"))),
		Name: "web", Namespace: "blue", Operation: admissionv1.Update, UserInfo: authenticationv1.UserInfo{Username: "jane"},
	})
	if err != nil {
		panic(err)
	}
	return subjectOf(a, authz)
}

func subjectOf(a admission.Attributes, authz authorizer.UnconditionalAuthorizer) activation.Subject {
	meta := metav1.ObjectMeta{Name: "web"}
	converted := extensionsv1beta1.SchemeGroupVersion
	return activation.Subject{
		Input: activation.NewInput(a, &matching.Target{Resource: converted.WithResource("deployments"), Kind: converted.WithKind("Deployment")},
			&extensionsv1beta1.Deployment{ObjectMeta: meta, Spec: extensionsv1beta1.DeploymentSpec{Replicas: new(int32(5))}},
			&extensionsv1beta1.Deployment{ObjectMeta: meta, Spec: extensionsv1beta1.DeploymentSpec{Replicas: new(int32(3))}},
			activation.NewAuthorizerValue(authz)),
		Namespace: activation.NewNamespace(&corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: "blue", Labels: map[string]string{"color": "blue"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}},
			Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}},
		}),
	}
}

// evaluate evaluates expressions that any role may compile, with all declarations, in one series.
// It returns the last value, or the text of the error.
func evaluate(t *testing.T, s activation.Subject, role policyspec.Role, sources ...string) any {
	t.Helper()
	series := new(activation.Memory).Begin(t.Context(), s, role, nil, 1000000)
	var result any
	for _, source := range sources {
		program, err := expression.Default().Compile(source, expression.Declarations{Params: true, Authorizer: true}, environment.StoredExpressions, cel.AnyType)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		value, evaluationErr := program.Evaluate(series)
		if evaluationErr != nil {
			return evaluationErr.Error()
		}
		result = value.Value()
	}
	return result
}

var roles = []policyspec.Role{
	policyspec.MatchCondition, policyspec.Variable, policyspec.Validation, policyspec.Message,
	policyspec.AuditAnnotation, policyspec.MutationCondition, policyspec.Patch,
}

func TestObjects(t *testing.T) {
	for _, role := range roles {
		if got := evaluate(t, subject(nil), role, "[object.metadata.name == 'web', object.spec.replicas == 5, oldObject.spec.replicas == 3].all(b, b)"); got != true {
			t.Errorf("role %v: got %v", role, got)
		}
	}
	s := subject(nil)
	s.Show(types.String("new"), nil)
	if got := evaluate(t, s, policyspec.Patch, "object == 'new' && oldObject == null"); got != true {
		t.Errorf("after Show, got %v", got)
	}
}

// All roles read the kind of the object. Match conditions read the resource of the client's
// request.
func TestRequest(t *testing.T) {
	for _, role := range roles {
		want := "extensions"
		if role == policyspec.MatchCondition {
			want = "apps"
		}
		for name, s := range map[string]activation.Subject{"in-process": subject(nil), "webhook": reviewed(nil)} {
			for range 2 {
				if got := evaluate(t, s, role, "request.resource.group"); got != want {
					t.Errorf("%s, role %v: resource is of group %v, want %s", name, role, got, want)
				}
			}
			if got := evaluate(t, s, role, "request.kind.group == 'extensions' && request.requestKind.group == 'apps' && request.requestResource.group == 'apps' && request.operation == 'UPDATE' && request.userInfo.username == 'jane'"); got != true {
				t.Errorf("%s, role %v: got %v", name, role, got)
			}
		}
	}
}

func TestNamespace(t *testing.T) {
	// plugincel.CreateNamespaceObject leaves managedFields out.
	const part = "dyn(namespaceObject) == null ? 'null' : dyn(namespaceObject).metadata.name + (has(dyn(namespaceObject).metadata.managedFields) ? ' whole' : ' declared')"
	for role, want := range map[policyspec.Role]string{
		policyspec.MatchCondition: "null", policyspec.Variable: "blue whole", policyspec.Validation: "blue declared", policyspec.Message: "blue declared",
		policyspec.AuditAnnotation: "blue whole", policyspec.MutationCondition: "blue whole", policyspec.Patch: "blue whole",
	} {
		s := subject(nil)
		// One Namespace serves all roles.
		evaluate(t, s, policyspec.Validation, "namespaceObject")
		evaluate(t, s, policyspec.Patch, "namespaceObject")
		if got := evaluate(t, s, role, part); got != want {
			t.Errorf("role %v: namespaceObject is %v, want %s", role, got, want)
		}
		s.Namespace = activation.NewNamespace(nil)
		if got := evaluate(t, s, role, "namespaceObject == null"); got != true {
			t.Errorf("role %v: without a namespace, namespaceObject == null is %v", role, got)
		}
	}
}

func TestAuthorizer(t *testing.T) {
	const check, requestResource = "authorizer.path('/x').check('get').allowed()", "authorizer.requestResource.check('get').allowed()"
	for _, source := range []string{check, requestResource} {
		for _, role := range roles {
			want := any(true)
			if role == policyspec.Message || role == policyspec.AuditAnnotation {
				want = "expression '" + source + "' resulted in error: no such attribute(s): " + map[string]string{check: "authorizer", requestResource: "authorizer.requestResource"}[source]
			}
			for name, newSubject := range map[string]func(authorizer.UnconditionalAuthorizer) activation.Subject{"in-process": subject, "webhook": reviewed} {
				authz := &counting{}
				s := newSubject(authz)
				if got := evaluate(t, s, role, source, source); got != want {
					t.Errorf("%s, role %v: %s is %v, want %v", name, role, source, got, want)
				}
				evaluate(t, s, role, source)
				if want == true && authz.decisions != 1 {
					t.Errorf("%s, role %v: %s makes %d decisions, want one", name, role, source, authz.decisions)
				}
				if want == true && source == requestResource && authz.group != "apps" {
					t.Errorf("%s, role %v: %s decides about group %s", name, role, source, authz.group)
				}
			}
			if got, _ := evaluate(t, subject(nil), role, source).(string); got == "" {
				t.Errorf("role %v: %s does not fail without an authorizer", role, source)
			}
		}
	}
}

func TestParams(t *testing.T) {
	configMap := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"a": "1"}}}
	custom := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "max": int64(3)}}
	malformed := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": int64(3)}}
	for name, test := range map[string]struct {
		params *activation.ParamValue
		source string
	}{
		"none":                             {nil, "params == null"},
		"none, typed":                      {activation.NewParamValue(nil, activation.Typed), "params == null"},
		"none, unstructured":               {activation.NewParamValue(nil, activation.Unstructured), "params == null"},
		"built-in kind, typed":             {activation.NewParamValue(configMap, activation.Typed), "params.data.a == '1' && params.metadata.name == 'c' && !has(params.kind) && !has(params.apiVersion)"},
		"built-in kind, unstructured":      {activation.NewParamValue(configMap, activation.Unstructured), "params.data.a == '1' && params.kind == 'ConfigMap' && params.apiVersion == 'v1'"},
		"custom resource, typed":           {activation.NewParamValue(custom, activation.Typed), "params.max == 3 && params.kind == 'Limit'"},
		"custom resource, unstructured":    {activation.NewParamValue(custom, activation.Unstructured), "params.max == 3 && params.kind == 'Limit'"},
		"malformed built-in object, typed": {activation.NewParamValue(malformed, activation.Typed), "params.data == 3 && params.kind == 'ConfigMap'"},
	} {
		t.Run(name, func(t *testing.T) {
			s := subject(nil)
			s.Params = test.params
			for range 2 {
				if got := evaluate(t, s, policyspec.Validation, test.source); got != true {
					t.Errorf("%s is %v", test.source, got)
				}
			}
		})
	}
	var none *activation.ParamValue
	if p := activation.NewParamValue(custom, activation.Typed); !p.Of(custom) || p.Of(custom.DeepCopy()) || p.Of(nil) || !none.Of(nil) || none.Of(custom) {
		t.Error("Of does not compare by identity")
	}
	if custom.GetKind() != "Limit" || configMap.GetKind() != "ConfigMap" {
		t.Error("reading params changes the object")
	}
}
