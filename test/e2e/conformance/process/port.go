// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// SharePort is the flag of kube-apiserver without which it cannot open a port of ReservePort.
const SharePort = "--permit-port-sharing"

// FreePort returns a TCP port of 127.0.0.1 at which nobody listens now. It is for programs that
// cannot share a port of ReservePort. Another program may take the port first.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// ReservePort returns a TCP port of 127.0.0.1 that nobody else gets before the caller calls
// release. A server with the flag SharePort can open it, also again after it has stopped: the port
// is bound, but nobody listens on it.
func ReservePort() (port int, release func(), err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserving a port: %w", err)
	}
	release = func() { unix.Close(socket) }
	bound, err := bind(socket)
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("reserving a port: %w", err)
	}
	return bound, release, nil
}

func bind(socket int) (port int, err error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	return address.(*unix.SockaddrInet4).Port, nil
}
