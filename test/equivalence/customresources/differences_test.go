// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A difference is a wanted difference between Celador and Kubernetes. The tests fail on any other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the only reason for two different answers.
	explains func(r request, theirs, ours answer) bool
}

// differences are the wanted differences.
var differences = []difference{
	{
		name:   "order of causes",
		reason: "Validation and the detection of conflicts iterate over maps, so the errors of one request come in a random order.",
		explains: func(_ request, theirs, ours answer) bool {
			return (theirs.Status == 422 || theirs.Status == 409) && equalBut(theirs, ours, sortedCauses)
		},
	},
	{
		name: "paths of schema errors",
		reason: "Errors about formats of numbers, and those of allOf, anyOf, oneOf and not, have the path of the field. In Kubernetes, they have the path <nil>, or status, and the path is in " +
			"the message only.",
		explains: func(_ request, theirs, ours answer) bool {
			return theirs.Status == 422 && equalBut(theirs, ours, withoutPaths)
		},
	},
	{
		name: "order of merge errors",
		reason: "Applying an object with several fields that do not fit its schema lists them in a random order, and of the fields that an object does not declare only one, " +
			"by chance.",
		explains: func(r request, theirs, ours answer) bool {
			return mergeErrors.MatchString(theirs.Body) && equalBut(theirs, ours, sortedErrors)
		},
	},
	{
		name: "panics at protobuf",
		reason: "Kubernetes' server panics when fields of a protobuf body are to be validated, because custom resources have no strict decoder for protobuf, and aborts the " +
			"connection. Celador answers that the body is malformed.",
		explains: func(r request, theirs, ours answer) bool {
			return r.ContentType == asProtobuf && theirs.Status == 0 && strings.Contains(theirs.Body, "INTERNAL_ERROR") && ours.Status == 400 && theirs.Admission == "" && ours.Admission == ""
		},
	},
	{
		name: "stale object",
		reason: "A server first tries a write with the object of its watch cache. If the cache has not seen the last write of another request, such as a deletion, " +
			"admission may be called for an object that the server then does not find.",
		explains: func(r request, theirs, ours answer) bool {
			writes := r.Method == "PUT" || r.Method == "PATCH" || r.Method == "DELETE"
			once := (theirs.Admission == "") != (ours.Admission == "")
			theirs.Admission, ours.Admission = "", ""
			return writes && theirs.Status == 404 && once && theirs == ours
		},
	},
	{
		name:   "order of resources",
		reason: "Discovery lists the resources of a group in a random order.",
		explains: func(r request, theirs, ours answer) bool {
			return strings.HasPrefix(r.Path, "/apis/") && strings.Contains(theirs.Body, `"APIResourceList"`) && equalBut(theirs, ours, sortedResources)
		},
	},
}

// equalBut reports whether two answers are equal when their bodies are.
func equalBut(theirs, ours answer, normal func(body string) string) bool {
	theirs.Body, ours.Body = normal(theirs.Body), normal(ours.Body)
	return theirs == ours
}

var mergeErrors = regexp.MustCompile(`(failed to create typed patch object|failed to convert new object)( \([^)]*\))?( to smd typed)?: `)

// sortedErrors orders the errors of structured-merge-diff. After a field that is not declared it
// leaves out the rest of an object.
func sortedErrors(body string) string {
	body = strings.ReplaceAll(body, `errors:\n  `, "")
	at := mergeErrors.FindStringIndex(body)
	if at == nil {
		return body
	}
	before, rest := body[:at[1]], body[at[1]:]
	message, after, _ := strings.Cut(rest, "\",\n")
	errors := strings.Split(message, `\n  `)
	if strings.Contains(message, ": field not declared in schema") {
		errors = []string{"field not declared in schema"}
	}
	slices.Sort(errors)
	return before + strings.Join(errors, "\n") + after
}

// sortedCauses orders the causes of a Status, and the words of its message, which lists them.
func sortedCauses(body string) string {
	start := strings.Index(body, "{")
	if !strings.Contains(body, `"causes"`) || start < 0 {
		return body
	}
	text, layout, _ := strings.Cut(body[start:], "\n(")
	t, err := parseTree([]byte(text))
	if err != nil {
		return body
	}
	causes := t.get("details", "causes")
	if causes == nil || len(causes.values) < 2 {
		return body
	}
	slices.SortFunc(causes.values, func(a, b *tree) int { return strings.Compare(a.String(), b.String()) })
	if message := t.get("message"); message != nil {
		message.setText(sortedWords(message.text()))
	}
	return body[:start] + t.String() + layout
}

// withoutPaths replaces the paths of errors whose message has it, too, and orders the causes of a
// Status.
func withoutPaths(body string) string {
	start := strings.Index(body, "{")
	if !strings.Contains(body, `"causes"`) || start < 0 {
		return body
	}
	text, layout, _ := strings.Cut(body[start:], "\n(")
	t, err := parseTree([]byte(text))
	if err != nil || t.get("message") == nil || t.get("details", "causes") == nil {
		return body
	}
	text = t.get("message").text()
	for _, cause := range t.get("details", "causes").values {
		message, field := cause.get("message"), cause.get("field")
		if message != nil && field != nil && unlocated.MatchString(message.text()) {
			text = strings.ReplaceAll(text, field.text()+": "+message.text(), "path: "+message.text())
			field.setText("path")
		}
	}
	t.get("message").setText(text)
	return sortedCauses(body[:start] + t.String() + "\n(" + layout)
}

