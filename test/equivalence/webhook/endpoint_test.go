// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// call is a call of a webhook.
type call struct {
	// Of is the webhook's index in the scenario.
	Of string
	// URL contains the timeout, among others.
	URL string
	// Review is the review without its random UID.
	Review map[string]any
}

// endpoint is the transport that delivers the calls of a plugin inside of the process. Webhooks
// that are called concurrently answer in the order of the scenario.
type endpoint struct {
	lock  sync.Mutex
	calls []call
}

// take returns and forgets the calls so far.
func (e *endpoint) take() []call {
	e.lock.Lock()
	defer e.lock.Unlock()
	taken := e.calls
	e.calls = nil
	return taken
}

// RoundTrip implements http.RoundTripper.
func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var review map[string]any
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	var place int
	index, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if _, err := fmt.Sscan(index, &place); err != nil {
		return nil, err
	}
	answer, known := answers[name]
	if !known {
		return nil, fmt.Errorf("there is no answer %q", name)
	}
	times := e.record(call{Of: index, URL: r.URL.String(), Review: review})

	select {
	case <-time.After(answer.after + time.Duration(place+1)*time.Millisecond):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if answer.fails {
		return nil, errors.New("connection refused")
	}
	status, text := answer.compose(review, times)
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r,
	}, nil
}

// record stores a call and returns the number of calls of its webhook.
func (e *endpoint) record(c call) (times int) {
	request := c.Review["request"].(map[string]any)
	uid := request["uid"]
	if uid == "" {
		c.Of += " without UID"
	}
	recorded := map[string]any{"apiVersion": c.Review["apiVersion"], "kind": c.Review["kind"], "request": without(request, "uid")}
	for field, value := range c.Review {
		if _, there := recorded[field]; !there {
			recorded[field] = value
		}
	}
	c.Review = recorded
	e.lock.Lock()
	defer e.lock.Unlock()
	e.calls = append(e.calls, c)
	for _, other := range e.calls {
		if other.Of == c.Of {
			times++
		}
	}
	return times
}

func without(fields map[string]any, name string) map[string]any {
	result := map[string]any{}
	for field, value := range fields {
		if field != name {
			result[field] = value
		}
	}
	return result
}

// wrap implements webhookutil.AuthenticationInfoResolverWrapper.
func (e *endpoint) wrap(webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver {
	return e
}

// ClientConfigFor implements webhookutil.AuthenticationInfoResolver.
func (e *endpoint) ClientConfigFor(hostPort string) (*rest.Config, error) {
	if strings.HasPrefix(hostPort, "panic.") {
		panic("no credentials for " + hostPort)
	}
	return &rest.Config{Transport: e}, nil
}

// ClientConfigForService implements webhookutil.AuthenticationInfoResolver.
func (e *endpoint) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return &rest.Config{Transport: e}, nil
}

// ResolveEndpoint implements webhookutil.ServiceResolver.
func (e *endpoint) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: fmt.Sprintf("%s.%s:%d", name, namespace, port)}, nil
}
