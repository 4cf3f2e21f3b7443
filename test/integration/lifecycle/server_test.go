// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/serverprocess"
	"celador.io/celador/test/integration/testserver"
)

// server is a running kube-apiserver.
type server struct {
	*serverprocess.Server
	client rest.Interface
	etcd   *clientv3.Client
}

// start starts a command with additional flags. It does not wait until the server is ready.
func start(t testing.TB, command string, flags ...string) *server {
	t.Helper()
	s := &server{Server: serverprocess.LaunchAPIServer(t, command, flags...)}
	s.Admin.WarningHandler = rest.NoWarnings{}
	s.client = testserver.Must(discovery.NewDiscoveryClientForConfig(s.Admin))(t).RESTClient()
	s.etcd = testserver.Must(clientv3.New(clientv3.Config{Endpoints: []string{serverprocess.EtcdURL()}}))(t)
	t.Cleanup(func() { s.etcd.Close() })
	return s
}

// stored returns the value that the server's first write stored under key, and the number of
// writes.
func (s *server) stored(t *testing.T, key string) (first []byte, writes int64) {
	t.Helper()
	now, err := s.etcd.Get(t.Context(), s.Prefix+key)
	if err != nil || len(now.Kvs) != 1 {
		t.Fatalf("%s: got %d values and error %v, want one value", key, len(now.Kvs), err)
	}
	then, err := s.etcd.Get(t.Context(), s.Prefix+key, clientv3.WithRev(now.Kvs[0].CreateRevision))
	if err != nil {
		t.Fatal(err)
	}
	return then.Kvs[0].Value, now.Kvs[0].Version
}
