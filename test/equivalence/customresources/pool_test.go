// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"celador.io/celador/test/equivalence/harness"
)

// examples returns the definitions in testdata.
func examples(t testing.TB) []definition {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	must(t, err)
	var definitions []definition
	for _, file := range files {
		manifest, err := os.ReadFile(file)
		must(t, err)
		var d definition
		if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer("WEBHOOK_URL", webhookURL, "WEBHOOK_CA", webhookCA).Replace(string(manifest))), &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		definitions = append(definitions, d)
	}
	return definitions
}

// pool creates the examples and a number of generated definitions on both sides, and returns those
// that were created when both servers serve them. It compares the answers to all of them.
func (p *pair) pool(t *testing.T, seed uint64, generated int) []definition {
	t.Helper()
	var created []definition
	try := func(d definition) bool {
		var answers [2]answer
		if p.sides[0].prefix == p.sides[1].prefix {
			// One server creates the definition for both.
			answers[0] = newSession(p.sides[len(created)%2]).do(t, d.create())
			answers[1] = answers[0]
		} else {
			answers[0], answers[1] = newSession(p.sides[0]).do(t, d.create()), newSession(p.sides[1]).do(t, d.create())
		}
		c := &comparison{}
		c.compare(d.create(), answers[0], answers[1])
		for _, text := range c.unexplained {
			t.Error(text)
		}
		if answers[0].Status != 201 {
			return false
		}
		created = append(created, d)
		return true
	}
	for _, d := range examples(t) {
		if !try(d) {
			t.Fatalf("upstream refuses %s: %s", d.name(), newSession(p.sides[0]).do(t, d.create()).Body)
		}
	}
	refused := 0
	for number := 0; number < generated+refused; number++ {
		g := &generator{harness.NewGenerator(seed, uint64(number))}
		if !try(g.definition(number)) {
			if refused++; refused > generated+20 {
				t.Fatalf("upstream refuses most generated definitions")
			}
		}
	}
	t.Logf("%d definitions, %d refused", len(created), refused)
	for _, d := range created {
		for _, s := range p.servers() {
			eventually(t, s.name+" establishes "+d.name(), func() bool { return s.established(t, d.name()) })
			// The handler of custom resources has its own view of the definition.
			eventually(t, s.name+" serves "+d.name(), func() bool {
				response, err := s.client.Get(s.url + d.path(d.served()[0], "none"))
				if err != nil {
					return false
				}
				response.Body.Close()
				return response.StatusCode == 200
			})
		}
	}
	for _, d := range created {
		p.refresh(t, d)
	}
	// Creating objects of a definition that was established less than two seconds ago takes two
	// seconds.
	time.Sleep(3 * time.Second)
	return created
}

// servers returns all servers of a pair.
func (p *pair) servers() []*server {
	if p.sides[0].prefix == p.sides[1].prefix {
		return p.sides[0].servers
	}
	return append(p.sides[0].servers[:1:1], p.sides[1].servers...)
}
