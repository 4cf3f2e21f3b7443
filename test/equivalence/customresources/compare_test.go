// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A comparison collects the differences between the sides of a pair.
type comparison struct {
	// swapped is whether the sides' servers answer in turn, so that either answer may be
	// Kubernetes'.
	swapped bool
	// answers are the upstream side's.
	answers []answer
	// unexplained describes the differences that are not wanted.
	unexplained []string
	// explained holds the names of the wanted differences that occurred.
	explained []string
}

// compare compares what the sides answered to a request.
func (c *comparison) compare(r request, theirs, ours answer) {
	c.answers = append(c.answers, theirs)
	if theirs == ours {
		return
	}
	name := explain(r, theirs, ours)
	if name == "" && c.swapped {
		name = explain(r, ours, theirs)
	}
	if name != "" {
		c.explained = append(c.explained, name)
		return
	}
	c.unexplained = append(c.unexplained, fmt.Sprintf("%s\n(-upstream +celador):\n%s", r, differing(theirs, ours)))
}

// differing returns the lines that differ.
func differing(theirs, ours any) string { return cmp.Diff(theirs, ours) }

// marker is the name of an object that ends watches. Its labels match the selectors of generated
// watches.
const marker = "zz-marker"

// run sends the requests of a scenario to both sides, and compares all answers and the stored
// bytes.
func (p *pair) run(t testing.TB, d definition, s scenario) *comparison {
	t.Helper()
	c := &comparison{swapped: p.sides[0].prefix == p.sides[1].prefix}
	if c.swapped {
		p.runApart(t, d, s, c)
		return c
	}
	var sessions [2]*session
	for i, b := range p.sides {
		sessions[i] = newSession(b)
		defer sessions[i].close()
	}
	for _, r := range s.Requests {
		if r.cached() {
			p.refresh(t, d)
		}
		c.compare(r, sessions[0].do(t, r), sessions[1].do(t, r))
	}
	theirs, ours := p.end(t, d, sessions[0]), p.end(t, d, sessions[1])
	c.compareEnds(theirs, ours)
	return c
}

// refresh returns when the watch caches of all servers hold all objects of a definition that are
// stored.
func (p *pair) refresh(t testing.TB, d definition) {
	t.Helper()
	for _, s := range p.servers() {
		s.refresh(t, d)
	}
}

// refresh returns when the server's watch caches hold all objects of a definition that are stored.
// A list without a resource version waits for that, but fails until the server has filled a new
// cache.
func (s *server) refresh(t testing.TB, d definition) {
	t.Helper()
	for _, version := range d.served() {
		eventually(t, s.name+" lists "+d.apiVersion(version)+" "+d.plural(), func() bool {
			response, err := s.client.Get(s.url + d.path(version, ""))
			must(t, err)
			response.Body.Close()
			return response.StatusCode != http.StatusTooManyRequests
		})
	}
}

// runApart is like run for sides that share a prefix. The second runs after the first has ended.
func (p *pair) runApart(t testing.TB, d definition, s scenario, c *comparison) {
	t.Helper()
	var answers [2][]answer
	var ends [2]end
	for i, b := range p.sides {
		// What the other side has left in a cache may differ.
		p.refresh(t, d)
		session := newSession(b)
		for _, r := range s.Requests {
			if r.cached() {
				p.refresh(t, d)
			}
			answers[i] = append(answers[i], session.do(t, r))
		}
		ends[i] = p.end(t, d, session)
	}
	for i, r := range s.Requests {
		c.compare(r, answers[0][i], answers[1][i])
	}
	c.compareEnds(ends[0], ends[1])
}

// An end is what a scenario leaves.
type end struct {
	requests []request
	watches  []answer
	stored   string
}

func (c *comparison) compareEnds(theirs, ours end) {
	for i, r := range theirs.requests {
		if i < len(ours.requests) {
			c.compare(r, theirs.watches[i], ours.watches[i])
		}
	}
	if theirs.stored != ours.stored {
		c.unexplained = append(c.unexplained, "stored in etcd (-upstream +celador):\n"+differing(theirs.stored, ours.stored))
	}
}

// end ends the watches of a session, returns their events and the stored objects, and deletes
// those.
func (p *pair) end(t testing.TB, d definition, s *session) end {
	t.Helper()
	prefix := s.backend.prefix + "/" + d.group() + "/" + d.plural() + "/"
	result := end{stored: p.stored(t, s, prefix)}
	for _, w := range s.watches {
		result.requests = append(result.requests, w.request)
	}
	if len(s.watches) > 0 {
		// A watch of a namespace gets the objects of that namespace only.
		for _, namespace := range namespacesOf(d, s.watches) {
			metadata := map[string]any{"name": marker, "uid": marker, "creationTimestamp": "2026-01-01T00:00:00Z", "labels": map[string]any{"tier": "a"}}
			key := prefix + marker
			if namespace != "" {
				metadata["namespace"] = namespace
				key = prefix + namespace + "/" + marker
			}
			o := map[string]any{"apiVersion": d.apiVersion(d.storageVersion()), "kind": d.kind(), "metadata": metadata}
			_, err := p.store.Put(context.Background(), key, string(encode(o)))
			must(t, err)
		}
		result.watches = s.finish(t, marker)
	}
	// Watch caches expect a revision of etcd to change one key. After the first deletion of several
	// with one revision, they would count as up to date.
	left, err := p.store.Get(context.Background(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(t, err)
	for _, kv := range left.Kvs {
		_, err := p.store.Delete(context.Background(), string(kv.Key))
		must(t, err)
	}
	return result
}

// namespacesOf returns the namespaces that the watches need markers in.
func namespacesOf(d definition, watches []*openWatch) []string {
	if !d.namespaced() {
		return []string{""}
	}
	seen := map[string]bool{}
	var namespaces []string
	for _, w := range watches {
		namespace := marker
		if _, after, found := strings.Cut(w.request.Path, "/namespaces/"); found {
			namespace, _, _ = strings.Cut(after, "/")
		}
		if !seen[namespace] {
			seen[namespace] = true
			namespaces = append(namespaces, namespace)
		}
	}
	return namespaces
}

// stored returns the keys and values with a prefix of etcd.
func (p *pair) stored(t testing.TB, s *session, prefix string) string {
	t.Helper()
	found, err := p.store.Get(context.Background(), prefix, clientv3.WithPrefix())
	must(t, err)
	var b strings.Builder
	for _, kv := range found.Kvs {
		fmt.Fprintf(&b, "%s: ", strings.TrimPrefix(string(kv.Key), prefix))
		if text, ok := s.names.object(kv.Value); ok {
			fmt.Fprintln(&b, text)
			continue
		}
		fmt.Fprintln(&b, s.names.cbor(kv.Value))
	}
	return b.String()
}
