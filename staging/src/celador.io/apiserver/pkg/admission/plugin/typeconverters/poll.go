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
	// pollInterval is the time between two polls of the paths of published documents.
	pollInterval = 5 * time.Second
	// minPollInterval is the minimum time between two polls while requests wait.
	minPollInterval = 500 * time.Millisecond
	// missingVersionTTL is the time after which requests wait again for a group version that was
	// not published.
	missingVersionTTL = time.Minute
	// readTimeout is the time that the server has to answer a request for paths or for a document.
	readTimeout = 10 * time.Second
)

// Run polls the paths that the server publishes until ctx ends. It must be called once. Errors are
// logged and retried.
func (s *PublishedSchemas) Run(ctx context.Context) {
	defer close(s.stopped)
	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "schemas"))
	for {
		s.poll(ctx)
		again := time.NewTimer(pollInterval)
		select {
		case <-ctx.Done():
			return
		case <-time.After(minPollInterval):
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		case <-s.pollRequested:
		}
		again.Stop()
	}
}

// poll stores a snapshot of the published documents. If the server does not answer, the new
// snapshot has the documents of the one before.
func (s *PublishedSchemas) poll(ctx context.Context) {
	before := s.snapshot.Load()
	documents := before.documents
	asking, cancel := context.WithTimeout(ctx, readTimeout)
	paths, err := s.client.PathsWithContext(asking)
	cancel()
	switch {
	case err == nil:
		documents = before.update(ctx, s.want, paths)
		s.missingVersions.deleteFunc(func(version any, first time.Time) bool {
			return documents[version.(schema.GroupVersion)] != nil || time.Since(first) > missingVersionTTL
		})
	case ctx.Err() == nil:
		utilruntime.HandleErrorWithContext(ctx, err, "Cannot find out which OpenAPI documents the server publishes")
	}
	s.snapshot.Store(newSnapshot(documents))
	close(before.replaced)
}
