// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Serves reports whether the cluster has a resource whose objects the filter selects, even if
// there is no such object.
func (c *Client) Serves(filter Filter) (bool, error) {
	resources, unknown, err := c.resources(filter)
	return len(resources)+len(unknown) > 0, err
}

// Count returns the number of the selected objects, or 0 if the cluster does not tell it, as for
// label selectors. It reads one object of each resource. Resources that cannot be read do not
// count.
func (c *Client) Count(ctx context.Context, filter Filter) int {
	resources, _, err := c.resources(filter)
	if err != nil {
		return 0
	}
	count := 0
	for _, resource := range resources {
		page, err := c.objects.Resource(resource).Namespace(filter.Namespace).List(ctx, metav1.ListOptions{LabelSelector: filter.Labels, Limit: 1})
		if err != nil {
			continue
		}
		count += len(page.Items)
		switch remaining := page.GetRemainingItemCount(); {
		case page.GetContinue() == "":
		case remaining == nil:
			return 0
		default:
			count += int(*remaining)
		}
	}
	return count
}
