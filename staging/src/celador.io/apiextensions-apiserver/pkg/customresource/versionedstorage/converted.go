// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxConvertedBytes limits the memory of the converted objects of all resources together.
	// Without room, an object is converted for each read.
	maxConvertedBytes = 512 << 20
	// unusedPeriod is how long a converted object stays in memory without being read, at least. It
	// is removed after twice that time at the latest.
	unusedPeriod = 5 * time.Minute
	// keptBytes estimates the memory that a converted object takes in the map of convertedObjects,
	// besides the object: an entry, and its share of the entries that are still free.
	keptBytes = 128
)

// convertedBytes is the memory of all converted objects.
var convertedBytes atomic.Int64

// convertedObjects keeps the objects that a VersionStorage has converted, until nobody has read
// them for unusedPeriod, so that lists cost no more than lists of the stored version. It needs no
// notice of changes and deletions: an object is found only by its UID and resourceVersion, and what
// is not read expires.
type convertedObjects struct {
	mu sync.RWMutex
	// recent holds the objects that have been read in this period, and older those of the last one.
	recent, older map[types.UID]convertedObject
	bytes         int64
	expiry        *time.Timer
	closed        bool
}

type convertedObject struct {
	resourceVersion string
	object          *unstructured.Unstructured
	bytes           int64
}

// get returns the object, which must not be changed, or nil if there is none.
func (c *convertedObjects) get(uid types.UID, resourceVersion string) *unstructured.Unstructured {
	c.mu.RLock()
	found, ok := c.recent[uid]
	older, okOlder := c.older[uid]
	c.mu.RUnlock()
	if ok && found.resourceVersion == resourceVersion {
		return found.object
	}
	if okOlder && older.resourceVersion == resourceVersion {
		c.add(uid, older)
		return older.object
	}
	return nil
}

// put adds a converted object if there is room. bytes is its memory.
func (c *convertedObjects) put(uid types.UID, resourceVersion string, object *unstructured.Unstructured, bytes int) {
	if uid == "" || resourceVersion == "" {
		return
	}
	c.add(uid, convertedObject{resourceVersion, object, int64(bytes) + keptBytes})
}

func (c *convertedObjects) add(uid types.UID, object convertedObject) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	freed := c.recent[uid].bytes + c.older[uid].bytes
	if added := object.bytes - freed; added > 0 && convertedBytes.Load()+added > maxConvertedBytes {
		return
	}
	delete(c.older, uid)
	if c.recent == nil {
		c.recent = map[types.UID]convertedObject{}
	}
	c.recent[uid] = object
	c.grow(object.bytes - freed)
	if c.expiry == nil {
		c.expiry = time.AfterFunc(unusedPeriod, c.expire)
	}
}

func (c *convertedObjects) grow(bytes int64) {
	c.bytes += bytes
	convertedBytes.Add(bytes)
}

// expire removes the objects that nobody has read in this period and the last one.
func (c *convertedObjects) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, object := range c.older {
		c.grow(-object.bytes)
	}
	c.recent, c.older = nil, c.recent
	c.expiry = nil
	if len(c.older) > 0 && !c.closed {
		c.expiry = time.AfterFunc(unusedPeriod, c.expire)
	}
}

// close removes all objects. None are added afterwards.
func (c *convertedObjects) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.grow(-c.bytes)
	c.recent, c.older, c.closed = nil, nil, true
}
