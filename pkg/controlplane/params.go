// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"net/http"
	"slices"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

// installedPaths tells admission plugins that the server serves all of its paths, so that they can
// read params from it.
type installedPaths struct {
	// done is closed when all paths are installed.
	done chan struct{}
	// since is the time at which done was closed.
	since time.Time
}

// announce adds a post-start hook to front, the last server of a complete chain. The hook waits
// until all servers of the chain have installed their paths, and then closes p.done.
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
// until all paths are installed, and then waits for the params of policies with
// policyinit.AwaitParams.
func checkParams(front *genericapiserver.Config, paths *installedPaths, synced func() error) {
	check := policyinit.AwaitParams(synced, func() (time.Time, error) {
		select {
		case <-paths.done:
			return paths.since, nil
		default:
			return time.Time{}, errors.New("the paths of the server are not installed yet")
		}
	})
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // the servers of the chain share its array
	front.AddReadyzChecks(healthz.NamedCheck("policy-param-sync", func(*http.Request) error { return check() }))
}
