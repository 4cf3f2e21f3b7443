// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/klog/v2"
)

// maxParamSync is the longest time that a server waits for the params of policies before it is
// ready without them. Serving their kind may need a server that is ready, such as an aggregated
// server or a conversion webhook that runs in a pod.
const maxParamSync = 20 * time.Second

// installedPaths tells admission plugins that the server serves all of its paths.
type installedPaths struct {
	// done is closed when all paths are installed.
	done chan struct{}
	// since is the time at which done was closed.
	since time.Time
}

// announce adds a post-start hook to front, the last server of a complete chain, that closes
// p.done.
func (p *installedPaths) announce(front *genericapiserver.GenericAPIServer) error {
	return front.AddPostStartHook("start-policy-params", func(hook genericapiserver.PostStartHookContext) error {
		for _, installed := range front.MuxAndDiscoveryCompleteSignals() {
			select {
			case <-installed:
			case <-hook.Done():
				return nil // an error would end the process, not only the server
			}
		}
		p.since = time.Now()
		close(p.done)
		return nil
	})
}

// checkParams adds a readiness check to front, the server that answers /readyz. The check fails
// until synced returns nil, but no longer than maxParamSync after all paths are installed. Once it
// has passed, it does not fail again.
func checkParams(front *genericapiserver.Config, paths *installedPaths, synced func() error) {
	var passed atomic.Bool
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // the servers of the chain share its array
	front.AddReadyzChecks(healthz.NamedCheck("policy-param-sync", func(*http.Request) error {
		if passed.Load() {
			return nil
		}
		select {
		case <-paths.done:
		default:
			return errors.New("the paths of the server are not installed yet")
		}
		err := synced()
		if err != nil && time.Since(paths.since) < maxParamSync {
			return fmt.Errorf("waiting up to %v for the params of policies: %w", maxParamSync, err)
		}
		if !passed.Swap(true) && err != nil {
			klog.ErrorS(err, "Ready without the params of policies: requests that need them fail according to failurePolicy")
		}
		return nil
	}))
}
