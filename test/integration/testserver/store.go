// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Store returns a client of a server's etcd. dir is the directory in which the server keeps its
// data. The client is closed at the end of the test.
func Store(t testing.TB, dir string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + filepath.Join(dir, "etcd", "client.sock")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}
