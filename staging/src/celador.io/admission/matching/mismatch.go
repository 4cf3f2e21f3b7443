// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

// Mismatch describes for a log which part of the criteria the request does not meet. It returns the
// empty string if the request meets all parts, or if that cannot be decided.
func (c *Criteria) Mismatch(r *Request) string {
	if _, excluded, err := matchRules(c.exclude, c.exact, r); excluded && err == nil {
		return "excludeResourceRules match"
	}
	if len(c.include) > 0 {
		if _, included, err := matchRules(c.include, c.exact, r); !included && err == nil {
			return "no resourceRules match"
		}
	}
	if selected, err := c.namespaces.selectsNamespace(r); !selected && err == nil {
		return "namespaceSelector does not match"
	}
	if selected, err := c.objects.selectsObject(r); !selected && err == nil {
		return "objectSelector does not match"
	}
	return ""
}
