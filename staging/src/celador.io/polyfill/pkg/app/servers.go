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

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

const (
	// idleTimeout is longer than API servers keep a connection that they do not use, 90 seconds.
	idleTimeout = 100 * time.Second
	// answersTimeout bounds the time for the answers that are under way when the server closes.
	answersTimeout = 10 * time.Second
)

// servers answer reviews, and questions for health and metrics.
type servers struct {
	reviews, health *http.Server
	delay           time.Duration
	// draining is set when the process has been told to end.
	draining atomic.Bool
	// connections counts the open connections of reviews.
	connections atomic.Int64
}

func newServers(o *Options, reviews http.Handler, config *tls.Config, ready ...healthz.HealthChecker) *servers {
	s := &servers{delay: o.ShutdownDelay}
	s.reviews = &http.Server{
		Addr:        net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort)),
		Handler:     s.closing(reviews),
		TLSConfig:   config,
		ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * idleTimeout,
		ConnState:   s.count,
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

// count is a hook for the state of connections.
func (s *servers) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.connections.Add(-1)
	}
}

// closing returns a handler that lets clients close their connections while the process ends.
func (s *servers) closing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// run serves until ctx ends. Then readiness checks fail. After a delay, in which API servers learn
// to call other replicas, run waits until API servers have closed their connections, but at most
// for idleTimeout. It does not close them itself: a request that is on its way on an idle
// connection could be lost, and API servers do not repeat it. run returns an error if a server does
// not start.
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
	ctx = context.WithoutCancel(ctx)
	// After the timeout, the connections are of clients that do not answer.
	_ = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, idleTimeout, true, func(context.Context) (bool, error) {
		return s.connections.Load() == 0, nil
	})
	answers, cancel := context.WithTimeout(ctx, answersTimeout)
	defer cancel()
	return errors.Join(s.reviews.Shutdown(answers), s.health.Shutdown(answers))
}
