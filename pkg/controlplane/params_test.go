// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

func TestReadyOnceParamsSynced(t *testing.T) {
	unknown := errors.New("not listed yet")
	for name, tc := range map[string]struct {
		// synced is how long after the installation of the paths params are known.
		synced, ready time.Duration
	}{
		"at once":   {0, 0},
		"in time":   {5 * time.Second, 5 * time.Second},
		"too late":  {policyinit.MaxParamSync + time.Hour, policyinit.MaxParamSync},
		"no bounds": {policyinit.MaxParamSync, policyinit.MaxParamSync},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				front := genericapiserver.NewConfig(legacyscheme.Codecs)
				front.ReadyzChecks = slices.Grow(front.ReadyzChecks, 8)
				server := *front
				paths := &installedPaths{done: make(chan struct{})}
				var failing atomic.Bool
				checkParams(front, paths, func() error {
					if failing.Load() {
						return unknown
					}
					return nil
				})
				server.AddReadyzChecks(healthz.NamedCheck("other", nil)) // must not overwrite the check of the params
				i := slices.IndexFunc(front.ReadyzChecks, func(c healthz.HealthChecker) bool { return c.Name() == "policy-param-sync" })
				if i < 0 {
					t.Fatal("/readyz does not check the params")
				}
				check := func() error { return front.ReadyzChecks[i].Check(nil) }

				<-time.After(time.Hour)
				if check() == nil {
					t.Error("ready before the paths are installed")
				}
				paths.since = time.Now()
				close(paths.done)
				failing.Store(true)
				time.AfterFunc(tc.synced, func() { failing.Store(false) })
				if tc.ready > 0 {
					<-time.After(tc.ready - 1)
					synctest.Wait()
					if got := check(); !errors.Is(got, unknown) {
						t.Errorf("got %v before the params are known, want %v", got, unknown)
					}
					<-time.After(1)
				}
				synctest.Wait()
				if got := check(); got != nil {
					t.Errorf("got %v after %v", got, tc.ready)
				}
				failing.Store(true)
				if got := check(); got != nil {
					t.Errorf("got %v after the server was ready", got)
				}
			})
		})
	}
}
