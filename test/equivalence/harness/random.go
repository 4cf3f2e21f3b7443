// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
)

// Flags that repeat a failure of a test with generated scenarios.
var (
	Seed  = flag.Uint64("seed", 1, "seed of generated scenarios")
	First = flag.Uint64("first", 0, "number of the first generated scenario")
)

// Dice are a source of random numbers.
type Dice interface {
	// IntN returns a number from 0 to n-1.
	IntN(n int) int
}

// A Generator makes the random choices of a generated scenario.
type Generator struct{ Dice }

// NewGenerator returns the generator of a scenario. The same seed and number yield the same
// choices.
func NewGenerator(seed, number uint64) Generator {
	return Generator{rand.New(rand.NewPCG(seed, number))}
}

// Chance returns true with the given probability in percent. If a fuzzer's Tape makes the choices
// and has no numbers left, Chance returns false, except for 100, so that generation ends.
func (g Generator) Chance(percent int) bool { return g.IntN(100) >= 100-percent }

// Pick returns one of the choices at random. If a fuzzer's Tape makes the choices and has no
// numbers left, Pick returns the first choice, which should therefore be the simplest.
func Pick[T any](d Dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// Some returns a slice of at most n elements, whose number is random. generate returns the i-th.
func Some[T any](d Dice, n int, generate func(i int) T) []T {
	var result []T
	for i := range d.IntN(n + 1) {
		result = append(result, generate(i))
	}
	return result
}

// A Tape is a sequence of random numbers that a fuzzer controls. At its end it returns zeros.
type Tape struct{ rest []byte }

// NewTape returns dice that read one byte of the tape for each number.
func NewTape(tape []byte) *Tape { return &Tape{tape} }

// IntN implements Dice.
func (t *Tape) IntN(n int) int {
	if len(t.rest) == 0 {
		return 0
	}
	number := int(t.rest[0]) % n
	t.rest = t.rest[1:]
	return number
}

// Recording returns random bytes for a tape. The same seed yields the same bytes.
func Recording(seed uint64, length int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	result := make([]byte, length)
	for i := range result {
		result[i] = byte(random.Uint32())
	}
	return result
}

// Shares count the outcomes of generated scenarios by their properties, such as being denied. If
// nearly all outcomes are of the same sort, their equality on both sides proves little.
type Shares struct {
	// Outcomes is the number of all outcomes.
	Outcomes int
	// Count is the number of outcomes with a property.
	Count map[string]int
}

// Add counts an outcome with the properties that are true.
func (s *Shares) Add(properties map[string]bool) {
	if s.Count == nil {
		s.Count = map[string]int{}
	}
	s.Outcomes++
	for property, has := range properties {
		if has {
			s.Count[property]++
		}
	}
}

// Check fails the test if fewer outcomes than the given percentages have a property.
func (s *Shares) Check(t *testing.T, percentages map[string]int) {
	t.Helper()
	for property, percentage := range percentages {
		if s.Count[property]*100 < s.Outcomes*percentage {
			t.Errorf("%d of %d outcomes are %q, want %d%%", s.Count[property], s.Outcomes, property, percentage)
		}
	}
}

// Sorted sorts the lines that a test expects, because outcomes have their lines in sorted order.
func Sorted(lines ...string) []string {
	slices.Sort(lines)
	return lines
}
