// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Authorizer remembers decisions during a request. It is only set up for expressions
// that ask. Not safe for concurrent use.
type Authorizer struct {
	authorizer authorizer.UnconditionalAuthorizer
	caching    authorizer.UnconditionalAuthorizer
}

// NewAuthorizer returns nil, which takes 'authorizer' out of scope, for nil.
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
