// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"

	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
)

const (
	// countDelay is how long counting waits after the start. By then, the first requests have
	// filled the watch cache and converted objects, which counting can reuse.
	countDelay = 10 * time.Second
	// reportDelay is the time from a change of the counts until their report.
	reportDelay = time.Second
)

// unreadableCounter counts the objects of a resource that do not convert. It watches the shared
// storage. Objects convert when they are stored, but an update of the rules may break any number of
// them.
type unreadableCounter struct {
	resource *ServedResource
	// crd is the CustomResourceDefinition that the resource was built for.
	crd       *apiextensionsv1.CustomResourceDefinition
	converter *rulesConverter
	report    func(crd *apiextensionsv1.CustomResourceDefinition, unreadable map[string]int)
	// broken holds, for each object that does not convert to all versions, those to which it does
	// not.
	broken map[types.UID][]string
}

// run counts until ctx ends.
func (c *unreadableCounter) run(ctx context.Context) {
	select {
	case <-time.After(countDelay):
	case <-ctx.Done():
		return
	}
	// The watch cache ends a watch that is too slow for the writes. The next watch counts all
	// objects again.
	wait.UntilWithContext(ctx, c.watch, time.Second)
}

func (c *unreadableCounter) watch(ctx context.Context) {
	c.broken = map[types.UID][]string{}
	predicate := c.resource.asStored.PredicateFunc(labels.Everything(), fields.Everything())
	predicate.AllowWatchBookmarks = true
	w, err := c.resource.asStored.Storage.Watch(ctx, c.resource.asStored.KeyRootFunc(ctx), storage.ListOptions{
		Recursive: true, Predicate: predicate, SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return
	}
	defer w.Stop()
	synced := false
	var timer <-chan time.Time
	for {
		select {
		case event, ok := <-w.ResultChan():
			switch {
			case !ok || event.Type == watch.Error:
				return
			case event.Type == watch.Bookmark:
				if !synced {
					synced, timer = true, nil
					c.report(c.crd, c.counts())
				}
			case c.count(event) && timer == nil:
				timer = time.After(reportDelay)
			}
		case <-timer:
			timer = nil
			if synced {
				c.report(c.crd, c.counts())
			}
		}
	}
}

// count notes to which versions the object of an event does not convert, and reports whether that
// has changed.
func (c *unreadableCounter) count(event watch.Event) bool {
	object, err := meta.Accessor(event.Object)
	if err != nil {
		return false
	}
	before := c.broken[object.GetUID()]
	if event.Type == watch.Deleted {
		delete(c.broken, object.GetUID())
		return before != nil
	}
	u, ok := versionedstorage.CustomResource(event.Object)
	if !ok {
		return false
	}
	var versions []string
	for version := range c.resource.versions {
		if !c.converts(u, version) {
			versions = append(versions, version)
		}
	}
	if versions == nil {
		delete(c.broken, object.GetUID())
		return before != nil
	}
	slices.Sort(versions)
	c.broken[object.GetUID()] = versions
	return !slices.Equal(versions, before)
}

// converts reports whether an object converts to a version. The metrics of conversions do not count
// the attempt.
func (c *unreadableCounter) converts(u *unstructured.Unstructured, version string) bool {
	if u.GroupVersionKind().Version == version {
		return true
	}
	_, err := c.converter.coerced(c.converter.uncoerced.Convert(context.Background(), u.DeepCopy(), version))
	return err == nil
}

func (c *unreadableCounter) counts() map[string]int {
	counts := map[string]int{}
	for _, versions := range c.broken {
		for _, version := range versions {
			counts[version]++
		}
	}
	return counts
}
