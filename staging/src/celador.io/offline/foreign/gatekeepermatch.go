// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionv1 "celador.io/api/admissionregistration/v1"
)

type (
	gatekeeperConstraint struct {
		EnforcementAction string                  `json:"enforcementAction"`
		ScopedActions     []gatekeeperScopedPoint `json:"scopedEnforcementActions"`
		Match             gatekeeperMatch         `json:"match"`
		Parameters        any                     `json:"parameters"`
	}
	gatekeeperScopedPoint struct {
		Action string `json:"action"`
		Points []struct {
			Name string `json:"name"`
		} `json:"enforcementPoints"`
	}
	gatekeeperMatch struct {
		Source             string            `json:"source"`
		Kinds              []gatekeeperKinds `json:"kinds"`
		Scope              string            `json:"scope"`
		Namespaces         []string          `json:"namespaces"`
		ExcludedNamespaces []string          `json:"excludedNamespaces"`
		LabelSelector      map[string]any    `json:"labelSelector"`
		NamespaceSelector  map[string]any    `json:"namespaceSelector"`
		Name               string            `json:"name"`
	}
	gatekeeperKinds struct {
		APIGroups   []string `json:"apiGroups"`
		APIVersions []string `json:"apiVersions"`
		Kinds       []string `json:"kinds"`
	}
)

// constraintSpec returns the spec of a constraint, and reports whether it is valid.
func (g *gatekeeperBuilder) constraintSpec(constraint *object) (*gatekeeperConstraint, bool) {
	spec := &gatekeeperConstraint{}
	content, found := constraint.Object["spec"]
	if !found || content == nil {
		return spec, true
	}
	raw, err := json.Marshal(content)
	if err == nil {
		err = constraint.origin.Field("spec", raw).Decode(spec)
	}
	return spec, g.check(err)
}

// gatekeeperActions maps the enforcement actions of constraints to actions of bindings.
var gatekeeperActions = map[string]admissionv1.ValidationAction{"deny": admissionv1.Deny, "warn": admissionv1.Warn, "dryrun": admissionv1.Audit}

// actions returns the actions of a constraint's binding. Of scoped actions, it returns those for
// the enforcement point of gator verify. It adds an error for an unknown action, and if there is
// none.
func (g *gatekeeperBuilder) actions(constraint *object, spec *gatekeeperConstraint) []any {
	wanted := map[string]string{spec.EnforcementAction: "spec.enforcementAction"}
	switch spec.EnforcementAction {
	case "":
		wanted = map[string]string{"deny": ""}
	case "scoped":
		wanted = map[string]string{}
		for i, scoped := range spec.ScopedActions {
			for _, point := range scoped.Points {
				if point.Name == "*" || point.Name == "gator.gatekeeper.sh" {
					wanted[scoped.Action] = fmt.Sprintf("spec.scopedEnforcementActions[%d].action", i)
				}
			}
		}
	}
	var actions []any
	for _, name := range sortedKeys(wanted) {
		action, known := gatekeeperActions[name]
		if !known {
			g.failAt(constraint.origin, wanted[name], "unknown action %q, want one of %s", name, strings.Join(sortedKeys(gatekeeperActions), ", "))
		}
		actions = append(actions, string(action))
	}
	if len(actions) == 0 {
		g.failAt(constraint.origin, "spec.scopedEnforcementActions", "no action has the enforcement point * or gator.gatekeeper.sh: such a constraint has no effect, add one")
	}
	if slices.Contains(actions, any(string(admissionv1.Deny))) {
		// A binding must not both deny and warn.
		actions = slices.DeleteFunc(actions, func(action any) bool { return action == string(admissionv1.Warn) })
	}
	return actions
}

// resources returns the matchResources of a binding with the selectors of a constraint.
func (m *gatekeeperMatch) resources() map[string]any {
	resources := map[string]any{}
	if m.LabelSelector != nil {
		resources["objectSelector"] = m.LabelSelector
	}
	if m.NamespaceSelector != nil {
		resources["namespaceSelector"] = m.NamespaceSelector
	}
	return resources
}

const (
	ofNamespace = `request.kind.kind == "Namespace" && request.kind.group == ""`
	inNamespace = `has(request.namespace) && request.namespace != ""`
)

// conditions returns match conditions for the fields besides the selectors.
func (m *gatekeeperMatch) conditions() []gatekeeperExpression {
	var conditions []gatekeeperExpression
	add := func(name, expression string) {
		conditions = append(conditions, gatekeeperExpression{"gatekeeper_internal_match_" + name, expression})
	}
	if m.Source == "Generated" {
		add("source", "false") // no request is for an object of an ExpansionTemplate
	}
	if len(m.Kinds) > 0 {
		var kinds []string
		for _, k := range m.Kinds {
			kinds = append(kinds, allOf(
				within("request.kind.group", k.APIGroups), within("request.kind.version", k.APIVersions), within("request.kind.kind", k.Kinds)))
		}
		add("kinds", anyOf(kinds...))
	}
	switch m.Scope {
	case "Cluster":
		add("scope", ofNamespace+" || !("+inNamespace+")")
	case "Namespaced":
		add("scope", "!("+ofNamespace+") && "+inNamespace)
	}
	// In match conditions, a request for a namespace has the name of the namespace in
	// request.namespace. Other cluster-scoped objects match whatever the list is.
	if len(m.Namespaces) > 0 {
		add("namespaces", "!("+inNamespace+") || "+globs("request.namespace", m.Namespaces))
	}
	if len(m.ExcludedNamespaces) > 0 {
		add("excluded_namespaces", "!("+inNamespace+" && "+globs("request.namespace", m.ExcludedNamespaces)+")")
	}
	if m.Name != "" {
		// The options of a CONNECT request have no metadata, and an object with a generated name
		// has no name yet, so these do not match.
		const metadata = "(object != null ? object : oldObject).metadata"
		add("name", allOf("has("+metadata+")", "has("+metadata+".name)", globs(metadata+".name", []string{m.Name})))
	}
	return conditions
}

func quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and lists of strings
	}
	return string(text)
}

// within returns a CEL expression that is true if the value of the expression operand is in the
// list, or if the list is empty or has an asterisk.
func within(operand string, list []string) string {
	if len(list) == 0 || slices.Contains(list, "*") {
		return "true"
	}
	return operand + " in " + quote(list)
}

// globs returns a CEL expression that is true if the value of the expression operand matches one of
// the patterns, which may begin and end with an asterisk.
func globs(operand string, patterns []string) string {
	var matches []string
	for _, pattern := range patterns {
		text, before := strings.CutPrefix(pattern, "*")
		text, after := strings.CutSuffix(text, "*")
		switch {
		case before && after:
			matches = append(matches, operand+".contains("+quote(text)+")")
		case before:
			matches = append(matches, operand+".endsWith("+quote(text)+")")
		case after:
			matches = append(matches, operand+".startsWith("+quote(text)+")")
		default:
			matches = append(matches, operand+" == "+quote(text))
		}
	}
	return anyOf(matches...)
}

func anyOf(expressions ...string) string { return "(" + strings.Join(expressions, " || ") + ")" }

// allOf returns the conjunction of expressions, without those that are always true.
func allOf(expressions ...string) string {
	expressions = slices.DeleteFunc(expressions, func(e string) bool { return e == "true" })
	if len(expressions) == 0 {
		return "true"
	}
	return strings.Join(expressions, " && ")
}
