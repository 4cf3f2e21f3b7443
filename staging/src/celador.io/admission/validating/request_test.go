// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/params"
	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

var (
	deployments       = appsv1.SchemeGroupVersion.WithResource("deployments")
	deployment        = appsv1.SchemeGroupVersion.WithKind("Deployment")
	legacyDeployments = extensionsv1beta1.SchemeGroupVersion.WithResource("deployments")
	legacyDeployment  = extensionsv1beta1.SchemeGroupVersion.WithKind("Deployment")
	widgets           = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	widget            = widgets.GroupVersion().WithKind("Widget")
	pods              = corev1.SchemeGroupVersion.WithResource("pods")
	nodes             = corev1.SchemeGroupVersion.WithResource("nodes")
)

// server is a fake API server. It serves deployments in two versions and has the namespaces blue
// and red. It counts calls.
type server struct {
	admission.RuntimeObjectInterfaces
	conversions, namespaces, checks int
}

func newServer() *server {
	s := &server{}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(deployment.GroupVersion(), &appsv1.Deployment{})
	scheme.AddKnownTypes(legacyDeployment.GroupVersion(), &extensionsv1beta1.Deployment{})
	if err := scheme.AddConversionFunc((*appsv1.Deployment)(nil), (*extensionsv1beta1.Deployment)(nil), func(from, to any, _ conversion.Scope) error {
		s.conversions++
		in, out := from.(*appsv1.Deployment), to.(*extensionsv1beta1.Deployment)
		out.ObjectMeta, out.Spec.Replicas = in.ObjectMeta, in.Spec.Replicas
		return nil
	}); err != nil {
		panic(err)
	}
	mapper := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string { return r.Resource })
	mapper.RegisterKindFor(deployments, "", deployment)
	mapper.RegisterKindFor(legacyDeployments, "", legacyDeployment)
	mapper.RegisterKindFor(schema.GroupVersionResource{Group: "apps", Version: "v9", Resource: "deployments"}, "", schema.GroupVersionKind{Group: "apps", Version: "v9", Kind: "Deployment"})
	s.RuntimeObjectInterfaces = admission.RuntimeObjectInterfaces{
		ObjectCreater: scheme, ObjectTyper: scheme, ObjectDefaulter: scheme, ObjectConvertor: scheme, EquivalentResourceMapper: mapper,
	}
	return s
}

// GetNamespace implements matching.NamespaceGetter.
func (s *server) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	s.namespaces++
	if name != "blue" && name != "red" {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"color": name}}}, nil
}

// Authorize implements authorizer.UnconditionalAuthorizer. It allows read requests.
func (s *server) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	s.checks++
	if a.GetVerb() == "read" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func deploy(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
	}
}

func newWidget(replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "blue", "name": "w"},
		"spec":       map[string]any{"replicas": replicas, "parts": []any{"a", "b"}},
	}}
}

var jane = &user.DefaultInfo{Name: "jane", UID: "u1", Groups: []string{"developers"}, Extra: map[string][]string{"team": {"blue"}}}

// create returns a request to create a deployment.
func create(replicas int32) admission.Attributes {
	return admission.NewAttributesRecord(deploy(replicas), nil, deployment, "blue", "web", deployments, "", admission.Create, &metav1.CreateOptions{FieldManager: "test"}, false, jane)
}

// store returns a store with the given policies and bindings.
func store(objects ...any) *validating.Store {
	return storeWith(policyspec.Features{}, nil, objects...)
}

func storeWith(features policyspec.Features, source params.Source, objects ...any) *validating.Store {
	s := validating.NewEngine(validating.Config{Features: features, Params: source}).NewStore()
	for _, object := range objects {
		if err := s.Set(object.(runtime.Object)); err != nil {
			panic(err)
		}
	}
	return s
}

// fixed returns a snapshot of the given objects.
func fixed(t *testing.T, config validating.Config, objects ...runtime.Object) *validating.Snapshot {
	t.Helper()
	snapshot, err := validating.NewEngine(config).NewSnapshot(objects...)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func evaluate(t *testing.T, s *server, a admission.Attributes, snapshot *validating.Snapshot) validating.Result {
	t.Helper()
	result, err := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s}).Evaluate(t.Context(), a, s, snapshot)
	if err != nil {
		t.Error(err)
	}
	return result
}

// wantDecisions compares decisions, except Elapsed.
func wantDecisions(t *testing.T, got, want []validating.Decision) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(validating.Decision{}, "Elapsed", "Err")); diff != "" {
		t.Errorf("decisions differ (-want +got):\n%s", diff)
	}
	for _, d := range got {
		cause := d.Outcome == validating.Failed
		if (d.Err != nil) != cause || cause && d.Err.Error() != d.Message {
			t.Errorf("cause of %s is %v, want %q", d.Outcome, d.Err, d.Message)
		}
	}
}

func ruleFor(resource schema.GroupVersionResource) v1.NamedRuleWithOperations {
	return policytest.Rule(resource.Group, resource.Version, resource.Resource)
}

// denyingWith is a policy that denies everything with a message.
func denyingWith(name, message string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: message}}})
}

// denials returns what the policies of a snapshot say, as "policy/binding: message".
func denials(t *testing.T, snapshot *validating.Snapshot) []string {
	t.Helper()
	var result []string
	for _, d := range evaluate(t, newServer(), create(1), snapshot).Decisions() {
		result = append(result, d.Policy+"/"+d.Binding+": "+d.Message)
	}
	return result
}
