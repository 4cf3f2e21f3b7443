// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suite loads and runs test suites of admission policies.
//
// A suite is a file of apiVersion test.celador.io/v1alpha1 and kind Suite. A Loader finds such
// files, and reads them and the manifests that they name. A Runner runs them.
package suite

import (
	"encoding/json"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// APIVersion and Kind are the type of a suite. ReportKind is the kind of a report about suites.
const (
	Group      = "test.celador.io"
	APIVersion = Group + "/v1alpha1"
	Kind       = "Suite"
	ReportKind = "Report"
)

// A Suite tests admission policies. It describes a cluster and requests to its API server, and
// states what the policies decide about each request.
type Suite struct {
	// TypeMeta is test.celador.io/v1alpha1, Suite.
	metav1.TypeMeta `json:",inline"`
	// Metadata has the name of the suite.
	Metadata Metadata `json:"metadata"`
	// FeatureGates are feature gates of the server by their names, as in its flag --feature-gates.
	// The others have their defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// Manifests are the objects of the cluster: policies, bindings, params, namespaces and others.
	// A policy without a binding does not apply, as on a server. Objects are created in an order
	// that does not matter; two manifests must not be of the same object.
	Manifests []Manifest `json:"manifests"`
	// Cases are the requests. There is at least one. Each meets the cluster of the manifests; no
	// case sees what another one writes.
	Cases []Case `json:"cases"`
}

// Metadata identifies a suite.
type Metadata struct {
	// Name is shown in results. It defaults to the name of the file, or of its directory if the
	// file is suite.yaml.
	Name string `json:"name,omitempty"`
}

// A Manifest is either an object or the path of a file with objects. Paths are relative to the file
// of the suite. A path in a list of manifests may be a pattern such as policies/*.yaml, in which **
// stands for any number of directories, and its files may have any number of objects. The file of a
// single manifest has one object.
type Manifest struct {
	// Path is the path of a file. Empty if the object is in the suite.
	Path string
	// Inline is the object as JSON.
	Inline json.RawMessage
}

// UnmarshalJSON reads a string as the path and another value as the object.
func (s *Manifest) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &s.Path)
	}
	s.Inline = append(json.RawMessage(nil), data...)
	return nil
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (s Manifest) MarshalJSON() ([]byte, error) {
	if s.Path != "" {
		return json.Marshal(s.Path)
	}
	return s.Inline, nil
}

// A Case is a request and what the policies decide about it.
type Case struct {
	// Name says what the case shows. Names are unique in a suite.
	Name string `json:"name"`
	// Manifests are further objects of the cluster in this case. Each takes the place of an object
	// of the suite with the same type, namespace and name, if there is one.
	Manifests []Manifest `json:"manifests,omitempty"`
	// Request is sent to the API server.
	Request Request `json:"request,omitzero"`
	// Expect is compared with the answer.
	Expect Expectation `json:"expect,omitzero"`
	// Skip is why the case does not run. A case that is skipped needs no request and no
	// expectation.
	Skip string `json:"skip,omitempty"`
	// Notes are remarks, by decision. Results show the remark for the decision of the policies,
	// whether the case passes or not.
	Notes map[Conclusion]string `json:"notes,omitempty"`
}

// A Request is an API request. Its fields are those of an AdmissionRequest of admission.k8s.io.
type Request struct {
	// Operation is CREATE, UPDATE, DELETE or CONNECT. It defaults to UPDATE if there is an
	// oldObject, and to CREATE otherwise.
	Operation string `json:"operation,omitempty"`
	// Object is the body of a CREATE or UPDATE, and the options of a CONNECT. A DELETE has none. It
	// is defaulted and validated as a server would before policies see it.
	Object *Manifest `json:"object,omitempty"`
	// OldObject is the stored object that an UPDATE changes, a DELETE deletes, or whose subresource
	// the request is for. An UPDATE or DELETE without one is for an object of the manifests, which
	// namespace and name identify.
	OldObject *Manifest `json:"oldObject,omitempty"`
	// Resource is the resource of the request. It defaults to the resource of the object, or else
	// of the oldObject. Set it for subresources whose kind is another one, such as scale, and for
	// CONNECT.
	Resource *metav1.GroupVersionResource `json:"resource,omitempty"`
	// SubResource is the subresource, such as status or scale.
	SubResource string `json:"subResource,omitempty"`
	// Namespace defaults to the namespace of the object or oldObject, and to default if these have
	// none.
	Namespace string `json:"namespace,omitempty"`
	// Name defaults to the name of the object or oldObject.
	Name string `json:"name,omitempty"`
	// UserInfo is the user who sends the request. It defaults to the user kubernetes-admin of the
	// group system:masters. Its groups are used as they are: list system:authenticated, which a
	// server would add, if a policy reads it.
	UserInfo *authenticationv1.UserInfo `json:"userInfo,omitempty"`
	// Time is when the server receives the request, such as 2026-11-28T21:30:00Z. A case needs it
	// if a policy that matches the request reads request.time.
	Time *metav1.Time `json:"time,omitempty"`
	// DryRun marks a request that stores nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// Options are the fields of CreateOptions, UpdateOptions or DeleteOptions.
	Options map[string]any `json:"options,omitempty"`
}

