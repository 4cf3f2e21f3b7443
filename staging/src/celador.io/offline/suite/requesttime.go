// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"strings"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// lacksTime returns an error if a case does not set the time of its request, and a policy that
// matches the request reads request.time. The case would otherwise depend on the time when it runs.
func lacksTime(document *manifest.Document, c *testCase, objects []object, response *cluster.Response) error {
	if c.spec.Request.Time != nil {
		return nil
	}
	for _, p := range response.Policies {
		if p.Effect == cluster.NotReached || p.Effect == cluster.NotMatched {
			continue
		}
		for _, o := range named(objects, p.Kind, "", p.Policy) {
			for _, path := range cluster.RequestTimeReads(o.content) {
				if p.Effect == cluster.Excluded && !strings.HasPrefix(path, "spec.matchConditions") {
					continue
				}
				return document.Errorf(c.path+".request", "time is required, such as time: \"2026-11-28T21:30:00Z\": %s %s reads request.time in %s", p.Kind, p.Policy, path)
			}
		}
	}
	return nil
}
