// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// checkConstants returns a problem if the rule sets a field to a constant that the schema of the
// converted object or the API does not accept, even if the expression returns the constant in some
// cases only.
func (e *edge) checkConstants(r *compiledRule) *problem {
	if p := e.checkMetadataKeys(r); p != nil {
		return p
	}
	if err := ruleresult.CheckConstants(r.expression, r.target); err != nil {
		return &problem{"rule", fmt.Sprintf("in version %s, %s", e.to.name, err)}
	}
	path := r.path()
	last := len(path) - 1
	if last < 1 || !path[last-1].Each {
		return nil
	}
	list, err := ruleschema.Resolve(path[:last-1], e.to.target().schema)
	if err != nil || !slices.Contains(list.XListMapKeys, path[last].Name) {
		return nil
	}
	for _, part := range r.expression.ResultParts() {
		if len(part.Path) == 0 && part.Constant == types.NullValue {
			return &problem{"rule", fmt.Sprintf("in version %s, %s is a key of the list (x-kubernetes-list-map-keys) and must not be unset: return a value", e.to.name, path)}
		}
	}
	return nil
}

// checkMetadataKeys checks the names of labels and annotations that the rule sets, and the constant
// values of labels.
func (e *edge) checkMetadataKeys(r *compiledRule) *problem {
	path := r.path()
	for _, part := range r.expression.ResultParts() {
		full := append(names(path), part.Path...)
		const keyed = 3 // metadata.labels['key']
		if len(full) != keyed || full[0] != "metadata" {
			continue
		}
		at := "rule"
		if len(path) == keyed {
			at = "field"
		}
		if errs := validateEntries(full[1], map[string]string{full[2]: ""}); len(errs) > 0 {
			return &problem{at, errs.ToAggregate().Error()}
		}
		if text, ok := part.Constant.(types.String); ok {
			if errs := validateEntries(full[1], map[string]string{full[2]: string(text)}); len(errs) > 0 {
				return &problem{"rule", errs.ToAggregate().Error()}
			}
		}
	}
	return nil
}

// replacedMetadata returns a warning for each rule that replaces all labels or all annotations
// without reading them.
func (c *checkedRules) replacedMetadata() []string {
	var warnings []string
	for i, rule := range c.rules {
		for _, name := range []string{"labels", "annotations"} {
			if !c.replacesMetadata(rule, name) {
				continue
			}
			warnings = append(warnings, fmt.Sprintf("%s: the rule replaces all %s, and so removes those of users and of other programs, such as of kubectl apply. Set single ones, with field \"metadata.%s['example.com/name']\"",
				c.path.Index(i), name, name))
		}
	}
	return warnings
}

// replacesMetadata reports whether a rule sets metadata.labels or metadata.annotations as a whole
// without reading them. name is labels or annotations.
func (c *checkedRules) replacesMetadata(rule *compiledRule, name string) bool {
	whole := []string{"metadata", name}
	path := names(rule.path())
	if len(path) > len(whole) || !slices.Equal(path, whole[:len(path)]) {
		return false
	}
	if len(path) < len(whole) && (rule.expression.KeepsField(whole[len(path):]) || !rule.expression.SetsField(whole[len(path):])) {
		return false
	}
	for _, read := range sourceReads(c.edge.from, rule.scope, rule.expression) {
		from := read.path[:min(len(read.path), len(whole))]
		if read.whole && slices.Equal(names(from), whole[:len(from)]) {
			return false
		}
	}
	return true
}
