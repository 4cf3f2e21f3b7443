// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policywrites_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/review"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/apiserver/pkg/features"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
	"celador.io/polyfill/pkg/policywrites"
)

const (
	validatingPolicies = "validatingadmissionpolicies"
	mutatingPolicies   = "mutatingadmissionpolicies"
	validatingBindings = "validatingadmissionpolicybindings"
	mutatingBindings   = "mutatingadmissionpolicybindings"

	rules = `matchConstraints: {matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}, resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE], scope: "*"}]}`
	// valid, invalid, params and singleton are validating policies.
	valid     = `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "true"}]}}`
	invalid   = `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "nothing"}]}}`
	timed     = `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "request.time > timestamp(0)"}]}}`
	params    = `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "true"}], paramKind: {apiVersion: v1, kind: Secret}}}`
	singleton = `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "true"}], policyType: Singleton}}`

	mutating = `{metadata: {name: demo}, spec: {failurePolicy: Fail, reinvocationPolicy: Never, ` + rules + `, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]}}`
	inline   = `{metadata: {name: demo}, spec: {failurePolicy: Fail, reinvocationPolicy: Never, ` + rules + `, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}, condition: "true"}]}}`

	laterBinding = `{metadata: {name: demo}, spec: {policyName: demo, validationActions: [Deny], bindingType: Later}}`

	secretDenied = `spec.paramKind: Forbidden: user &{alice 7 [staff] map[scope:[own]]} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`
	noBinding    = `the policy has no effect: no ValidatingAdmissionPolicyBinding has spec.policyName "demo"`
)

// stored are the objects that the cluster has.
func stored() []runtime.Object {
	return []runtime.Object{
		&v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "by-secret"}, Spec: v1.ValidatingAdmissionPolicySpec{ParamKind: &v1.ParamKind{APIVersion: "v1", Kind: "Secret"}}},
		&v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "alone"}, Spec: v1.ValidatingAdmissionPolicySpec{PolicyType: new(v1.SingletonPolicy)}},
		&v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "by-secret"}, Spec: v1.MutatingAdmissionPolicySpec{ParamKind: &v1.ParamKind{APIVersion: "v1", Kind: "Secret"}}},
		&v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "bound"}},
		&v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo"}},
	}
}

// types has one resource, deployments, whose spec has the field replicas.
type types struct{ meta.RESTMapper }

func (types) ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error) {
	replicas := spec.MapProperty(nil).WithProperties(map[string]spec.Schema{"replicas": *spec.Int64Property()})
	replicas.AdditionalProperties = nil
	deployment := spec.MapProperty(nil).WithProperties(map[string]spec.Schema{"spec": *replicas})
	deployment.AdditionalProperties = nil
	return deployment, nil
}

// mapper knows config maps only after a reset, as if their kind was new.
type mapper struct{ *meta.DefaultRESTMapper }

func (m mapper) Reset() {
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
}

// reviewer lets nobody read params, except for config maps.
func reviewer(t *testing.T) *policywrites.Reviewer {
	t.Helper()
	mapper := mapper{meta.NewDefaultRESTMapper(nil)}
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	checker, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err != nil {
		t.Fatal(err)
	}
	warner := typechecks.New(checker)
	warner.Use(func() typecheck.Types { return types{mapper} })
	client := fake.NewSimpleClientset(stored()...)
	// The informers do not run, as if every binding was created a moment ago.
	return policywrites.New(policywrites.Config{
		Client:    client,
		Informers: informers.NewSharedInformerFactory(client, 0).Admissionregistration().V1(),
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetResource() == "configmaps" {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionNoOpinion, "", nil
		}),
		Mapper: mapper,
		Types:  typechecks.NewValidator(func() typecheck.Types { return types{mapper} }),
		Warner: warner,
	})
}

