// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhookserver serves webhooks to a control plane under test: over HTTPS, with a
// certificate of its own, and with a record of what arrives.
package webhookserver

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// Endpoint is an HTTPS server on a port of its own.
type Endpoint struct {
	// URL is where it is, without a path.
	URL string
	// CABundle is what its certificate is to be verified with, in PEM.
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

// Connections returns how many connections were opened so far, whether a request came over
// them or not. Safe for concurrent use.
func (e *Endpoint) Connections() int { return int(e.connections.Load()) }
