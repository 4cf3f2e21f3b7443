// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	pollInterval = 5 * time.Millisecond
	// deadline is how long Eventually waits. It is many times as long as any condition takes on a
	// slow machine.
	deadline = time.Minute
)

// Eventually calls check until it returns nil. It ends the test with the last error after a
// minute. Cleanup functions may call it.
func Eventually(t testing.TB, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), pollInterval, deadline, true, func(ctx context.Context) (bool, error) {
		// If check fails because of the deadline, its previous error says more.
		if err := check(ctx); err == nil || ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil || last != nil {
		t.Fatalf("%v: %v", err, last)
	}
}
