// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// A valve forwards connections to a socket. While it is closed, it holds back what they send, like
// a member of etcd that is paused. While it is cut, it has no connections, like a member that is
// killed.
type valve struct {
	address, socket string
	// closing is locked while the valve is closed.
	closing sync.RWMutex

	lock sync.Mutex
	// open are the listener and the connections, and nil while the valve is cut.
	open map[interface{ Close() error }]bool
}

// newValve returns an open valve for the socket of a URL, and the URL of the valve. It forwards
// until the end of the test.
func newValve(t *testing.T, to string) (*valve, string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	v := &valve{address: "127.0.0.1:0", socket: target.Path}
	v.join(t)
	t.Cleanup(v.cut)
	return v, "http://" + v.address
}

// join begins to accept connections.
func (v *valve) join(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	v.address, v.open = listener.Addr().String(), map[interface{ Close() error }]bool{listener: true}
	go v.accept(listener)
}

// cut closes all connections, and accepts none until join is called.
func (v *valve) cut() {
	v.lock.Lock()
	defer v.lock.Unlock()
	for c := range v.open {
		c.Close()
	}
	v.open = nil
}

// keep has cut close the connections, or closes them at once if the valve is cut.
func (v *valve) keep(connections ...net.Conn) {
	v.lock.Lock()
	defer v.lock.Unlock()
	for _, c := range connections {
		if v.open == nil {
			c.Close()
		} else {
			v.open[c] = true
		}
	}
}

func (v *valve) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", v.socket)
		if err != nil {
			client.Close()
			return
		}
		v.keep(client, server)
		go v.forward(client, server)
		go v.forward(server, client)
	}
}

// pass waits while the valve is closed.
func (v *valve) pass() {
	v.closing.RLock()
	defer v.closing.RUnlock()
}

func (v *valve) forward(from, to net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		v.pass()
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
