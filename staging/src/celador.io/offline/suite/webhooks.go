// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"slices"
	"strings"

	"celador.io/offline/cluster"
)

// checkWebhooks compares the names of the webhooks that the server calls, in any order.
func (c *checker) checkWebhooks(want []string, reviews []cluster.WebhookReview) {
	var called, reasons []string
	for _, review := range reviews {
		if review.Called {
			called = append(called, review.Name)
		} else if slices.Contains(want, review.Name) {
			reasons = append(reasons, review.Name+": "+review.Reason)
		}
	}
	wanted := slices.Sorted(slices.Values(want))
	slices.Sort(called)
	if slices.Equal(wanted, called) {
		return
	}
	got := quoted(called)
	if len(reasons) > 0 {
		got += " (" + strings.Join(reasons, "; ") + ")"
	}
	c.fail("webhooks", quoted(wanted), got)
}
