// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import "net"

// FreePort returns a free TCP port of 127.0.0.1. Another process may open it before the caller does.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
