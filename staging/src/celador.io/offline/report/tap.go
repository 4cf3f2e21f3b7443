// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
)

// tapEscapes escapes the # in the name of a case, which would begin a directive such as # SKIP
// (https://testanything.org/tap-version-14-specification.html).
var tapEscapes = strings.NewReplacer(`\`, `\\`, "#", `\#`)

// TAP writes a document of version 14 of the Test Anything Protocol. Comments have the coverage.
func TAP(w io.Writer, run *Run) error {
	var out bytes.Buffer
	number := 0
	diagnose := func(at manifest.Position, problems []string) error {
		texts := make([]string, len(problems)) // the encoder refuses control characters
		for i, problem := range problems {
			texts[i] = Printable(problem)
		}
		diagnostics, err := yaml.Marshal(map[string]any{"at": map[string]any{"file": Printable(at.File), "line": at.Line}, "problems": texts})
		if err == nil {
			fmt.Fprintf(&out, "  ---\n  %s\n  ...\n", strings.ReplaceAll(strings.TrimSpace(string(diagnostics)), "\n", "\n  "))
		}
		return err
	}
	for _, p := range run.Problems {
		number++
		fmt.Fprintf(&out, "not ok %d - %s\n", number, tapEscapes.Replace(printableLine(p.Name)))
		if err := diagnose(p.Position(), []string{p.Err.Error()}); err != nil {
			return err
		}
	}
	for _, result := range run.Results {
		for _, c := range result.Cases {
			number++
			line, directive := "ok", ""
			switch statusOf(&c) {
			case failed, unusable:
				line = "not ok"
			case skipped:
				directive = " # SKIP " + tapEscapes.Replace(printableLine(c.Skipped))
			}
			fmt.Fprintf(&out, "%s %d - %s%s\n", line, number, tapEscapes.Replace(printableLine(result.Name+"/"+c.Name)), directive)
			if line == "ok" {
				continue
			}
			if err := diagnose(c.Position, problems(&c)); err != nil {
				return err
			}
		}
	}
	if run.Coverage != nil {
		expressions := run.Coverage.Expressions()
		for i := range expressions {
			for _, line := range missing(&expressions[i]) {
				fmt.Fprintf(&out, "# %s: %s\n", printableLine(expressions[i].Position.String()), printableLine(line))
			}
		}
		fmt.Fprintf(&out, "# %s\n", DescribeCoverage(coverage.Summarize(expressions)))
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", number, out.String())
	return err
}
