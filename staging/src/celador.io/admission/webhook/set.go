// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import "celador.io/admission/matching"

// A Set holds webhooks in the order in which they are called, indexed by the resources that they
// match. Safe for concurrent use.
type Set struct {
	webhooks []*Webhook
	index    *matching.Index
}

// NewSet returns the set of the given webhooks. A webhook may be in several sets.
func NewSet(webhooks []*Webhook) *Set {
	index := matching.NewIndex(len(webhooks), func(i int) *matching.Criteria { return webhooks[i].criteria })
	return &Set{webhooks, index}
}
