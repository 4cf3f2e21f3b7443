// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// drainTimeout bounds the time for the answers that are under way when the server closes.
const drainTimeout = 30 * time.Second

// servers answer reviews, and questions for health and metrics.
type servers struct {
	reviews, health *http.Server
	delay           time.Duration
	// draining is set when the process has been told to end.
	draining atomic.Bool
}

func newServers(o *Options, reviews http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), ready ...healthz.HealthChecker) *servers {
	s := &servers{delay: o.ShutdownDelay}
	s.reviews = &http.Server{
		Addr:              net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort)),
		Handler:           reviews,
		TLSConfig:         &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 30 * time.Second,
	}
	mux := http.NewServeMux()
	healthz.InstallLivezHandler(mux)
	healthz.InstallReadyzHandler(mux, append(ready, healthz.NamedCheck("shutdown", func(*http.Request) error {
		if s.draining.Load() {
			return errors.New("the process is ending")
		}
		return nil
	}))...)
	mux.Handle("/metrics", legacyregistry.Handler())
	s.health = &http.Server{Addr: o.HealthBindAddress, Handler: mux, ReadHeaderTimeout: 30 * time.Second}
	return s
}

// run serves until ctx ends. Then readiness checks fail, and after a delay, in which API servers
// learn not to send more, it waits for the answers that are under way. It returns an error if a
// server does not start.
func (s *servers) run(ctx context.Context) error {
	failed := make(chan error, 2)
	serve := func(what string, listenAndServe func() error) {
		if err := listenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving %s: %w", what, err)
		}
	}
	go serve("health checks", s.health.ListenAndServe)
	go serve("admission reviews", func() error { return s.reviews.ListenAndServeTLS("", "") })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	klog.FromContext(ctx).Info("Ending: not ready any more", "delay", s.delay)
	time.Sleep(s.delay)
	drained, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	return errors.Join(s.reviews.Shutdown(drained), s.health.Shutdown(drained))
}
