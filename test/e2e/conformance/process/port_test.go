// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"net"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Only those who share a reserved port can open it, and they get the connections.
func TestReservePort(t *testing.T) {
	port, release, err := ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if listener, err := net.Listen("tcp", address); err == nil {
		listener.Close()
		t.Error("somebody else opens the port")
	}
	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		controlErr := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		if controlErr != nil {
			return controlErr
		}
		return err
	}}
	for range 2 { // again after a restart
		listener, err := sharing.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			client, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			client.Close()
			accepted, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			accepted.Close()
		}
		listener.Close()
	}
}
