// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/admission/plugin/manifest"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/util/filesystem"
	"k8s.io/klog/v2"
)

// Options selects the manifests of a plugin and the labels of the metrics of their loads.
type Options struct {
	// Dir is the directory of the files. Subdirectories are ignored.
	Dir string
	// Plugin is the name of the admission plugin.
	Plugin metrics.ManifestType
	// ServerID identifies the server. The metrics contain a hash of it.
	ServerID string
}

// Files holds what a plugin makes of the manifests of a directory, such as a snapshot of policies,
// and makes it anew when they change. Current is safe for concurrent use and does not block.
type Files[T any] struct {
	Options
	read    func([]manifest.FileDoc) (*T, error)
	current atomic.Pointer[T]
	// hash is the hash of the files from which current was made. Only the goroutine that loads uses
	// it.
	hash string
}

// NewFiles loads the files of the directory, and makes a T of their documents with read. It returns
// an error if the files cannot be loaded, or if read returns one.
func NewFiles[T any](options Options, read func([]manifest.FileDoc) (*T, error)) (*Files[T], error) {
	metrics.RegisterMetrics()
	s := &Files[T]{Options: options, read: read}
	documents, hash, err := manifest.LoadFiles(s.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.use(documents, hash); err != nil {
		return nil, err
	}
	return s, nil
}

// Current returns the result of the last successful load. It is shared and must not be changed.
func (s *Files[T]) Current() *T { return s.current.Load() }

// Follow loads the files again when they change, until ctx ends. The file system may not report a
// change, so Follow also looks for changes at every interval, which must be positive. If a load
// fails, Follow logs the error, and Current keeps its result. Follow must be called at most once.
func (s *Files[T]) Follow(ctx context.Context, interval time.Duration) {
	logger := klog.FromContext(ctx).WithValues("plugin", s.Plugin, "dir", s.Dir)
	filesystem.WatchUntil(ctx, interval, s.Dir, func() { s.reload(logger) }, func(err error) {
		logger.Error(err, "Admission manifests cannot be watched; they are read periodically", "interval", interval)
	})
}

func (s *Files[T]) reload(logger klog.Logger) {
	documents, hash, err := manifest.LoadFiles(s.Dir)
	if err == nil && hash == s.hash {
		return
	}
	if err == nil {
		err = s.use(documents, hash)
	}
	if err != nil {
		metrics.RecordAutomaticReloadFailure(s.Plugin, s.ServerID)
		logger.Error(err, "Admission manifests are invalid; the manifests loaded before stay in effect")
		return
	}
	logger.Info("Loaded changed admission manifests", "hash", hash)
}

func (s *Files[T]) use(documents []manifest.FileDoc, hash string) error {
	current, err := s.read(documents)
	if err != nil {
		return err
	}
	s.current.Store(current)
	s.hash = hash
	metrics.RecordAutomaticReloadSuccess(s.Plugin, s.ServerID, hash)
	return nil
}
