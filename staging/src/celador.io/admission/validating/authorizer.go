// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// cachingAuthorizer remembers decisions during a request. It is only set up for
// expressions that ask.
type cachingAuthorizer struct {
	authorizer authorizer.UnconditionalAuthorizer
	caching    authorizer.UnconditionalAuthorizer
}

func (c *cachingAuthorizer) get() authorizer.UnconditionalAuthorizer {
	if c.caching == nil {
		c.caching = admissionauthorizer.NewCachingAuthorizer(c.authorizer)
	}
	return c.caching
}
