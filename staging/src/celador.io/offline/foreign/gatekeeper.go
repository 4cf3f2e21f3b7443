// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"

	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// Gatekeeper is the format of the suites of gator verify
// (https://open-policy-agent.github.io/gatekeeper/website/docs/gator). A ConstraintTemplate with
// CEL and a constraint become a ValidatingAdmissionPolicy whose param is the constraint. Tests of
// templates in Rego are skipped.
type Gatekeeper struct{}

const gatekeeperGroup = "test.gatekeeper.sh"

type (
	gatekeeperSuite struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Metadata   map[string]any   `json:"metadata"`
		Name       string           `json:"name"`
		Tests      []gatekeeperTest `json:"tests"`
		Skip       bool             `json:"skip"`
	}
	gatekeeperTest struct {
		Name       string           `json:"name"`
		Template   string           `json:"template"`
		Constraint string           `json:"constraint"`
		Expansion  string           `json:"expansion"`
		Cases      []gatekeeperCase `json:"cases"`
		Invalid    bool             `json:"invalid"`
		Skip       bool             `json:"skip"`
	}
	gatekeeperCase struct {
		Name       string                `json:"name"`
		Object     string                `json:"object"`
		Inventory  []string              `json:"inventory"`
		Assertions []gatekeeperAssertion `json:"assertions"`
		Skip       bool                  `json:"skip"`
	}
	gatekeeperAssertion struct {
		// Violations is yes, no or a number. It defaults to yes.
		Violations any    `json:"violations"`
		Message    string `json:"message"` // a regular expression
	}
)

var gatekeeperKind = regexp.MustCompile(`(?m)^["']?kind["']?: *["']?Suite["']?\s*$`)

// Detects implements suite.Format.
func (Gatekeeper) Detects(_ string, content []byte) bool {
	return bytes.Contains(content, []byte(gatekeeperGroup+"/")) && gatekeeperKind.Match(content)
}

// Convert implements suite.Format. Each test becomes a suite.
func (Gatekeeper) Convert(file string) ([]*manifest.Document, error) {
	return convertEach(file, convertGatekeeper)
}

func convertGatekeeper(file string, document *manifest.Document) ([]*manifest.Document, error) {
	if document.GroupVersionKind().Group != gatekeeperGroup {
		return nil, nil // gator verify reads such documents where suites name them
	}
	spec := &gatekeeperSuite{}
	if err := document.Decode(spec); err != nil {
		return nil, err
	}
	if len(spec.Tests) == 0 {
		return nil, document.Errorf("tests", "required: a suite has at least one test")
	}
	suiteName, _ := spec.Metadata["name"].(string)
	suiteName = cmp.Or(suiteName, spec.Name)
	reason := ""
	if spec.Skip {
		reason = "the suite has skip: true"
	}
	return collect(spec.Tests, func(i int, test gatekeeperTest) ([]*manifest.Document, error) {
		path := fmt.Sprintf("tests[%d]", i)
		name := cmp.Or(test.Name, path)
		if suiteName != "" && suiteName != name {
			name = suiteName + "/" + name
		}
		b := &gatekeeperBuilder{builder: newBuilder(file, document, path, name), spec: &test}
		b.convert(path, reason)
		return b.build()
	})
}

// A gatekeeperBuilder builds the suite of one test.
type gatekeeperBuilder struct {
	*builder
	spec       *gatekeeperTest
	policyName string
	enforced   bool // violations are denied
}

// convert converts a test. Its cases are skipped if reason is not empty.
func (g *gatekeeperBuilder) convert(path, reason string) {
	switch {
	case g.spec.Skip:
		reason = "the test has skip: true"
	case g.spec.Expansion != "":
		reason = "the test expands objects by an ExpansionTemplate, which servers do not do: run it with gator verify"
	}
	if reason == "" {
		template, constraint := g.single(path+".template", g.spec.Template), g.single(path+".constraint", g.spec.Constraint)
		if template == nil || constraint == nil {
			return
		}
		t := g.template(template)
		switch {
		case t == nil:
			return
		case t.source == nil:
			reason = "the template has no code of the engine " + gatekeeperEngine + ": run tests of Rego with gator verify"
		case !g.checkConstraint(t, constraint):
			return
		case g.spec.Invalid:
			g.invalid(path, t, constraint)
			return
		default:
			g.enforce(t, constraint)
		}
	}
	if reason != "" && len(g.spec.Cases) == 0 {
		g.skip(path, cmp.Or(g.spec.Name, path), reason)
		return
	}
	if len(g.spec.Cases) == 0 {
		g.fail(path+".cases", "required: a test has at least one case, or invalid: true")
	}
	for i := range g.spec.Cases {
		g.testCase(fmt.Sprintf("%s.cases[%d]", path, i), &g.spec.Cases[i], reason)
	}
}

// single returns the object of the file that the field at a path names. It returns nil and adds an
// error if the file does not have exactly one object.
func (g *gatekeeperBuilder) single(path, file string) *object {
	if file == "" {
		g.fail(path, "required: the path of a file")
		return nil
	}
	if document := g.readOne(path, file); document != nil {
		return g.decoded(document)
	}
	return nil
}

// invalid adds a case that creates a constraint which the server must reject.
func (g *gatekeeperBuilder) invalid(path string, template *gatekeeperTemplate, constraint *object) {
	if len(g.spec.Cases) > 0 {
		g.fail(path+".cases", "a test with invalid: true has no cases, because its constraint does not exist: remove cases")
		return
	}
	g.define(template, constraint)
	c := suite.Case{Name: "the constraint is invalid", Expect: suite.Expectation{Decision: suite.Rejected}}
	g.request(&c, "", constraint, nil)
	// gator verify ignores unknown fields.
	c.Request.Options = map[string]any{"fieldValidation": "Ignore"}
	g.add(path, path+".invalid", c)
}
