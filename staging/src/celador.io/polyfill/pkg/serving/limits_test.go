// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/component-base/metrics/legacyregistry"

	"celador.io/admission/review"
	"celador.io/polyfill/pkg/serving"
)

// rejections returns how many requests were rejected for a reason.
func rejections(t *testing.T, reason string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "celador_webhook_rejected_requests_total" && m.GetLabel()[0].GetValue() == reason {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestMaxInFlight(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	slow := func(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse {
		select {
		case begun <- struct{}{}:
			<-end
		case <-ctx.Done(): // nobody waits for it
		}
		return request.Response(nil)
	}
	waiting := make(chan struct{})
	prepare := func(ctx context.Context, path string) (context.Context, error) {
		if path == "/unknown" {
			waiting <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return ctx, nil
	}
	client := &http.Client{Timeout: 10 * time.Second}
	for name, test := range map[string]struct {
		limits   *serving.InFlightLimits
		size     int // of each review
		requests int
		rejects  string // the reason why one more is rejected, or none
	}{
		"one":                 {&serving.InFlightLimits{Requests: 1}, 0, 1, "too_many_in_flight"},
		"three":               {&serving.InFlightLimits{Requests: 3, Bytes: 8 << 20}, 0, 3, "too_many_in_flight"},
		"one of many bytes":   {&serving.InFlightLimits{Requests: 3, Bytes: 8 << 20}, 5 << 20, 1, "too_many_bytes_in_flight"},
		"three of many bytes": {&serving.InFlightLimits{Bytes: 8 << 20}, 2 << 20, 3, "too_many_bytes_in_flight"},
		"no limit":            {&serving.InFlightLimits{}, 1 << 20, 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(serving.NewHandler("validate", test.limits, prepare, slow))
			defer server.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			// Requests that wait for the configuration of their path take no slot.
			for range 5 {
				go func() {
					request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/unknown", strings.NewReader(""))
					if err != nil {
						t.Error(err)
						return
					}
					if response, err := client.Do(request); err == nil {
						response.Body.Close()
					}
				}()
				<-waiting
			}
			before := rejections(t, test.rejects)
			answers := make(chan int, test.requests+1)
			request := func() *http.Response {
				response, err := client.Post(server.URL, "application/json", strings.NewReader(create+strings.Repeat(" ", test.size)))
				if err != nil {
					t.Error(err)
					answers <- 0
					return &http.Response{}
				}
				response.Body.Close()
				answers <- response.StatusCode
				return response
			}
			for range test.requests {
				go request()
				<-begun
			}
			if test.rejects != "" {
				if got := request(); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "1" {
					t.Errorf("one more request got status %d and Retry-After %q", got.StatusCode, got.Header.Get("Retry-After"))
				}
				<-answers
				if got := rejections(t, test.rejects) - before; got != 1 {
					t.Errorf("%v rejections are counted", got)
				}
			}
			for range test.requests {
				end <- struct{}{}
				if code := <-answers; code != http.StatusOK {
					t.Errorf("got status %d", code)
				}
			}
			// There is room again.
			go request()
			<-begun
			end <- struct{}{}
			if code := <-answers; code != http.StatusOK {
				t.Errorf("got status %d afterwards", code)
			}
		})
	}
}

// A request without a length takes no room: it is answered without reading its body.
func TestNoLength(t *testing.T) {
	before := rejections(t, "no_length")
	allow := func(_ context.Context, request *review.Request) *admissionv1.AdmissionResponse {
		return request.Response(nil)
	}
	for name, test := range map[string]struct {
		limits *serving.InFlightLimits
		code   int
	}{
		"limit":    {&serving.InFlightLimits{Bytes: 8 << 20}, http.StatusLengthRequired},
		"no limit": {&serving.InFlightLimits{}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.NewReader(create)
			answer := httptest.NewRecorder()
			serving.NewHandler("validate", test.limits, prepared, allow).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", io.MultiReader(body)))
			if answer.Code != test.code || (body.Len() == 0) != (test.code == http.StatusOK) {
				t.Errorf("got %d %s with %d bytes unread, want %d", answer.Code, answer.Body, body.Len(), test.code)
			}
		})
	}
	if got := rejections(t, "no_length") - before; got != 1 {
		t.Errorf("%v rejections are counted", got)
	}
}

// Reviews that have no room do not keep out others that have.
func TestRejectedReviewsTakeNoRoom(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	handler := serving.NewHandler("validate", &serving.InFlightLimits{Requests: 3, Bytes: review.MaxBytes}, prepared, func(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse {
		if ctx.Value(slow{}) != nil {
			close(begun)
			<-end
		}
		return request.Response(nil)
	})
	post := func(ctx context.Context, size int64) int {
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(create))
		request.ContentLength = max(size, request.ContentLength)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	var held, rejecting sync.WaitGroup
	held.Go(func() { post(context.WithValue(t.Context(), slow{}, true), 0) })
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 {
		rejecting.Go(func() {
			for ctx.Err() == nil {
				if code := post(ctx, review.MaxBytes); code != http.StatusTooManyRequests {
					t.Errorf("a review that has no room got %d", code)
					return
				}
			}
		})
	}
	rejected := 0
	for range 20_000 {
		if post(t.Context(), 0) != http.StatusOK {
			rejected++
		}
	}
	cancel()
	rejecting.Wait()
	close(end)
	held.Wait()
	if rejected > 0 {
		t.Errorf("%d small reviews were rejected", rejected)
	}
}

// slow is the key of a context in which the decision waits.
type slow struct{}

func prepared(ctx context.Context, _ string) (context.Context, error) { return ctx, nil }

// newCertificate returns a certificate for a usage, signed by the issuer, or by itself without one.
func newCertificate(t *testing.T, issuer *tls.Certificate, usage x509.ExtKeyUsage, notAfter time.Time) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{t.Name()}}, NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter,
		IsCA: issuer == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	if issuer == nil {
		issuer = &tls.Certificate{Leaf: template, PrivateKey: key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, issuer.Leaf, key.Public(), issuer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

func TestClientCertificate(t *testing.T) {
	later, client := time.Now().Add(time.Hour), x509.ExtKeyUsageClientAuth
	authority := newCertificate(t, nil, client, later)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	handler := serving.WithClientCertificate(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "decided") }),
		func() (x509.VerifyOptions, bool) {
			return x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{client}}, true
		})
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	for name, test := range map[string]struct {
		certificate *tls.Certificate
		code        int
		want        string
	}{
		"of the authority":     {newCertificate(t, authority, client, later), http.StatusOK, "decided"},
		"none":                 {nil, http.StatusUnauthorized, "the client has no certificate"},
		"of another authority": {newCertificate(t, newCertificate(t, nil, client, later), client, later), http.StatusUnauthorized, "unknown authority"},
		"expired":              {newCertificate(t, authority, client, time.Now().Add(-time.Minute)), http.StatusUnauthorized, "expired"},
		"of a server":          {newCertificate(t, authority, x509.ExtKeyUsageServerAuth, later), http.StatusUnauthorized, "incompatible key usage"},
	} {
		t.Run(name, func(t *testing.T) {
			before := rejections(t, "unauthenticated")
			transport := server.Client().Transport.(*http.Transport).Clone()
			if test.certificate != nil {
				transport.TLSClientConfig.Certificates = []tls.Certificate{*test.certificate}
			}
			defer transport.CloseIdleConnections()
			response, err := (&http.Client{Transport: transport}).Post(server.URL, "application/json", strings.NewReader(create))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.code || !strings.Contains(string(text), test.want) {
				t.Errorf("got %d %s, error %v, want %d with %q", response.StatusCode, text, err, test.code, test.want)
			}
			if got := rejections(t, "unauthenticated") - before; (got == 1) != (test.code != http.StatusOK) {
				t.Errorf("%v rejections are counted", got)
			}
		})
	}
}
