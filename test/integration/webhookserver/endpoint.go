// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhookserver runs HTTPS endpoints of webhooks with their own certificates, and records
// the calls that arrive.
package webhookserver

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Endpoint is an HTTPS server on its own port.
type Endpoint struct {
	// URL is the base URL, without a path.
	URL string
	// CABundle is the PEM certificate that verifies the server.
	CABundle []byte

	connections atomic.Int64
}

// Serve runs an endpoint with the handler until the end of the test.
func Serve(t testing.TB, handler http.Handler) *Endpoint {
	e := &Endpoint{}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			e.connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	e.URL = server.URL
	e.CABundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return e
}

// Connections returns the number of opened connections, including those without a request. It is
// safe for concurrent use.
func (e *Endpoint) Connections() int { return int(e.connections.Load()) }
