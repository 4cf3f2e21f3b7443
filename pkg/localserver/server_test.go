// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// supervised calls supervise with parts that do not run, ends one of them, and returns the error of
// the server.
func supervised(t *testing.T, end func(etcd *etcdServer, apiEnded chan<- error)) error {
	t.Helper()
	s := &Server{stop: make(chan struct{}), done: make(chan struct{})}
	cleaned := 0
	s.addCleanup(func() error { cleaned++; return nil })
	ctx, stopAPI := context.WithCancel(t.Context())
	etcd, apiEnded := &etcdServer{failed: make(chan error, 1)}, make(chan error, 1)
	go s.supervise(etcd, apiEnded, stopAPI)

	end(etcd, apiEnded)
	<-ctx.Done() // either end stops the kube-apiserver
	apiEnded <- nil
	err := s.Wait()
	if cleaned != 1 {
		t.Errorf("cleaned up %d times", cleaned)
	}
	return err
}

func TestServerEndsWithItsEtcd(t *testing.T) {
	err := supervised(t, func(etcd *etcdServer, _ chan<- error) { etcd.fail(errors.New("no space left on device")) })
	if want := "etcd cannot go on: no space left on device"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestCleanupIsInReverse(t *testing.T) {
	var order []string
	s := &Server{}
	for _, name := range []string{"a", "b", "c"} {
		s.addCleanup(func() error { order = append(order, name); return errors.New(name) })
	}
	err := s.cleanup()
	if got := strings.Join(order, ""); got != "cba" {
		t.Errorf("cleaned up in the order %s", got)
	}
	if err == nil || err.Error() != "c\nb\na" {
		t.Errorf("got error %v, want all of them", err)
	}
}
