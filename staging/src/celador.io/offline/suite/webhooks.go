// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"slices"
	"strings"

	"celador.io/offline/cluster"
)

// checkWebhooks compares the names of the webhooks that the server calls, in any order.
func (c *checker) checkWebhooks(want []string, records []cluster.WebhookRecord) {
	var called, reasons []string
	for _, record := range records {
		if record.Called {
			called = append(called, record.Name)
		} else if slices.Contains(want, record.Name) {
			reasons = append(reasons, record.Name+": "+record.Reason)
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
