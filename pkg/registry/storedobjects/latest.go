// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
)

var _ lookupsource.RevisionedStorage = listerWatcher{}

// observe returns an AttrFunc that also records the resource version of the last change in
// s.lastChange, for LastChange. A watch cache calls getAttrs with the object of each list item and
// event, one after another, before it stores the object. The object of a deletion has the version
// of the deletion.
func (s *stored) observe(getAttrs storage.AttrFunc) storage.AttrFunc {
	return func(object runtime.Object) (labels.Set, fields.Set, error) {
		if version, err := versioner.ObjectResourceVersion(object); err == nil && version > s.lastChange.Load() {
			s.lastChange.Store(version)
		}
		return getAttrs(object)
	}
}

var versioner = storage.APIObjectVersioner{}

// Cluster implements lookupsource.RevisionedStorage.
func (l listerWatcher) Cluster() string { return l.cluster }

// Revision implements lookupsource.RevisionedStorage, by a quorum read of etcd.
func (l listerWatcher) Revision(ctx context.Context) (uint64, error) {
	return l.storage.GetCurrentResourceVersion(ctx)
}

// noObject is the last part of a key that no object has, because it is no valid name.
const noObject = "/-"

// LastChange implements lookupsource.RevisionedStorage. It waits for the revision by a list at a
// key that no object has: the watch cache answers a list at a revision when it has that revision,
// and meanwhile requests progress notifications from etcd. The list has a selector, because a watch
// cache that is not ready does not pass a list with a selector on to etcd.
func (l listerWatcher) LastChange(ctx context.Context, revision uint64) (uint64, error) {
	err := l.storage.GetList(ctx, l.prefix+noObject, storage.ListOptions{
		ResourceVersion: strconv.FormatUint(revision, 10), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		Predicate: storage.SelectionPredicate{Label: labels.Nothing(), Field: fields.Everything()},
	}, l.newListFunc())
	return l.lastChange.Load(), err
}

// Continues implements lookupsource.RevisionedStorage. It opens a watch at the version and closes
// it at once: the watch cache refuses a watch that begins before its first list or its oldest
// event.
func (l listerWatcher) Continues(ctx context.Context, version uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched, err := l.storage.Watch(ctx, l.prefix+noObject, storage.ListOptions{ResourceVersion: strconv.FormatUint(version, 10), Predicate: storage.Everything})
	if err != nil {
		return err
	}
	defer watched.Stop()
	select {
	case event, open := <-watched.ResultChan(): // the refusal; there are no other events of the key
		if open {
			return apierrors.FromObject(event.Object)
		}
		return errors.New("the watch cache lists the objects")
	default:
		return nil
	}
}
