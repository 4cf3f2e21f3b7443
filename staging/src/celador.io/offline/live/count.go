// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Serves reports whether the cluster has a resource whose objects the selection selects, even if
// there is no such object.
func (c *Cluster) Serves(selection Selection) (bool, error) {
	resources, unknown, err := c.resources(selection)
	return len(resources)+len(unknown) > 0, err
}

// Count returns the number of the selected objects, or 0 if the cluster does not tell it, as for
// label selectors. It reads one object of each resource. Resources that cannot be read do not
// count.
func (c *Cluster) Count(ctx context.Context, selection Selection) int {
	resources, _, err := c.resources(selection)
	if err != nil {
		return 0
	}
	count := 0
	for _, resource := range resources {
		page, err := c.objects.Resource(resource).Namespace(selection.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selection.Labels, Limit: 1})
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
