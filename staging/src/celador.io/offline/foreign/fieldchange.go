// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"

	"celador.io/offline/manifest"
)

var (
	changeKey   = regexp.MustCompile(`^[a-zA-Z]\w*`)
	changeIndex = regexp.MustCompile(`^\[(\d{1,4})\]$`)
)

// changeField applies a change such as spec.containers.[0].image=nginx to an object, as the runner
// of Kubescape's library does: it creates objects and lists that are missing or null, and makes
// lists longer where an index requires it. Keys cannot contain dots. It returns the path of the
// field. Where the runner would fail, it returns an error.
func changeField(object map[string]any, change string) (path string, err error) {
	field, text, _ := strings.Cut(change, "=")
	if strings.Count(change, "=") != 1 {
		return "", errors.New("want path=value with exactly one =")
	}
	steps := strings.Split(field, ".")
	for _, step := range steps {
		if !changeKey.MatchString(step) && !changeIndex.MatchString(step) {
			return "", fmt.Errorf("%q is neither a key that begins with a letter nor an index such as [0]", step)
		}
	}
	if _, err := changed(object, "the object", steps, changeValue(text)); err != nil {
		return "", err
	}
	for _, step := range steps {
		if changeIndex.MatchString(step) {
			path += step
		} else {
			path = manifest.Member(path, step)
		}
	}
	return path, nil
}

// changed sets the value at the path that steps form below current, and returns the changed
// current. path is the path of current, for errors. Objects are changed in place, and lists that
// get longer are copied.
func changed(current any, path string, steps []string, value any) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	step := steps[0]
	index, isIndex := listIndex(step)
	if current == nil && isIndex {
		current = []any{}
	} else if current == nil {
		current = map[string]any{}
	}
	below := strings.TrimPrefix(path+"."+step, "the object.")
	switch current := current.(type) {
	case map[string]any:
		if isIndex {
			if len(steps) > 1 {
				return nil, fmt.Errorf("%s is an object, and %s an index of a list", path, step)
			}
			step = strconv.Itoa(index)
		}
		child, err := changed(current[step], below, steps[1:], value)
		current[step] = child
		return current, err
	case []any:
		if !isIndex {
			return nil, fmt.Errorf("%s is a list, and %s not an index such as [0]", path, step)
		}
		if missing := index + 1 - len(current); missing > 0 {
			current = append(current, make([]any, missing)...)
		}
		child, err := changed(current[index], below, steps[1:], value)
		current[index] = child
		return current, err
	}
	return nil, fmt.Errorf("%s is neither an object nor a list", path)
}

// listIndex returns the number in a step such as [0]. isIndex is false for other steps.
func listIndex(step string) (index int, isIndex bool) {
	match := changeIndex.FindStringSubmatch(step)
	if match == nil {
		return 0, false
	}
	index, err := strconv.Atoi(match[1])
	return index, err == nil
}

// changeValue returns the value that a text stands for: its JSON value if it is JSON, and otherwise
// the text itself.
func changeValue(text string) any {
	var value any
	if kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &value) != nil {
		return text
	}
	return value
}
