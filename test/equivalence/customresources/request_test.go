// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// A request is an HTTP request to a server of custom resources. Path and Body may have
// placeholders, see names.fill.
type request struct {
	Method string
	// Path is the path with its query.
	Path        string
	ContentType string `json:",omitempty"`
	Accept      string `json:",omitempty"`
	Body        []byte `json:",omitempty"`
	// Watch keeps the response open until the end of the scenario.
	Watch bool `json:",omitempty"`
}

// String describes the request for the message of a failed test.
func (r request) String() string {
	text := fmt.Sprintf("%s %s", r.Method, r.Path)
	if r.Accept != "" {
		text += "\n  Accept: " + r.Accept
	}
	if r.ContentType != "" {
		text += "\n  Content-Type: " + r.ContentType
	}
	switch {
	case len(r.Body) == 0:
	case utf8.Valid(r.Body):
		text += "\n  " + strings.ReplaceAll(string(r.Body), "\n", "\n  ")
	default:
		text += fmt.Sprintf("\n  %q", r.Body)
	}
	return text
}

// cached reports whether a server may answer from its watch cache before that holds all that is
// stored.
func (r request) cached() bool { return r.Watch || strings.Contains(r.Path, "resourceVersion=") }

// An answer is what a request led to, with everything replaced that differs by nature.
type answer struct {
	Status    int
	Header    string
	Body      string
	Admission string
}

// A session sends the requests of one scenario to one backend.
type session struct {
	backend backend
	names   *names
	sent    int
	watches []*openWatch
}

type openWatch struct {
	request request
	answer  answer
	body    io.ReadCloser
	cancel  context.CancelFunc
}

func newSession(b backend) *session { return &session{backend: b, names: newNames(b.prefix)} }

var requestCount atomic.Int64

// do sends a request and returns what the server answers. The answer of a watch has an empty body.
func (s *session) do(t testing.TB, r request) answer {
	t.Helper()
	server := s.backend.servers[s.sent%len(s.backend.servers)]
	s.sent++
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	id := fmt.Sprintf("%s%d", witnessed, requestCount.Add(1))
	request, err := http.NewRequestWithContext(ctx, r.Method, server.url+s.names.fill(r.Path), bytes.NewReader([]byte(s.names.fill(string(r.Body)))))
	must(t, err)
	request.Header.Set("Audit-ID", id)
	request.Header.Set("User-Agent", "equivalence/1")
	if r.Accept != "" {
		request.Header.Set("Accept", r.Accept)
	}
	if r.ContentType != "" {
		request.Header.Set("Content-Type", r.ContentType)
	}
	response, err := server.client.Do(request)
	if err != nil {
		cancel()
		return answer{Body: "transport: " + s.names.words(strings.ReplaceAll(err.Error(), server.url, ""))}
	}
	a := answer{Status: response.StatusCode, Header: s.header(response.Header)}
	if r.Watch && response.StatusCode == http.StatusOK {
		s.watches = append(s.watches, &openWatch{r, a, response.Body, cancel})
		return a
	}
	defer cancel()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		body = append(body, "\n(aborted)"...)
	}
	a.Body = s.normal(response.Header.Get("Content-Type"), body)
	a.Admission = s.names.attributes(server.witness.take(id))
	return a
}

// header returns the headers of a response, except those that differ by nature.
func (s *session) header(header http.Header) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		switch name {
		case "Date", "Content-Length", "Audit-Id":
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s", name, s.names.words(strings.Join(header[name], " | "))))
	}
	return strings.Join(lines, "\n")
}

// attributes replaces what differs by nature in the text of a witness.
func (n *names) attributes(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		start := strings.Index(line, ", Kind=")
		if brace := strings.Index(line, " {"); start > 0 && brace > start {
			if object, ok := n.object([]byte(line[brace+1:])); ok {
				lines[i] = n.words(line[:brace]) + " " + object
				continue
			}
		}
		lines[i] = n.words(line)
	}
	return strings.Join(lines, "\n")
}

// normal returns a body in a form that can be compared.
func (s *session) normal(contentType string, body []byte) string {
	n := s.names
	if text, ok := n.object(body); ok {
		return text
	}
	switch mediaType, _, _ := strings.Cut(contentType, ";"); mediaType {
	case "application/yaml":
		return n.yaml(string(body))
	case "application/cbor":
		return n.cbor(body)
	case "application/vnd.kubernetes.protobuf":
		return n.protobuf(body)
	}
	if utf8.Valid(body) {
		return n.words(string(body))
	}
	return hex.Dump(body)
}

// finish returns the events of the watches, up to the marker that the caller has stored.
func (s *session) finish(t testing.TB, marker string) []answer {
	t.Helper()
	var answers []answer
	for _, w := range s.watches {
		timer := time.AfterFunc(20*time.Second, w.cancel)
		var text []byte
		buffer := make([]byte, 32<<10)
		for !bytes.Contains(text, []byte(marker)) {
			count, err := w.body.Read(buffer)
			text = append(text, buffer[:count]...)
			if err != nil {
				text = append(text, "\n(ended)"...)
				break
			}
		}
		timer.Stop()
		w.cancel()
		w.body.Close()
		a := w.answer
		a.Body = s.events(text, marker)
		answers = append(answers, a)
	}
	s.watches = nil
	return answers
}

// events returns the events of a watch before the marker.
func (s *session) events(text []byte, marker string) string {
	var lines []string
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(marker)) {
			break
		}
		line = bytes.TrimSpace(line)
		// Servers send other bookmarks when they like.
		if bytes.Contains(line, []byte(`"BOOKMARK"`)) && !bytes.Contains(line, []byte("k8s.io/initial-events-end")) {
			continue
		}
		if event, ok := s.names.object(line); ok {
			lines = append(lines, event)
			continue
		}
		lines = append(lines, s.names.words(fmt.Sprintf("%q", line)))
	}
	return strings.Join(lines, "\n")
}

// close ends the watches.
func (s *session) close() {
	for _, w := range s.watches {
		w.cancel()
		w.body.Close()
	}
}
