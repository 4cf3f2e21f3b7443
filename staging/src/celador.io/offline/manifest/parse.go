// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes manifests from YAML and JSON files, and keeps the file and line
// of each field for error messages.
package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	nodes "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// Read returns the documents of a YAML or JSON file, in the file's order. Documents without content
// are left out. Errors have the file and, if known, the line.
func Read(file string) ([]*Document, error) {
	data, err := ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// Parse returns the documents of a file's content, in an encoding that ReadFile accepts. The file
// name is used in errors only.
func Parse(file string, data []byte) ([]*Document, error) {
	var documents []*Document
	var errs []error
	lines := 0 // before the text
	for _, text := range Split(UTF8(data)) {
		document, err := parse(file, text, lines)
		lines += bytes.Count(text, []byte("\n"))
		if err != nil {
			errs = append(errs, err)
		} else if document != nil {
			documents = append(documents, document)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return documents, nil
}

// Split returns the texts of the documents of a file's content, with the lines that separate them.
// Some may have no content. The texts share the memory of data.
func Split(data []byte) [][]byte {
	var texts [][]byte
	start, offset := 0, 0
	for line := range bytes.Lines(data) {
		if isSeparator(line) && offset > start {
			texts, start = append(texts, data[start:offset]), offset
		}
		offset += len(line)
	}
	return append(texts, data[start:])
}

func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// parse returns the document of a text, or nil if it has no content. lines is the number of lines
// before the text in the file.
func parse(file string, text []byte, lines int) (*Document, error) {
	text = withoutJSONEscapes(text)
	decoder := nodes.NewDecoder(bytes.NewReader(text))
	var root nodes.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(file, text, lines, err)
	}
	document := &Document{file: file, lines: lines, node: root.Content[0], place: root.Content[0]}
	if err := decoder.Decode(new(nodes.Node)); !errors.Is(err, io.EOF) {
		return nil, syntaxError(file, text, lines, cmp.Or(err, errNoSeparator))
	}
	if root.Content[0].Tag == "!!null" {
		return nil, nil
	}
	if err := document.check(document.node, ""); err != nil {
		return nil, err
	}
	if size := (aliases{}).below(document.node); size > maxAliased {
		return nil, document.Errorf("", "the aliases stand for more than %d bytes", maxAliased)
	}
	// kubectl decodes YAML with this package, whose scalars are those of YAML 1.1: yes is true.
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, syntaxError(file, text, lines, err)
	}
	document.raw = raw
	return document, nil
}

var errNoSeparator = errors.New("a second document begins without a line ---")

var lineInMessage = regexp.MustCompile(`line (\d+): `)

// syntaxError returns an Error with the message of a YAML parser and the position in the file. The
// parser counts lines from the start of the text, so syntaxError removes the line from the message,
// and adds lines, the number of lines before the text, to it for the position.
func syntaxError(file string, text []byte, lines int, err error) *Error {
	message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	line := 0
	if match := lineInMessage.FindStringSubmatchIndex(message); match != nil {
		line, _ = strconv.Atoi(message[match[2]:match[3]])
		message = message[:match[0]] + message[match[1]:]
	} else {
		line = lineOfControl(text)
	}
	return &Error{Position: Position{File: file, Line: max(line, 1) + lines}, Problem: "not valid YAML: " + strings.TrimSpace(message)}
}

// lineOfControl returns the line of the first character that YAML does not allow, or 0 if there is
// none. The parser does not say where it is.
func lineOfControl(text []byte) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if !utf8.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\r' }) {
			return i + 1
		}
	}
	return 0
}
