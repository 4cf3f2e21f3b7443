// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// errFound ends a list of bindings.
var errFound = errors.New("found")

// WarnUnbound returns a warning if no binding binds the policy, and the policy needs one. It returns nil if the bindings cannot be
// listed.
func (k BindingKind[B, P, S]) WarnUnbound(ctx context.Context, policy P, bindings rest.Lister) []string {
	if k.isSingleton != nil && k.isSingleton(policy) {
		return nil
	}
	// The watch cache may not have the latest binding, so the list that finds none is as recent as etcd.
	for _, version := range []string{"0", ""} {
		list, err := bindings.List(ctx, &internalversion.ListOptions{ResourceVersion: version})
		if err == nil {
			err = meta.EachListItem(list, func(binding runtime.Object) error {
				if k.policyName(binding.(B)) == policy.GetName() {
					return errFound
				}
				return nil
			})
		}
		if err != nil {
			return nil
		}
	}
	return []string{fmt.Sprintf("the policy has no effect: no %sBinding has spec.policyName %q", k.policyKind, policy.GetName())}
}
