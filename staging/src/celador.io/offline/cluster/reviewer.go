// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// reviewer answers access reviews, such as SubjectAccessReviews, with the authorizer of the cluster
// that serves the request, which it finds in the context. The registries of access reviews have
// only one authorizer, although several clusters share them.
type reviewer struct{}

var _ Authorizer = reviewer{}

var errNoCluster = errors.New("the context is not that of a request to a cluster")

// Authorize implements authorizer.UnconditionalAuthorizer.
func (reviewer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	c := layerFrom(ctx).cluster
	if c == nil {
		return authorizer.DecisionNoOpinion, "", errNoCluster
	}
	return c.access.Authorize(ctx, a)
}

// RulesFor implements authorizer.RuleResolver.
func (reviewer) RulesFor(ctx context.Context, user user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	c := layerFrom(ctx).cluster
	if c == nil {
		return nil, nil, true, errNoCluster
	}
	return c.access.RulesFor(ctx, user, namespace)
}
