// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/expression"
	"celador.io/admission/lookups"
	"celador.io/admission/matching"
	"celador.io/admission/modelschema"
	"celador.io/admission/params"
	"celador.io/admission/policyspec"
)

// Config configures an engine. The zero value suffices for policies that use neither namespaces,
// params nor the authorizer.
type Config struct {
	// Features are the enabled features. Fields that need another feature are ignored.
	Features policyspec.Features
	// Compiler compiles expressions. Nil means expression.Default().
	Compiler *expression.Compiler
	// Namespaces looks up the namespaces of requests. Without it, requests for namespaced objects
	// fail if a policy with a namespaceSelector may match, an expression is evaluated or, for
	// mutating policies, any policy matches.
	Namespaces matching.NamespaceGetter
	// Params gives access to param objects. Without it, policies with a paramKind fail the requests
	// that they match.
	Params params.Source
	// Lookups gives access to the objects that policies look up. Without it, expressions that read a
	// lookup fail.
	Lookups lookups.Source
	// Schemas gives access to the schemas of objects. Without it, a validation fails if its scope
	// is a type, or if it needs the old values of list items: its scope contains [*], and it or its
	// message reads 'oldSelf'.
	Schemas Schemas
	// Authorizer answers expressions that read 'authorizer'. Without it, such expressions fail.
	Authorizer authorizer.UnconditionalAuthorizer
}

// Schemas finds the schemas of kinds. Implementations are safe for concurrent use.
type Schemas interface {
	// Schema returns the schema of a kind, or an error if it is not known. It returns the same
	// pointer until the schema of the kind changes.
	Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error)
}

// APIObject is a policy or binding.
type APIObject interface {
	metav1.Object
	runtime.Object
}

// Engine is the part of an engine that all kinds of policies have. Its fields must not be changed
// once it is in use. Safe for concurrent use.
type Engine[PolicyObject, BindingObject APIObject, Body any] struct {
	Config
	Descriptor Descriptor[PolicyObject, BindingObject, Body]
}

// NewStore returns an empty store. Objects that are put into it must not be changed afterwards.
func (e *Engine[PolicyObject, BindingObject, Body]) NewStore() *Store[PolicyObject, BindingObject, Body] {
	return NewStore(e.Descriptor, e.Params, e.Lookups, e.Features[policyspec.TypeEnforcement])
}

// NewSnapshot returns a snapshot of the given policies and bindings, which must not be changed
// afterwards. It returns the error of Store.Set. Policies with a paramKind fail the requests that
// they match, and so do expressions that read lookups, because such a snapshot reads neither params
// nor other objects. Enforced policies decide without a verdict.
func (e *Engine[PolicyObject, BindingObject, Body]) NewSnapshot(objects ...runtime.Object) (*Snapshot[Body], error) {
	s := NewStore(e.Descriptor, nil, nil, false)
	if err := s.Set(objects...); err != nil {
		return nil, err
	}
	return s.Snapshot(), nil
}

// Errors returns the errors with which the policy fails requests of any kind, such as compilation
// errors. The error of a field begins with the field's path. Errors does not change the policy.
func (e *Engine[PolicyObject, BindingObject, Body]) Errors(p PolicyObject) []error {
	return e.Descriptor.Policy(p).Errors()
}
