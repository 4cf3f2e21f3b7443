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

// Options say where the manifests of a plugin are and under which labels their loads
// are counted.
type Options struct {
	// Dir is the directory of the files; those below it are left alone.
	Dir string
	// Plugin is the name of the admission plugin.
	Plugin metrics.ManifestType
	// ServerID is that of the server, of which the metrics have a hash.
	ServerID string
}

// Source has what the files of a directory say, in the form T. Current is safe for
// concurrent use and never waits.
type Source[T any] struct {
	Options
	read    func([]manifest.FileDoc) (*T, error)
	current atomic.Pointer[T]
	// hash is that of the files behind current. Only one goroutine at a time loads.
	hash string
}

// NewSource reads the directory for the first time, with a function that makes a T of
// documents. It fails when the files cannot be read or when that function fails.
func NewSource[T any](options Options, read func([]manifest.FileDoc) (*T, error)) (*Source[T], error) {
	metrics.RegisterMetrics()
	s := &Source[T]{Options: options, read: read}
	documents, hash, err := manifest.LoadFiles(s.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.use(documents, hash); err != nil {
		return nil, err
	}
	return s, nil
}

// Current returns what the files said when they were last in order. The result is
// shared and must not be changed.
func (s *Source[T]) Current() *T { return s.current.Load() }

// Follow reads the files again when they change, until ctx ends. Changes that the file
// system does not report are found at the interval, which must be positive. While a
// file is wrong, Current stays as it is.
func (s *Source[T]) Follow(ctx context.Context, interval time.Duration) {
	logger := klog.FromContext(ctx).WithValues("plugin", s.Plugin, "dir", s.Dir)
	filesystem.WatchUntil(ctx, interval, s.Dir, func() { s.reload(logger) }, func(err error) {
		logger.Error(err, "Admission manifests cannot be watched, they are read periodically", "interval", interval)
	})
}

func (s *Source[T]) reload(logger klog.Logger) {
	documents, hash, err := manifest.LoadFiles(s.Dir)
	if err == nil && hash == s.hash {
		return
	}
	if err == nil {
		err = s.use(documents, hash)
	}
	if err != nil {
		metrics.RecordAutomaticReloadFailure(s.Plugin, s.ServerID)
		logger.Error(err, "Admission manifests are wrong, those loaded before stay in effect")
		return
	}
	logger.Info("Loaded changed admission manifests", "hash", hash)
}

func (s *Source[T]) use(documents []manifest.FileDoc, hash string) error {
	current, err := s.read(documents)
	if err != nil {
		return err
	}
	s.current.Store(current)
	s.hash = hash
	metrics.RecordAutomaticReloadSuccess(s.Plugin, s.ServerID, hash)
	return nil
}
