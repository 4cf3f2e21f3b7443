// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// names replaces what differs from server to server by nature: UIDs and resource versions get the
// number of their first appearance, so that it still shows whether they change.
type names struct {
	prefix string
	uids   map[string]string
	// revisions are the resource versions of objects. Those of lists count the writes to all of
	// etcd.
	revisions map[string]string
	// current and first are the last and first resource version and UID that the side returned
	// for the name of an object. Placeholders in requests refer to them.
	current, first map[string]identity
	// token is the last continue token.
	token string
	// listed is the resource version of the last list.
	listed string
}

type identity struct{ uid, revision string }

func newNames(prefix string) *names {
	return &names{prefix: prefix, uids: map[string]string{}, revisions: map[string]string{}, current: map[string]identity{}, first: map[string]identity{}}
}

var (
	uuid        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moment      = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	age         = regexp.MustCompile(`^(<invalid>|(\d+[smhdy]){1,2})$`)
	serverTerms = regexp.MustCompile(`(current: |revision=)\d+`)
	streams     = regexp.MustCompile(`stream ID \d+`)
	versions    = regexp.MustCompile(`((?:precondition|record) \()(\d+)`)
	managers    = regexp.MustCompile(`(managedFields\\+":\[).*?\}\]`)
	quoted      = regexp.MustCompile(`(resourceVersion\\*"?: ?\\*")(\d+)`)
	tokens      = regexp.MustCompile(`\beyJ2Ijoi[\w-]+`)
	generated   = regexp.MustCompile(`\b(gen-)[a-z0-9]{5}\b`)
	placeholder = regexp.MustCompile(`\{\{(\w+)(?: ([^}]*))?\}\}`)
)

// numbered returns the symbol of a value, which is new if the value is.
func numbered(symbols map[string]string, sort, value string) string {
	if symbols[value] == "" {
		symbols[value] = fmt.Sprintf("<%s %d>", sort, len(symbols)+1)
	}
	return symbols[value]
}

// words replaces UIDs and times in any text.
func (n *names) words(text string) string {
	text = uuid.ReplaceAllStringFunc(text, func(uid string) string { return numbered(n.uids, "uid", uid) })
	text = moment.ReplaceAllString(text, "<time>")
	text = generated.ReplaceAllString(text, "${1}<random>")
	// The entries in the text of an object are ordered by their seconds, too.
	text = managers.ReplaceAllString(text, "${1}<managed fields>]")
	text = streams.ReplaceAllString(text, "stream ID <number>")
	text = tokens.ReplaceAllStringFunc(text, describeToken)
	for _, pattern := range []*regexp.Regexp{quoted, versions} {
		text = pattern.ReplaceAllStringFunc(text, func(match string) string {
			parts := pattern.FindStringSubmatch(match)
			return parts[1] + cmp.Or(n.revisions[parts[2]], "<revision>")
		})
	}
	text = serverTerms.ReplaceAllString(text, "${1}<revision>")
	return strings.ReplaceAll(text, n.prefix+"/", "/<prefix>/")
}

// object replaces what differs by nature in a JSON text and remembers the identities of its
// objects. It returns false if the text is no JSON.
func (n *names) object(text []byte) (string, bool) {
	t, err := parseTree(text)
	if err != nil {
		return "", false
	}
	t.walk(nil, n.visit)
	result := n.words(t.String())
	var compact, pretty bytes.Buffer
	if json.Compact(&compact, text) == nil && json.Indent(&pretty, text, "", "  ") == nil {
		trimmed := strings.TrimRight(string(text), "\n")
		switch newlines := len(text) - len(trimmed); trimmed {
		case compact.String():
			result += fmt.Sprintf("\n(compact, %d newlines)", newlines)
		case strings.TrimRight(pretty.String(), "\n"):
			result += fmt.Sprintf("\n(pretty, %d newlines)", newlines)
		default:
			result += fmt.Sprintf("\n(other layout, %d newlines)", newlines)
		}
	}
	return result, true
}

func (n *names) visit(path []string, value *tree) {
	if value.kind == '{' {
		// A controller that changes a condition in the second in which it was set does not own its
		// time.
		value.drop("f:lastTransitionTime")
	}
	if len(path) == 0 {
		return
	}
	last, parent := path[len(path)-1], ""
	if len(path) > 1 {
		parent = path[len(path)-2]
	}
	switch {
	case last == "metadata" && value.kind == '{':
		n.metadata(value)
	case strings.EqualFold(last, "conditions") && strings.Contains(value.String(), `"NamesAccepted"`):
		// Several controllers add the conditions of a CustomResourceDefinition, in an order that
		// differs from run to run.
		slices.SortStableFunc(value.values, func(a, b *tree) int { return cmp.Compare(a.get("type").text(), b.get("type").text()) })
	case last == "managedFields" && value.kind == '[':
		// The entries are ordered by their seconds.
		slices.SortStableFunc(value.values, func(a, b *tree) int {
			return cmp.Compare(entryKey(a), entryKey(b))
		})
	case parent == "cells" && age.MatchString(value.text()):
		value.setText("<age>")
	}
}

func entryKey(entry *tree) string {
	return strings.Join([]string{entry.get("operation").text(), entry.get("manager").text(), entry.get("apiVersion").text(), entry.get("subresource").text(), entry.get("fieldsV1").orNull()}, "\n")
}

func (t *tree) orNull() string {
	if t == nil {
		return "null"
	}
	return t.String()
}

// metadata replaces the resource version in the metadata of an object or list.
func (n *names) metadata(meta *tree) {
	revision, uid, name := meta.get("resourceVersion"), meta.get("uid").text(), meta.get("name").text()
	if token := meta.get("continue"); token.text() != "" {
		n.token = token.text()
		token.setText(describeToken(n.token))
	}
	if revision.text() == "" {
		return
	}
	if name == "" {
		// A list or a bookmark.
		n.listed = revision.text()
		revision.setText("<revision>")
		return
	}
	seen := identity{uid, revision.text()}
	if n.first[name] == (identity{}) {
		n.first[name] = seen
	}
	n.current[name] = seen
	revision.setText(numbered(n.revisions, "version", revision.text()))
}

// describeToken returns a continue token without its resource version.
func describeToken(token string) string {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return token
	}
	var decoded map[string]any
	if json.Unmarshal(text, &decoded) != nil {
		return token
	}
	if decoded["rv"] != -1. {
		decoded["rv"] = "<revision>"
	}
	text, err = json.Marshal(decoded)
	if err != nil {
		return token
	}
	return string(text)
}

// fill replaces the placeholders of a request: {{rv x}}, {{oldrv x}}, {{uid x}} of the object x,
// {{listed}} and {{continue}} of the last list.
func (n *names) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(match string) string {
		parts := placeholder.FindStringSubmatch(match)
		switch parts[1] {
		case "rv":
			return cmp.Or(n.current[parts[2]].revision, "1")
		case "oldrv":
			return cmp.Or(n.first[parts[2]].revision, "1")
		case "uid":
			return cmp.Or(n.current[parts[2]].uid, "00000000-0000-0000-0000-000000000000")
		case "listed":
			return cmp.Or(n.listed, "0")
		case "continue":
			return n.token
		}
		return match
	})
}
