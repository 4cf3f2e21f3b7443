// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"celador.io/celador/test/e2e/conformance/process"
)

const pollInterval = 200 * time.Millisecond

// Await polls check until it returns nil. It returns an error if p or ctx ends first.
func Await(ctx context.Context, p *process.Process, check func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.Done():
			return p.Ended()
		case <-ctx.Done():
			return fmt.Errorf("%w: the last check said: %w: see %s", context.Cause(ctx), err, p.Log())
		}
	}
}
