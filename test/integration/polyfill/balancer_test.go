// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// balancer stands for the Service of a cluster: it passes each new connection on to the next replica
// that is ready. Connections stay when their replica is no longer ready.
type balancer struct {
	port     int
	listener net.Listener

	lock sync.Mutex
	// targets are the addresses of ready replicas.
	targets []string
	next    int
}

func startBalancer(t *testing.T) *balancer {
	t.Helper()
	listener := testserver.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	b := &balancer{port: listener.Addr().(*net.TCPAddr).Port, listener: listener}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // the test ended
			}
			go b.pass(connection)
		}
	}()
	return b
}

// set adds or removes the replica at a port.
func (b *balancer) set(port int, ready bool) {
	b.lock.Lock()
	defer b.lock.Unlock()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var targets []string
	for _, target := range b.targets {
		if target != address {
			targets = append(targets, target)
		}
	}
	if ready {
		targets = append(targets, address)
	}
	b.targets = targets
}

// has reports whether the replica at a port gets connections.
func (b *balancer) has(port int) bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	return slices.Contains(b.targets, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// target returns the address for the next connection, or "" if no replica is ready.
func (b *balancer) target() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.targets) == 0 {
		return ""
	}
	b.next++
	return b.targets[b.next%len(b.targets)]
}

// pass copies both directions of a connection until either ends.
func (b *balancer) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", b.target())
	if err != nil {
		return // as a Service without endpoints, or with an endpoint that has just died
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	forward := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // ends with the connection
		ended <- struct{}{}
	}
	go forward(server, client)
	go forward(client, server)
	<-ended
}
