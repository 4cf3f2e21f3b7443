// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// AuthorizerValue makes the value of 'authorizer' for one request when an expression first reads
// it. It caches the decisions of the authorizer. Not safe for concurrent use.
type AuthorizerValue struct {
	authorizer authorizer.UnconditionalAuthorizer
	caching    authorizer.UnconditionalAuthorizer
}

// NewAuthorizerValue returns the AuthorizerValue for an authorizer of the server. If authz is nil,
// expressions that read 'authorizer' fail.
func NewAuthorizerValue(authz authorizer.UnconditionalAuthorizer) *AuthorizerValue {
	return &AuthorizerValue{authorizer: authz}
}

// exists reports whether expressions can read 'authorizer'. a may be nil.
func (a *AuthorizerValue) exists() bool { return a != nil && a.authorizer != nil }

func (a *AuthorizerValue) get() authorizer.UnconditionalAuthorizer {
	if a.caching == nil {
		a.caching = admissionauthorizer.NewCachingAuthorizer(a.authorizer)
	}
	return a.caching
}
