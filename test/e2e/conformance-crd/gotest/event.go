// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package gotest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An event is a line of the output of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// top returns the name of the top-level test to which the event belongs.
func (e event) top() string {
	name, _, _ := strings.Cut(e.Test, "/")
	return name
}

// readEvents decodes the output of go test -json. It may contain lines that are no events, which go
// prints about modules and the build. They become events with the action output.
func readEvents(output io.Reader) ([]event, error) {
	var events []event
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			e := event{Action: actionOutput, Output: string(line)}
			if bytes.HasPrefix(line, []byte("{")) {
				e = event{}
				if err := json.Unmarshal(line, &e); err != nil {
					return nil, fmt.Errorf("not an event of go test: %q: %w", line, err)
				}
			}
			events = append(events, e)
		}
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Actions of events; see go doc test2json.
const (
	actionRun         = "run"
	actionPass        = "pass"
	actionFail        = "fail"
	actionSkip        = "skip"
	actionOutput      = "output"
	actionBuildOutput = "build-output"
)
