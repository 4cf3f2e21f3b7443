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
	// deadline is many times what anything here takes on a slow machine.
	deadline = time.Minute
)

// Eventually calls check until it returns nil. After a minute without success the
// test ends with the last error. It may be called in a test's cleanup.
func Eventually(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), pollInterval, deadline, true, func(ctx context.Context) (bool, error) {
		// An answer that the end of the time cuts off says less than the one before.
		if err := check(ctx); err == nil || ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil || last != nil {
		t.Fatalf("%v: %v", err, last)
	}
}
