// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"

	"celador.io/offline/audit"
	"celador.io/offline/manifest"
)

// unevaluatedRule is the name of the SARIF rule for objects that were not evaluated.
const unevaluatedRule = "unevaluated"

// AuditSARIF writes a SARIF log of version 2.1.0. Each policy is a rule, and each violation a
// result. An object of a server has no file, so its location is a logical one. Objects that were
// not evaluated are results of a rule of their own. Policies that were not evaluated, and resources
// and files that were not read, are notifications. Files that were not read are results, too.
func AuditSARIF(w io.Writer, report *audit.Report) error {
	invocation := sarifInvocation{ExecutionSuccessful: len(report.Unread) == 0}
	notify := func(level, text string) {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{level, sarifText{text}})
	}
	run := sarifRun{Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "celador audit", Rules: []sarifRule{}}}}
	for i := range report.Policies {
		p := &report.Policies[i]
		if i == 0 || report.Policies[i-1].Name != p.Name {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{p.Name, sarifText{"ValidatingAdmissionPolicy " + p.Name}})
		}
		if p.NotAuditable != "" {
			notify("warning", "Policy "+p.Name+" was not evaluated: "+p.NotAuditable)
		}
		for _, f := range p.Violations {
			level := "error"
			if result(f) != "Violated" {
				level = "warning"
			}
			run.Results = append(run.Results, newAuditResult(p.Name, level, namespaced(&f.Object)+": "+message(f), &f.Object))
		}
	}
	run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{unevaluatedRule, sarifText{"An object was not evaluated."}})
	for _, u := range report.Unevaluated {
		run.Results = append(run.Results, newAuditResult(unevaluatedRule, "error", namespaced(&u.Object)+": "+u.Err.Error(), &u.Object))
	}
	for _, err := range report.Unread {
		if position := positionOf(err, manifest.Position{}); position.File != "" {
			run.Results = append(run.Results, newSARIFResult(unevaluatedRule, "error", err.Error(), position))
		}
		notify("error", "Objects were not read: "+err.Error())
	}
	run.Invocations = []sarifInvocation{invocation}
	return writeSARIF(w, run)
}

func newAuditResult(rule, level, text string, object *audit.Reference) sarifResult {
	if object.Position != (manifest.Position{}) {
		return newSARIFResult(rule, level, text, object.Position)
	}
	return sarifResult{rule, level, sarifText{text}, []sarifLocation{{LogicalLocations: []sarifLogical{{namespaced(object)}}}}}
}
