// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localclient

import (
	"context"
	"fmt"
	"strconv"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage/cacher"
)

// Fresh returns nil if the watches of a resource have delivered everything that etcd stored before the call, apart from the time that it takes
// to pass an event from the watch cache to a watch. It returns an error if the watch cache has not caught up with etcd before ctx ends or
// within 3 seconds, if nobody watches the resource, if a watch ended meanwhile, or if the resource has no watch cache. It returns nil for a resource
// that the server does not serve.
//
// Fresh asks etcd, by a quorum read, for its current revision, and then the watch cache for a list that is not older. The watch cache
// requests progress notifications for its own watch of etcd until it has this revision, so a member of etcd that answers reads
// does not hide that the watch of another member is stuck.
func (s *Stores) Fresh(ctx context.Context, resource string) error {
	found, served := s.byResource.Load(resource)
	if !served {
		return nil
	}
	store := found.(*registry.Store)
	if _, cached := store.Storage.Storage.(*cacher.CacheDelegator); !cached {
		return fmt.Errorf("%s has no watch cache", resource)
	}
	before, watched := s.watched.Load(resource)
	if !watched {
		return fmt.Errorf("%s is not watched", resource)
	}
	revision, err := store.Storage.Storage.GetCurrentResourceVersion(ctx)
	if err != nil {
		return fmt.Errorf("reading the current revision of etcd: %w", err)
	}
	// A selector keeps the list empty, and keeps an unready watch cache from leaving the list to etcd.
	_, err = store.List(ctx, &metainternalversion.ListOptions{
		LabelSelector:        labels.Nothing(),
		ResourceVersion:      strconv.FormatUint(revision, 10),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return fmt.Errorf("waiting for revision %d in the watch cache of %s: %w", revision, resource, err)
	}
	if now, _ := s.watched.Load(resource); now != before {
		return fmt.Errorf("the watch of %s ended at %v", resource, time.Now())
	}
	return nil
}

// opened records that a watch of the resource is open until the caller calls closed.
func (s *Stores) opened(resource string) (closed func()) {
	watch := new(byte)
	s.watched.Store(resource, watch)
	return func() { s.watched.CompareAndDelete(resource, watch) }
}
