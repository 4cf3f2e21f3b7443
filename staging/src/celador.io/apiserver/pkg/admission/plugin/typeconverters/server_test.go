// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/openapi"
	"k8s.io/klog/v2"

	"celador.io/apiserver/pkg/admission/plugin/typeconverters"
)

// Kubernetes' error handler delays callers that report errors in quick succession, by the time of
// the last error. synctest bubbles, each with its own clock, must not share that time.
func TestMain(m *testing.M) {
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	klog.SetLogger(klog.Logger{}) // many tests have errors logged
	os.Exit(m.Run())
}

// A server publishes OpenAPI documents. It is safe for concurrent use.
type server struct {
	mu        sync.Mutex
	documents map[string]string
	// slow is the time that sending a document takes.
	slow time.Duration
	// down fails requests for paths, and broken fails requests for documents.
	down, broken bool

	polls []time.Time
	reads int
}

var errDown = errors.New("down")

// Paths implements openapi.Client.
func (s *server) Paths() (map[string]openapi.GroupVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls = append(s.polls, time.Now())
	if s.down {
		return nil, errDown
	}
	paths := map[string]openapi.GroupVersion{}
	for path, text := range s.documents {
		paths[path] = published{s, text}
	}
	return paths, nil
}

// set calls do, which changes the server, with the lock held.
func (s *server) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// requests returns the times of the requests for paths, and the number of requests for documents.
func (s *server) requests() (polls []time.Time, reads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.polls), s.reads
}

// publish adds or replaces a document.
func (s *server) publish(path, text string) {
	s.set(func() {
		if s.documents == nil {
			s.documents = map[string]string{}
		}
		s.documents[path] = text
	})
}

func (s *server) withdraw(path string) {
	s.set(func() { delete(s.documents, path) })
}

// published is an OpenAPI document. Its URL changes with its text.
type published struct {
	*server
	text string
}

// Schema implements openapi.GroupVersion.
func (p published) Schema(string) ([]byte, error) {
	return nil, errors.New("requested without a context")
}

// SchemaWithContext implements openapi.GroupVersionWithContext.
func (p published) SchemaWithContext(ctx context.Context, _ string) ([]byte, error) {
	select {
	case <-time.After(p.takes()):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	if p.broken {
		return nil, errDown
	}
	return []byte(p.text), nil
}

func (s *server) takes() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slow
}

// ServerRelativeURL implements openapi.GroupVersion.
func (p published) ServerRelativeURL() string { return "/openapi/v3?hash=" + p.text }

const boxes = "apis/example.com/v1"

var box = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Box"}

// documentOf returns a document with one kind that has a field.
func documentOf(kind schema.GroupVersionKind, field string) string {
	return fmt.Sprintf(`{"components": {"schemas": {"it": {"type": "object",
		"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, %q: {"type": "string"}},
		"x-kubernetes-group-version-kind": [{"group": %q, "version": %q, "kind": %q}]}}}}`, field, kind.Group, kind.Version, kind.Kind)
}

// start returns a source that runs until the test ends or stop is called. v1 is the only built-in
// group version.
func start(t *testing.T, s *server) (source *typeconverters.PublishedSchemas, stop func()) {
	t.Helper()
	source = newSource(s)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go source.Run(ctx)
	return source, cancel
}

func newSource(s *server) *typeconverters.PublishedSchemas {
	return typeconverters.New(s, func(version schema.GroupVersion) bool { return version == schema.GroupVersion{Version: "v1"} })
}

// Answers of ask for a kind without a type.
const (
	none     = "no converter"
	kindless = "a converter without the kind"
)

// ask requests the converter for a kind. It returns an answer, or the field of the kind, and the
// time that the request took.
func ask(source *typeconverters.PublishedSchemas, kind schema.GroupVersionKind) (answer string, took time.Duration) {
	asked := time.Now()
	converter := source.GetTypeConverter(kind)
	took = time.Since(asked)
	if converter == nil {
		return none, took
	}
	for _, field := range []string{"old", "new"} {
		object := &unstructured.Unstructured{Object: map[string]any{field: "x"}}
		object.SetGroupVersionKind(kind)
		if _, err := converter.ObjectToTyped(object); err == nil {
			return field, took
		}
	}
	return kindless, took
}

// expect checks the answer for a kind and the time that the request took.
func expect(t *testing.T, source *typeconverters.PublishedSchemas, kind schema.GroupVersionKind, want string, after time.Duration) {
	t.Helper()
	if got, took := ask(source, kind); got != want || took != after {
		t.Errorf("%s: got %s after %v, want %s after %v", kind.Kind, got, took, want, after)
	}
}