// An Expectation is what a case expects of the answer. Fields that are not set are not compared.
// One of Decision, Allowed and Violations is set.
type Expectation struct {
	// Decision is what the policies decide. If policy or binding is set, it is what that policy
	// decides, or that policy through that binding.
	Decision Conclusion `json:"decision,omitempty"`
	// Allowed states whether the server performs the request, for whatever reason. A body that the
	// server cannot decode is then a request that it does not perform, and not an error in the
	// suite.
	Allowed *bool `json:"allowed,omitempty"`
	// Violations is the number of validations that are violated or fail. Only those count that
	// match the fields policy, binding, validation, message, messagePattern and reason.
	Violations *int `json:"violations,omitempty"`
	// Policy is the name of the policy to which the decision, validation, message and reason
	// belong. If a ValidatingAdmissionPolicy and a MutatingAdmissionPolicy have the same name, it
	// is the kind, a slash and the name.
	Policy string `json:"policy,omitempty"`
	// Binding is the name of the binding to which the decision, validation, message and reason
	// belong.
	Binding string `json:"binding,omitempty"`
	// Validation is the index in spec.validations of the validation that is violated or fails. With
	// the decision Allowed, it is a validation whose binding only warns or audits.
	Validation *int `json:"validation,omitempty"`
	// Message is the message of the violation or failure, without the server's text before it (name
	// of the object, policy and binding). If the decision is Rejected, it is the message of the
	// server.
	Message string `json:"message,omitempty"`
	// MessagePattern is a regular expression that matches a part of the message, in the syntax of
	// RE2.
	MessagePattern string `json:"messagePattern,omitempty"`
	// Reason is the reason of the violation, such as Invalid or Forbidden. If the decision is
	// Rejected, it is the reason of the server.
	Reason metav1.StatusReason `json:"reason,omitempty"`
	// Causes are all causes in the details of a rejection, in order. An empty list expects none.
	Causes []Cause `json:"causes,omitempty"`
	// Warnings are all warnings to the client, in order. An empty list expects none.
	Warnings []string `json:"warnings,omitempty"`
	// AuditAnnotations are annotations of the audit event, by key: the name of the policy, a slash,
	// and the key in the policy. Others may exist.
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Webhooks are the names of all webhooks of the manifests that the server calls. An empty list
	// expects none.
	Webhooks []string `json:"webhooks,omitempty"`
	// TypeWarnings are all warnings of type checks, in any order: those of Policy, or of all
	// policies if it is not set. They do not depend on the request. An empty list expects none.
	TypeWarnings []TypeWarning `json:"typeWarnings,omitempty"`
	// Object is a part of the object after admission, in the version of the request. Fields that it
	// does not have are not compared. Lists have the same items in the same order. A field that is
	// null must be absent.
	Object *Manifest `json:"object,omitempty"`
	// Patch is what the policies change: a JSON patch (RFC 6902) from the object as it would be
	// without policies to the object after admission. An empty list expects that they change
	// nothing.
	Patch []PatchOperation `json:"patch,omitempty"`
}

// A Cause is one of the causes in the details of a rejection.
type Cause struct {
	// Field is the field that the cause names, such as spec.replicas. An empty field expects that
	// the cause names none.
	Field string `json:"field,omitempty"`
	// Message is the message of the denial, without the server's text before it (policy and
	// binding). An empty message is not compared.
	Message string `json:"message,omitempty"`
}

// A TypeWarning is one of the expressionWarnings in the status of a policy.
type TypeWarning struct {
	// Policy is the name of the policy, such as replicas.example.com, or with its kind
	// ValidatingAdmissionPolicy/replicas.example.com if a policy of the other kind has the name, too.
	Policy string `json:"policy"`
	// FieldRef is the field of the expression, such as spec.validations[0].expression.
	FieldRef string `json:"fieldRef"`
	// Pattern is a regular expression that matches a part of the warning.
	Pattern string `json:"pattern,omitempty"`
}

// A PatchOperation is an operation of a JSON patch.
type PatchOperation struct {
	// Op is add, remove, replace, move, copy or test.
	Op string `json:"op"`
	// Path is the JSON pointer to the value.
	Path string `json:"path"`
	// From is the JSON pointer to the source of move and copy.
	From string `json:"from,omitempty"`
	// Value is the value of add, replace and test.
	Value json.RawMessage `json:"value,omitempty"`
}

// A Conclusion is what policies decide together about a request.
type Conclusion string

const (
	// Allowed means that at least one policy applies and none denies the request.
	Allowed Conclusion = "Allowed"
	// Denied means that a policy denies the request: a validation is violated, or a mutation
	// refuses the request, and the binding denies.
	Denied Conclusion = "Denied"
	// Error means that a policy rejects the request because it cannot be evaluated, and its
	// failurePolicy is Fail. Examples are an expression that reads a missing field, and params that
	// do not exist.
	Error Conclusion = "Error"
	// NoMatch means that no policy applies: none matches the request with one of its bindings, or a
	// match condition is false.
	NoMatch Conclusion = "NoMatch"
	// Rejected means that the server rejects the request for a reason other than policies. An
	// example is an object that is invalid.
	Rejected Conclusion = "Rejected"
)

var conclusions = []Conclusion{Allowed, Denied, Error, NoMatch, Rejected}

// Conclusions returns all conclusions. The caller owns the result.
func Conclusions() []Conclusion { return slices.Clone(conclusions) }
