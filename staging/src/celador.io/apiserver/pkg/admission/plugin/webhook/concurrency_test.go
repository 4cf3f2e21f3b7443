// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
)

// While clients update a webhook configuration, each request is subject to one version of its
// match conditions, which was written and is no older than the version that an earlier request
// was subject to. The last version takes effect.
func TestUpdatesWhileRequestsRun(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) { testUpdatesWhileRequestsRun(t, k) })
	}
}

func testUpdatesWhileRequestsRun(t *testing.T, k kind) {
	const updates, requests = 40, 40
	// The conditions of each version fail with an error that names the version, except for the
	// first webhook, which the conditions exclude.
	webhooks := func(n int64) []v1.MutatingWebhook {
		return []v1.MutatingWebhook{
			conditional("w0.example.com", v1.Fail, fmt.Sprintf("%d < 0", n)),
			conditional("w1.example.com", v1.Fail, fmt.Sprintf("object.spec.v%d == ''", n)),
		}
	}
	p, client := k.started(t, unreachable, webhooktesting.NewAuthenticationInfoResolver(new(int32)), webhooks(1))

	var written atomic.Int64
	written.Store(1)
	version := regexp.MustCompile(`no such key: v(\d+)$`)
	// see returns the version that a request sees.
	see := func() int64 {
		err := k.examine(t.Context(), p, webhooktesting.NewAttribute(namespace, nil, false))
		if err == nil {
			t.Error("the request is admitted")
			return 0
		}
		named := version.FindStringSubmatch(err.Error())
		if named == nil {
			t.Errorf("got error %v", err)
			return 0
		}
		seen, err := strconv.ParseInt(named[1], 10, 64)
		if err != nil || seen > written.Load() {
			t.Errorf("a request sees version %d, %v, version %d is written", seen, err, written.Load())
		}
		return seen
	}
	until := func(n int64) {
		err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return see() == n, nil })
		if err != nil {
			t.Fatalf("version %d does not take effect: %v", n, err)
		}
	}
	until(1)

	var all sync.WaitGroup
	all.Go(func() {
		for range updates {
			n := written.Add(1)
			meta := metav1.ObjectMeta{Name: configuration, ResourceVersion: strconv.FormatInt(n, 10)}
			if err := k.update(t.Context(), client, meta, webhooks(n)); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		all.Go(func() {
			last := int64(1)
			for range requests {
				seen := see()
				if seen < last {
					t.Errorf("a request sees version %d after one that saw %d", seen, last)
				}
				last = max(last, seen)
			}
		})
	}
	all.Wait()
	until(updates + 1)
}
