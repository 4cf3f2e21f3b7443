// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

const (
	// pollInterval is the time between two looks at what is published.
	pollInterval = 5 * time.Second
	// minInterval is that when requests want to know.
	minInterval = 500 * time.Millisecond
	// forgetAfter is how long a group version that was not published is not waited for.
	forgetAfter = time.Minute
	// readTimeout is how long the server has to answer.
	readTimeout = 10 * time.Second
)

// Run follows what the server publishes until the context ends. It is called once. Errors are
// logged, and tried again.
func (s *Source) Run(ctx context.Context) {
	defer close(s.stopped)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "schemas"))
	for {
		s.look(ctx)
		again := time.NewTimer(pollInterval)
		select {
		case <-ctx.Done():
			return
		case <-time.After(minInterval):
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		case <-s.wanted:
		}
		again.Stop()
	}
}

// look makes a view of what is published now. One that fails is followed by the same view.
func (s *Source) look(ctx context.Context) {
	before := s.view.Load()
	documents := before.documents
	asking, cancel := context.WithTimeout(ctx, readTimeout)
	paths, err := s.client.PathsWithContext(asking)
	cancel()
	switch {
	case err == nil:
		documents = before.update(ctx, paths)
		s.absent.forget(func(version any, first time.Time) bool {
			return documents[version.(schema.GroupVersion)] != nil || time.Since(first) > forgetAfter
		})
	case ctx.Err() == nil:
		utilruntime.HandleErrorWithContext(ctx, err, "Cannot find out which OpenAPI documents the server publishes")
	}
	s.view.Store(newView(documents))
	close(before.next)
}
