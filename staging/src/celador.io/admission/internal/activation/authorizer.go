// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Authorizer is the value of 'authorizer' for one request. It caches decisions. It creates the value when
// an expression first reads it. Not safe for concurrent use.
type Authorizer struct {
	authorizer authorizer.UnconditionalAuthorizer
	caching    authorizer.UnconditionalAuthorizer
}

// NewAuthorizer returns the Authorizer for an authorizer of the server. It returns nil for nil, so that
// expressions that read 'authorizer' fail.
func NewAuthorizer(authz authorizer.UnconditionalAuthorizer) *Authorizer {
	if authz == nil {
		return nil
	}
	return &Authorizer{authorizer: authz}
}

func (a *Authorizer) get() authorizer.UnconditionalAuthorizer {
	if a.caching == nil {
		a.caching = admissionauthorizer.NewCachingAuthorizer(a.authorizer)
	}
	return a.caching
}
