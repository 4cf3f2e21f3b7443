// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package initializer

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

// MaxParamSync is the longest time that a server waits for the params of policies before it is
// ready without them. Serving their kind may need a server that is ready, such as an aggregated
// server or a conversion webhook that runs in a pod.
const MaxParamSync = 20 * time.Second

// AwaitParams returns a readiness check that waits until the params of policies are known, because
// requests that need params fail without them. synced returns an error while they are not. since
// returns the time when the wait has begun, or an error if it has not, with which the check fails.
// The check waits for MaxParamSync at most. Once it has passed, it always passes. Safe for
// concurrent use.
func AwaitParams(synced func() error, since func() (time.Time, error)) func() error {
	var passed atomic.Bool
	return func() error {
		if passed.Load() {
			return nil
		}
		begin, err := since()
		if err != nil {
			return err
		}
		err = synced()
		if err != nil && time.Since(begin) < MaxParamSync {
			return fmt.Errorf("waiting up to %v for the params of policies: %w", MaxParamSync, err)
		}
		if !passed.Swap(true) && err != nil {
			klog.ErrorS(err, "Ready without the params of policies: requests that need them fail according to failurePolicy")
		}
		return nil
	}
}

// AwaitParams returns the readiness check of the function AwaitParams for the params of all
// plugins. While ready returns an error, the check fails with it. The wait for params begins when
// ready first returns nil.
func (i *Initializer) AwaitParams(ready func() error) func() error {
	begin := sync.OnceValue(time.Now)
	return AwaitParams(i.ParamsSynced, func() (time.Time, error) {
		if err := ready(); err != nil {
			return time.Time{}, err
		}
		return begin(), nil
	})
}
