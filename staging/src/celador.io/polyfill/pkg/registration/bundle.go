// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// bundles remembers the CA bundles by which API servers verify the webhooks of a release, and since
// when this process has known them. Safe for concurrent use.
type bundles struct {
	release release

	lock sync.Mutex
	// known holds the bundle of each kind of configurations that has webhooks of the release.
	known map[string]registeredBundle
}

type registeredBundle struct {
	bundle []byte // nil if webhooks have different ones
	since  time.Time
}

// follow returns an event handler for the configurations of a kind.
func (b *bundles) follow(kind string) cache.ResourceEventHandler {
	set := func(object any) {
		var own [][]byte
		if o, ok := object.(metav1.Object); ok {
			for _, webhook := range clientConfigs(o) {
				if b.release.isCalledBy(webhook) {
					own = append(own, webhook.CABundle)
				}
			}
		}
		b.lock.Lock()
		defer b.lock.Unlock()
		if len(own) == 0 {
			delete(b.known, kind)
			return
		}
		common := own[0]
		for _, other := range own {
			if !bytes.Equal(common, other) {
				common = nil
			}
		}
		if known, ok := b.known[kind]; !ok || !bytes.Equal(known.bundle, common) {
			b.known[kind] = registeredBundle{common, time.Now()}
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: set, UpdateFunc: func(_, o any) { set(o) }, DeleteFunc: func(any) { set(nil) }}
}

// since returns when the last of the configurations got the bundle, as far as this process knows.
// The time is zero if no webhook calls the release. If a webhook has another bundle, since returns
// an error.
func (b *bundles) since(bundle []byte) (since time.Time, err error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for kind, known := range b.known {
		if !bytes.Equal(known.bundle, bundle) {
			return time.Time{}, fmt.Errorf("%s %q has a webhook with another CA bundle", kind, Name)
		}
		if known.since.After(since) {
			since = known.since
		}
	}
	return since, nil
}
