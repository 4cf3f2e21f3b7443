// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// An Example is an input to begin with, which the user can choose on the page.
type Example struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	PageState
}

// Examples returns an example for each directory of a file system that has a policy and a
// suite.yaml. It has the manifests of the suite, and the request of the first case that the
// policies deny, or else of the first case. Its title is the first sentence of the comment above
// the policy. Examples of validating policies without feature gates come first.
func Examples(files fs.FS) ([]Example, error) {
	suites, err := fs.Glob(files, "*/suite.yaml")
	if err != nil {
		return nil, err
	}
	examples := []Example{}
	for _, file := range suites {
		example, err := newExample(files, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if example.Panes.Policy != "" {
			examples = append(examples, *example)
		}
	}
	slices.SortStableFunc(examples, func(a, b Example) int {
		return cmp.Or(cmp.Compare(len(a.FeatureGates), len(b.FeatureGates)), -cmp.Compare(kindRank(&a), kindRank(&b)))
	})
	return examples, nil
}

// kindRank returns 1 for examples of validating policies, and 0 for others.
func kindRank(e *Example) int {
	return min(1, strings.Count(e.Panes.Policy, cluster.ValidatingKind))
}

// newExample returns the example of a suite.
func newExample(files fs.FS, file string) (*Example, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	documents, err := manifest.Parse(file, text)
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("%d suites, want 1", len(documents))
	}
	s := &suite.Suite{}
	if err := documents[0].Decode(s); err != nil {
		return nil, err
	}
	directory := path.Dir(file)
	var texts []string
	for i := range s.Manifests {
		found, err := read(files, directory, &s.Manifests[i])
		if err != nil {
			return nil, err
		}
		texts = append(texts, found...)
	}
	example := &Example{Name: directory}
	example.FeatureGates = s.FeatureGates
	if _, err := example.Panes.add(texts, false); err != nil {
		return nil, err
	}
	example.Title = cmp.Or(firstSentence(example.Panes.Policy), directory)
	return example, example.setRequest(files, directory, s.Cases)
}

// setRequest sets the panes of the request of a case.
func (e *Example) setRequest(files fs.FS, directory string, cases []suite.Case) error {
	usable := slices.DeleteFunc(slices.Clone(cases), func(c suite.Case) bool { return len(c.Manifests) > 0 || c.Skip != "" })
	if len(usable) == 0 {
		return errors.New("each case has manifests of its own or is skipped")
	}
	request := &usable[0].Request
	if i := slices.IndexFunc(usable, func(c suite.Case) bool { return c.Expect.Decision == suite.Denied }); i >= 0 {
		request = &usable[i].Request
	}
	for _, of := range []struct {
		source *suite.Manifest
		pane   *string
	}{{request.Object, &e.Panes.Object}, {request.OldObject, &e.Panes.OldObject}} {
		if of.source == nil {
			continue
		}
		texts, err := read(files, directory, of.source)
		if err != nil {
			return err
		}
		*of.pane = strings.Join(texts, "")
	}
	rest := *request
	rest.Object, rest.OldObject = nil, nil
	text, err := json.Marshal(rest)
	if err != nil || string(text) == "{}" {
		return err
	}
	text, err = yaml.JSONToYAML(text)
	e.Panes.Request = string(text)
	return err
}

// read returns the texts of the documents of a source.
func read(files fs.FS, directory string, source *suite.Manifest) ([]string, error) {
	if source.Path == "" {
		text, err := yaml.JSONToYAML(source.Inline)
		return []string{string(text)}, err
	}
	found, err := fs.Glob(files, path.Join(directory, source.Path))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no file %s", source.Path)
	}
	var texts []string
	for _, file := range found {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// firstSentence returns the first sentence of the comment at the start of a text.
func firstSentence(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		comment, found := strings.CutPrefix(line, "#")
		if !found {
			break
		}
		words = append(words, strings.Fields(comment)...)
	}
	for i, word := range words {
		if strings.HasSuffix(word, ".") {
			return strings.TrimSuffix(strings.Join(words[:i+1], " "), ".")
		}
	}
	return strings.Join(words, " ")
}
