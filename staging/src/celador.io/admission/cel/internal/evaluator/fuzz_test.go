// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func FuzzEvaluate(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(random(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		p, err := kubernetes().compile(generate(choices))
		if err != nil {
			return
		}
		for _, in := range inputs() {
			check(t, p, in)
		}
	})
}

func random(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	choices := make([]byte, 20+r.IntN(100))
	for i := range choices {
		choices[i] = byte(r.Uint32())
	}
	return choices
}

// TestGenerated checks many generated expressions. For nearly all evaluations that have a value in
// cel-go, the evaluator must return one.
func TestGenerated(t *testing.T) {
	ins := inputs()
	valuable, values := 0, 0
	for seed := range uint64(3000) {
		p, err := kubernetes().compile(generate(random(1000 + seed)))
		if err != nil {
			continue
		}
		for _, in := range ins {
			has := check(t, p, in)
			if !slices.Contains(ordinary, in.name) {
				continue
			}
			if has {
				values++
			}
			if _, _, err := p.reference.ContextEval(t.Context(), in); err == nil {
				valuable++
			}
		}
	}
	t.Logf("cel-go returns %d values, the evaluator %d", valuable, values)
	if values < valuable*19/20 {
		t.Errorf("cel-go returns %d values, the evaluator only %d", valuable, values)
	}
}

// TestTemplates checks that every template of the grammar compiles, for at least one of 40 seeds.
func TestTemplates(t *testing.T) {
	compiles := func(template string) (err error) {
		for seed := range uint64(40) {
			g := &generator{choices: random(seed), locals: map[byte][]string{}}
			if _, err = kubernetes().compile(g.fill(template, 0)); err == nil {
				return nil
			}
		}
		return err
	}
	for sort, templates := range grammar {
		for _, template := range slices.Concat(templates.simple, templates.composed) {
			if err := compiles(template); err != nil {
				t.Errorf("%s, for %c, never compiles: %v", template, sort, err)
			}
		}
	}
}
