// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"net/url"
	"path/filepath"

	"celador.io/offline/manifest"
)

// The objects of a SARIF log (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Invocations []sarifInvocation `json:"invocations,omitempty"`
		Tool        sarifTool         `json:"tool"`
		Results     []sarifResult     `json:"results"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		PhysicalLocation *sarifPhysical `json:"physicalLocation,omitempty"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

const (
	mismatchRule = "mismatch"
	unusableRule = "unusable"
	coverageRule = "coverage"
)

// SARIF writes a SARIF log of version 2.1.0 with a result for each difference from an expectation,
// each case that could not run, each problem, and each branch that no case reached.
func SARIF(w io.Writer, run *Run) error {
	log := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "celador test", Rules: []sarifRule{
		{mismatchRule, sarifText{"The policies do not do what the case expects."}},
		{unusableRule, sarifText{"The case or the file could not run."}},
		{coverageRule, sarifText{"No case reaches a branch of an expression."}},
	}}}}
	for _, p := range run.Problems {
		log.Results = append(log.Results, newSARIFResult(unusableRule, "error", p.Err.Error(), p.Position()))
	}
	for _, result := range run.Results {
		for _, c := range result.Cases {
			name := result.Name + "/" + c.Name + ": "
			if c.Err != nil {
				log.Results = append(log.Results, newSARIFResult(unusableRule, "error", name+c.Err.Error(), positionOf(c.Err, c.Position)))
			}
			for _, m := range c.Mismatches {
				text := name + describe(m)
				for _, e := range m.Expressions {
					text += "\n" + explainInLine(e)
				}
				log.Results = append(log.Results, newSARIFResult(mismatchRule, "error", text, m.Position))
			}
		}
	}
	if run.Coverage != nil {
		expressions := run.Coverage.Expressions()
		for i := range expressions {
			for _, line := range missing(&expressions[i]) {
				log.Results = append(log.Results, newSARIFResult(coverageRule, "note", line, expressions[i].Position))
			}
		}
	}
	return writeSARIF(w, log)
}

// writeSARIF writes a SARIF log with one run.
func writeSARIF(w io.Writer, run sarifRun) error {
	return writeJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func newSARIFResult(rule, level, text string, position manifest.Position) sarifResult {
	if position.File == "" {
		return sarifResult{RuleID: rule, Level: level, Message: sarifText{text}}
	}
	physical := sarifPhysical{ArtifactLocation: sarifArtifact{uriOf(position.File)}}
	if position.Line > 0 {
		physical.Region = &sarifRegion{position.Line}
	}
	return sarifResult{rule, level, sarifText{text}, []sarifLocation{{PhysicalLocation: &physical}}}
}

// uriOf returns the URI of a file: a relative reference, or a file URI if the path is absolute.
func uriOf(file string) string {
	uri := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		uri.Scheme = "file"
	}
	return uri.String()
}
