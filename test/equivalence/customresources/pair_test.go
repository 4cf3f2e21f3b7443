// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"celador.io/celador/test/etcd"
)

// A pair is two backends that must be equal: Kubernetes' and Celador's.
type pair struct {
	store *clientv3.Client
	sides [2]backend
}

// A backend answers requests like one server.
type backend struct {
	name   string
	prefix string
	// servers answer requests in turn.
	servers []*server
}

// startEtcd runs an etcd until the end of the test.
func startEtcd(t *testing.T) (*etcd.Server, *clientv3.Client) {
	t.Helper()
	dir := t.TempDir()
	store, err := etcd.Start(t.Context(), dir, dir+"/etcd.log")
	must(t, err)
	t.Cleanup(store.Stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{store.URL()}})
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return store, client
}

// apart returns Kubernetes' and Celador's server, each with its own prefix of one etcd.
func apart(t *testing.T) *pair {
	t.Helper()
	store, client := startEtcd(t)
	p := &pair{store: client}
	for i, of := range []side{upstreamSide, celadorSide} {
		prefix := "/" + of.name
		p.sides[i] = backend{of.name, prefix, []*server{start(t, of, store.URL(), prefix)}}
	}
	return p
}

// together returns two backends over the same two servers on one prefix, which answer in
// turn: one starts with Kubernetes' server and the other with Celador's.
func together(t *testing.T) *pair {
	t.Helper()
	store, client := startEtcd(t)
	theirs := start(t, upstreamSide, store.URL(), "/shared")
	ours := start(t, celadorSide, store.URL(), "/shared")
	return &pair{client, [2]backend{{"upstream first", "/shared", []*server{theirs, ours}}, {"celador first", "/shared", []*server{ours, theirs}}}}
}
