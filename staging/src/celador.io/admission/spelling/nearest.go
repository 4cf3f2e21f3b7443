// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package spelling finds the name that the author of an expression or a field path probably meant
// by a misspelt one.
package spelling

import (
	"iter"
	"strings"
)

const (
	// longName is the length in bytes above which names are not compared, because comparing takes
	// quadratic time.
	longName = 128
	// maxDistance is how many letters of a misspelt name may be wrong.
	maxDistance = 3
)

// Nearest returns the candidate that a name was probably meant to be: one that differs in at most
// three letters, and in no more than half of the letters of the name. Case does not count. It
// returns "" if there is none.
func Nearest(name string, candidates iter.Seq[string]) string {
	if len(name) > longName {
		return ""
	}
	best, bestDistance := "", min(len(name)/2, maxDistance)+1
	for candidate := range candidates {
		if len(candidate) > longName {
			continue
		}
		distance := editDistance(strings.ToLower(name), strings.ToLower(candidate))
		if distance < bestDistance || distance == bestDistance && best != "" && candidate < best {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance returns how many bytes must be inserted, removed or replaced to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