// unlocated matches the message of an error that has a path in the message.
var unlocated = regexp.MustCompile(`^Invalid value: "": ((?:Checked|MultipleOf|Maximum boundary|Minimum boundary) value must be of type |"([^"\\]|\\.)*" must (?:not )?validate )`)

// sortedWords orders the words of a text without the punctuation of lists.
func sortedWords(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n,[]{}", r) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// sortedResources orders the resources in a discovery document.
func sortedResources(body string) string {
	start := max(strings.Index(body, "{"), 0)
	text, layout, _ := strings.Cut(body[start:], "\n(")
	t, err := parseTree([]byte(text))
	if err != nil {
		return body
	}
	if resources := t.get("resources"); resources != nil {
		slices.SortStableFunc(resources.values, func(a, b *tree) int { return strings.Compare(a.get("name").text(), b.get("name").text()) })
	}
	return body[:start] + t.String() + layout
}

// explain returns the name of the wanted difference between two answers, or an empty string.
func explain(r request, theirs, ours answer) string {
	for _, d := range differences {
		if d.explains(r, theirs, ours) {
			return d.name
		}
	}
	return ""
}

// TestExplain checks that a wanted difference does not hide another one.
func TestExplain(t *testing.T) {
	status := func(message string, causes ...string) answer {
		return answer{Status: 422, Body: fmt.Sprintf("{\"message\": %q, \"details\": {\"causes\": [%s]}}\n(compact, 1 newlines)", message, strings.Join(causes, ", "))}
	}
	located := func(path, in string, bits int) answer {
		message := fmt.Sprintf(`Invalid value: "": Checked value must be of type integer with format int%d in %s`, bits, in)
		return status(path+": "+message, fmt.Sprintf(`{"message": %q, "field": %q}`, message, path))
	}
	merge := func(errors string) answer {
		return answer{Status: 500, Body: "{\n  \"message\": \"failed to create typed patch object (a/b; g/v1, Kind=K): " + errors + "\",\n  \"code\": 500\n}"}
	}
	resources := func(names ...string) answer {
		for i, name := range names {
			names[i] = fmt.Sprintf(`{"name": %q}`, name)
		}
		return answer{Status: 200, Body: `{"kind": "APIResourceList", "resources": [` + strings.Join(names, ", ") + `]}`}
	}
	missing := func(admission string) answer { return answer{Status: 404, Body: "not found", Admission: admission} }
	apply := request{Method: "PATCH", ContentType: applyYAML}
	for name, c := range map[string]struct {
		r            request
		theirs, ours answer
		want         string
	}{
		"order of causes":           {apply, status("[x: a, y: b]", `{"field": "x"}`, `{"field": "y"}`), status("[y: b, x: a]", `{"field": "y"}`, `{"field": "x"}`), "order of causes"},
		"other causes":              {apply, status("[x: a, y: b]", `{"field": "x"}`, `{"field": "y"}`), status("[y: b, x: a]", `{"field": "y"}`, `{"field": "z"}`), ""},
		"paths of formats":          {apply, located("<nil>", "spec.a", 32), located("spec.a", "spec.a", 32), "paths of schema errors"},
		"paths and another message": {apply, located("<nil>", "spec.a", 32), located("spec.a", "spec.b", 32), ""},
		"paths of other errors":     {apply, status(`<nil>: Invalid value: "": no`, `{"message": "Invalid value: \"\": no", "field": "<nil>"}`), status(`a: Invalid value: "": no`, `{"message": "Invalid value: \"\": no", "field": "a"}`), ""},
		"causes and another status": {apply, status("[x: a, y: b]", `{"field": "x"}`, `{"field": "y"}`), answer{Status: 400, Body: status("[y: b, x: a]", `{"field": "y"}`, `{"field": "x"}`).Body}, ""},
		"order of merge errors":     {apply, merge(`errors:\n  .a: expected map\n  .b: expected list`), merge(`errors:\n  .b: expected list\n  .a: expected map`), "order of merge errors"},
		"an undeclared field":       {apply, merge(`.a.b: field not declared in schema`), merge(`.a.c: field not declared in schema`), "order of merge errors"},
		"other merge errors":        {apply, merge(`errors:\n  .a: expected map\n  .b: expected list`), merge(`errors:\n  .b: expected list\n  .a: expected list`), ""},
		"panic at protobuf":         {request{ContentType: asProtobuf}, answer{Body: "transport: INTERNAL_ERROR"}, answer{Status: 400}, "panics at protobuf"},
		"panic at JSON":             {request{ContentType: asJSON}, answer{Body: "transport: INTERNAL_ERROR"}, answer{Status: 400}, ""},
		"Celador's panic":           {request{ContentType: asProtobuf}, answer{Status: 400}, answer{Body: "transport: INTERNAL_ERROR"}, ""},
		"stale object":              {apply, missing(""), missing("UPDATE"), "stale object"},
		"stale object upstream":     {apply, missing("UPDATE"), missing(""), "stale object"},
		"admission of a read":       {request{Method: "GET"}, missing(""), missing("UPDATE"), ""},
		"other admission":           {apply, missing("CREATE"), missing("UPDATE"), ""},
		"admission of a success":    {apply, answer{Status: 200}, answer{Status: 200, Admission: "UPDATE"}, ""},
		"stale and another body":    {apply, missing(""), answer{Status: 404, Body: "other", Admission: "UPDATE"}, ""},
		"order of resources":        {request{Path: "/apis/g/v1"}, resources("a", "b"), resources("b", "a"), "order of resources"},
		"other resources":           {request{Path: "/apis/g/v1"}, resources("a", "b"), resources("b", "c"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := explain(c.r, c.theirs, c.ours); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