func TestReview(t *testing.T) {
	for name, test := range map[string]struct {
		on          featuregate.Feature
		resource    string
		object, old string // old is empty for a create
		groups      []string
		wantErr     string // after "... is invalid: "
		wantWarns   []string
		wantKind    string
	}{
		"valid": {resource: validatingPolicies, object: valid},
		"invalid": {
			resource: validatingPolicies, object: invalid, wantKind: "ValidatingAdmissionPolicy",
			wantErr: "spec.validations[0].expression: Invalid value: \"nothing\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing\n | ^",
		},
		"stored by a later version": {
			on: features.ValidatingAdmissionPolicyFallbackBinding, resource: validatingBindings, old: laterBinding,
			object:    strings.Replace(laterBinding, "Deny", "Audit", 1),
			wantWarns: []string{`spec.policyName: ValidatingAdmissionPolicy "demo" does not exist, and the binding has no effect until it does`},
		},
		"metadata without spec": {
			resource: mutatingBindings, object: `{metadata: {name: demo}}`, wantKind: "MutatingAdmissionPolicyBinding",
			wantErr: "spec.policyName: Required value",
		},
		"disabled field": {
			resource: validatingPolicies, object: singleton, wantKind: "ValidatingAdmissionPolicy",
			wantErr: "spec.policyType: Forbidden: requires the ValidatingAdmissionPolicySingleton feature gate to be enabled",
		},
		"disabled field, mutating": {
			resource: mutatingPolicies, object: inline, wantKind: "MutatingAdmissionPolicy",
			wantErr: "spec.mutations[0].condition: Forbidden: requires the MutatingAdmissionPolicyInlineExpressions feature gate to be enabled",
		},
		"disabled field of the stored policy": {resource: mutatingPolicies, object: inline, old: inline},
		"enabled field": {
			on: features.ValidatingAdmissionPolicySingleton, resource: validatingPolicies, object: singleton, old: valid,
		},
		"enabled field, mutating": {on: features.MutatingAdmissionPolicyInlineExpressions, resource: mutatingPolicies, object: inline},
		"unreadable params":       {resource: validatingPolicies, object: params, wantKind: "ValidatingAdmissionPolicy", wantErr: secretDenied},
		"unreadable params, as before": {
			resource: validatingPolicies, object: params, old: params, wantWarns: []string{noBinding},
		},
		"readable params of a new kind": {resource: validatingPolicies, object: strings.Replace(params, "Secret", "ConfigMap", 1)},
		"superuser":                     {resource: validatingPolicies, object: params, groups: []string{user.SystemPrivilegedGroup}},
		"invalid comes before params": {
			resource: validatingPolicies, wantKind: "ValidatingAdmissionPolicy",
			object:  `{metadata: {name: demo}, spec: {failurePolicy: Fail, ` + rules + `, validations: [], paramKind: {apiVersion: v1, kind: Secret}}}`,
			wantErr: "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]",
		},
		"params of the policy": {
			resource: validatingBindings, wantKind: "ValidatingAdmissionPolicyBinding",
			object:  `{metadata: {name: demo}, spec: {policyName: by-secret, validationActions: [Deny], paramRef: {name: a, parameterNotFoundAction: Deny}}}`,
			wantErr: `spec.paramRef: Forbidden: user &{alice 7 [staff] map[scope:[own]]} does not have "get" permission on the object referenced by paramRef`,
		},
		"params of the policy, mutating": {
			resource: mutatingBindings, wantKind: "MutatingAdmissionPolicyBinding",
			object:  `{metadata: {name: demo}, spec: {policyName: by-secret, paramRef: {name: a, parameterNotFoundAction: Deny}}}`,
			wantErr: `spec.paramRef: Forbidden: user &{alice 7 [staff] map[scope:[own]]} does not have "get" permission on the object referenced by paramRef`,
		},
		"binding of a singleton": {
			on: features.ValidatingAdmissionPolicySingleton, resource: validatingBindings, wantKind: "ValidatingAdmissionPolicyBinding",
			object:  `{metadata: {name: demo}, spec: {policyName: alone, validationActions: [Deny]}}`,
			wantErr: "spec.policyName: Forbidden: policy alone is a Singleton, which takes effect without a binding",
		},
		"binding of no policy": {
			resource: validatingBindings, object: `{metadata: {name: demo}, spec: {policyName: no-such-policy, validationActions: [Deny]}}`,
			wantWarns: []string{`spec.policyName: ValidatingAdmissionPolicy "no-such-policy" does not exist, and the binding has no effect until it does`},
		},
		"type error": {
			resource: validatingPolicies, object: strings.Replace(valid, "true", "object.spec.replcias < 3", 1),
			wantWarns: []string{"spec.validations[0].expression:1:12: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment)"},
		},
		"type error of an enforced policy": {
			on: features.AdmissionPolicyTypeEnforcement, resource: validatingPolicies, object: enforced("object.spec.replcias < 3"), wantKind: "ValidatingAdmissionPolicy",
			wantErr: "spec.validations[0].expression: Invalid value: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replcias'\n | object.spec.replcias < 3\n | ...........^",
		},
		"type error of an enforced policy, as before": {
			on: features.AdmissionPolicyTypeEnforcement, resource: validatingPolicies, object: enforced("object.spec.replcias < 3"), old: enforced("object.spec.replcias < 3"),
			wantWarns: []string{"spec.validations[0].expression:1:12: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment)", noBinding},
		},
		"enforced policy for a type that is not known": {
			on: features.AdmissionPolicyTypeEnforcement, resource: validatingPolicies, object: strings.ReplaceAll(enforced("object.spec.replcias < 3"), "[apps]", "[example.com]"),
		},
		"lookups": {on: features.AdmissionPolicyLookups, resource: validatingPolicies, object: looking("ConfigMap", "Cached")},
		"unreadable lookups": {
			on: features.AdmissionPolicyLookups, resource: validatingPolicies, object: looking("Secret", "Cached"), wantKind: "ValidatingAdmissionPolicy",
			wantErr: `spec.lookups[0]: Forbidden: user "alice" must have "list" permission on secrets in all namespaces, because messages of the policy may show what it looks up`,
		},
		"latest lookups": {
			on: features.AdmissionPolicyLookups, resource: validatingPolicies, object: looking("ConfigMap", "Latest"), wantKind: "ValidatingAdmissionPolicy",
			wantErr: "spec.lookups[0].consistency: Forbidden: the polyfill reads objects by requests, and cannot wait for the latest: remove consistency Latest",
		},
		"disabled lookups": {
			resource: validatingPolicies, object: looking("ConfigMap", "Cached"), wantKind: "ValidatingAdmissionPolicy",
			wantErr: "spec.lookups: Forbidden: requires the AdmissionPolicyLookups feature gate to be enabled",
		},
		"request.time": {on: features.AdmissionPolicyRequestTime, resource: validatingPolicies, object: timed},
		"disabled request.time": {
			resource: validatingPolicies, object: timed, wantKind: "ValidatingAdmissionPolicy",
			wantErr: `spec.validations[0].expression: Invalid value: "request.time > timestamp(0)": request.time requires the AdmissionPolicyRequestTime feature gate to be enabled`,
		},
		"stored request.time":         {resource: validatingPolicies, object: timed, old: timed, wantWarns: []string{noBinding}},
		"update of an unbound policy": {resource: validatingPolicies, object: valid, old: valid, wantWarns: []string{noBinding}},
		"update of a bound policy":    {resource: mutatingPolicies, object: mutating, old: mutating},
		"being deleted": {
			resource: validatingPolicies, old: valid,
			object: `{metadata: {name: demo, deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {failurePolicy: Fail, ` + rules + `, validations: [{expression: "true"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.on != "" {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, test.on, true)
			}
			write := &admissionv1.AdmissionRequest{
				UID: "1", Operation: admissionv1.Create,
				Resource: metav1.GroupVersionResource{Group: "policy.celador.io", Version: "v1", Resource: test.resource},
				UserInfo: authenticationv1.UserInfo{Username: "alice", UID: "7", Groups: append([]string{"staff"}, test.groups...), Extra: map[string]authenticationv1.ExtraValue{"scope": {"own"}}},
				Object:   raw(t, test.object),
			}
			if test.old != "" {
				write.Operation, write.OldObject = admissionv1.Update, raw(t, test.old)
			}
			got := reviewer(t).Review(t.Context(), request(t, write))
			want := &admissionv1.AdmissionResponse{UID: "1", Allowed: true, Warnings: test.wantWarns}
			if test.wantErr != "" {
				want = &admissionv1.AdmissionResponse{UID: "1", Result: denial(test.wantKind, test.wantErr)}
			}
			// The message has the causes.
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.StatusDetails{}, "Causes")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// enforced returns a validating policy whose type errors are refused.
func enforced(expression string) string {
	return strings.Replace(strings.Replace(valid, "failurePolicy", "typeChecking: Enforced, failurePolicy", 1), "true", expression, 1)
}

// looking returns a validating policy with a lookup.
func looking(kind, consistency string) string {
	return strings.Replace(valid, "failurePolicy", "lookups: [{name: objects, apiVersion: v1, kind: "+kind+", consistency: "+consistency+"}], failurePolicy", 1)
}

func request(t *testing.T, write *admissionv1.AdmissionRequest) *review.Request {
	t.Helper()
	r, err := review.FromRequest(write)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func denial(kind, errs string) *metav1.Status {
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid,
		Message: kind + `.policy.celador.io "demo" is invalid: ` + errs,
		Details: &metav1.StatusDetails{Group: "policy.celador.io", Kind: kind, Name: "demo"},
	}
}

func raw(t *testing.T, manifest string) runtime.RawExtension {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}

func TestCauses(t *testing.T) {
	write := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Object: raw(t, singleton),
		Resource: metav1.GroupVersionResource{Group: "policy.celador.io", Version: "v1", Resource: validatingPolicies},
	}
	got := reviewer(t).Review(t.Context(), request(t, write)).Result.Details.Causes
	want := []metav1.StatusCause{{Type: "FieldValueForbidden", Field: "spec.policyType", Message: "Forbidden: requires the ValidatingAdmissionPolicySingleton feature gate to be enabled"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// Reviews that are not writes of a spec, or that no API server sends.
func TestOtherReviews(t *testing.T) {
	ours := metav1.GroupVersionResource{Group: "policy.celador.io", Version: "v1", Resource: validatingPolicies}
	broken := runtime.RawExtension{Raw: json.RawMessage(`{"spec": []}`)}
	for name, test := range map[string]struct {
		write *admissionv1.AdmissionRequest
		want  string // message; empty if allowed
	}{
		"deletion": {write: &admissionv1.AdmissionRequest{Operation: admissionv1.Delete, Resource: ours}},
		"status":   {write: &admissionv1.AdmissionRequest{Operation: admissionv1.Update, Resource: ours, SubResource: "status", Object: broken}},
		"native policy": {
			write: &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: metav1.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: validatingPolicies}},
			want:  "admissionregistration.k8s.io/v1, Resource=validatingadmissionpolicies is not a resource of policy.celador.io/v1",
		},
		"another version": {
			write: &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: metav1.GroupVersionResource{Group: "policy.celador.io", Version: "v2", Resource: validatingPolicies}},
			want:  "policy.celador.io/v2, Resource=validatingadmissionpolicies is not a resource of policy.celador.io/v1",
		},
		"no object": {
			write: &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: ours},
			want:  "decoding the ValidatingAdmissionPolicy: unexpected end of JSON input",
		},
		"object of another shape": {
			write: &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Resource: ours, Object: broken},
			want:  "decoding the ValidatingAdmissionPolicy: json: cannot unmarshal array into Go struct field ValidatingAdmissionPolicy.spec of type v1.ValidatingAdmissionPolicySpec",
		},
		"stored object of another shape": {
			write: &admissionv1.AdmissionRequest{Operation: admissionv1.Update, Resource: ours, Object: raw(t, valid), OldObject: broken},
			want:  "decoding the stored ValidatingAdmissionPolicy: json: cannot unmarshal array into Go struct field ValidatingAdmissionPolicy.spec of type v1.ValidatingAdmissionPolicySpec",
		},
	} {
		got := reviewer(t).Review(t.Context(), request(t, test.write))
		message, code := "", int32(0)
		if got.Result != nil {
			message, code = got.Result.Message, got.Result.Code
		}
		if got.Allowed != (test.want == "") || message != test.want || code != 400 && test.want != "" {
			t.Errorf("%s: got allowed %t, code %d, message %q, want %q", name, got.Allowed, code, message, test.want)
		}
	}
}
