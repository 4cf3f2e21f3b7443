// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// clearLine moves a terminal's cursor to the start of the line, and clears it.
const clearLine = "\r\x1b[K"

// progress shows how much is done in one line of a terminal. A nil progress shows nothing.
type progress struct {
	w io.Writer
	// interval is the least time between two updates of the line. last is the time of the last
	// update.
	interval time.Duration
	last     time.Time
}

// progressOn returns a progress on w if w is a terminal, or else nil.
func progressOn(w io.Writer) *progress {
	if !isTerminal(w) {
		return nil
	}
	// Runs shorter than the interval show no progress.
	return &progress{w: w, interval: 100 * time.Millisecond, last: time.Now()}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// barWidth is the number of characters of a full bar.
const barWidth = 20

// count replaces the line with the number of things that are done. If total is positive, the line
// has a bar, too; otherwise the total is not known.
func (p *progress) count(done, total int, things string) {
	if p == nil || time.Since(p.last) < p.interval {
		return
	}
	p.last = time.Now()
	if total <= 0 {
		fmt.Fprintf(p.w, clearLine+"%d %s", done, things)
		return
	}
	// What is done may be more than the total, which was counted earlier.
	part := min(done, total)
	filled := strings.Repeat("=", part*barWidth/total)
	fmt.Fprintf(p.w, clearLine+"[%-*s] %d%%, %d of %d %s", barWidth, filled, part*100/total, done, total, things)
}

// clear removes the line.
func (p *progress) clear() {
	if p != nil {
		fmt.Fprint(p.w, clearLine)
	}
}
