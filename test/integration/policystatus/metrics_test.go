// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// TestMetrics checks the metrics about the states of policies and about the controller's queue.
func TestMetrics(t *testing.T) {
	policy := write(t, matching("missing.example.com", "v1", "widgets")+`validations: [{expression: "true"}]`)
	expect(t, policy.Name, isMissing)
	testserver.Eventually(t, func(ctx context.Context) error {
		text, err := core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		if err != nil {
			return err
		}
		for _, want := range []string{
			`celador_admission_policy_conditions\{condition="Available",kind="ValidatingAdmissionPolicy",status="False"\} [1-9]`,
			`workqueue_adds_total\{name="admission_policy_status"\} [1-9]`,
			`workqueue_retries_total\{name="admission_policy_status"\} `,
		} {
			if !regexp.MustCompile(want).Match(text) {
				return fmt.Errorf("no metric %s", want)
			}
		}
		return nil
	})
}
