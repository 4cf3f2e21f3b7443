// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

var (
	changeKey   = regexp.MustCompile(`^[a-zA-Z]\w+`)
	changeIndex = regexp.MustCompile(`^\[\d+\]`)
)

// changeField applies a change such as spec.containers.[0].image=nginx to an object, as the runner of Kubescape's
// library does, including its restrictions: lists do not grow by one item, and keys cannot contain dots. It
// returns the path of the field, which is empty if the runner loses the change. Errors are those that end the runner.
func changeField(object map[string]any, change string) (path string, err error) {
	field, text, _ := strings.Cut(change, "=")
	if strings.Count(change, "=") != 1 {
		return "", errors.New("want path=value with exactly one =")
	}
	steps := strings.Split(field, ".")
	last := len(steps) - 1
	var current any = object
	replace := func(any) {} // puts another list in the place of the current one
	lost := false
	for _, step := range steps[:last] {
		switch {
		case changeIndex.MatchString(step):
			index, err := listIndex(step)
			if err != nil {
				return "", err
			}
			list, ok := current.([]any)
			if !ok {
				// The runner goes on with a list that is not a part of the object.
				list, lost, replace = nil, true, func(any) {}
			}
			if len(list) < index {
				list = append(list, make([]any, index-len(list)+1)...)
				replace(list)
			}
			if index >= len(list) {
				return "", fmt.Errorf("%s has no item %s: it has %d items", strings.Join(steps[:slices.Index(steps, step)], "."), step, len(list))
			}
			if list[index] == nil {
				list[index] = map[string]any{}
			}
			current, replace = list[index], func(value any) { list[index] = value }
			path += step
		case changeKey.MatchString(step):
			fields, ok := current.(map[string]any)
			if !ok {
				return "", fmt.Errorf("%s is not a field of an object", step)
			}
			if _, found := fields[step]; !found {
				fields[step] = map[string]any{}
				if _, err := strconv.Atoi(steps[slices.Index(steps, step)+1]); err == nil {
					fields[step] = []any{}
				}
			}
			current, replace = fields[step], func(value any) { fields[step] = value }
			path = joined(path, step)
		default:
			return "", fmt.Errorf("%q is neither a key of two or more letters, digits and _ nor an index such as [0]", step)
		}
	}
	value := changeValue(text)
	switch current := current.(type) {
	case map[string]any:
		key := steps[last]
		if changeIndex.MatchString(key) {
			index, err := listIndex(key)
			if err != nil {
				return "", err
			}
			key = strconv.Itoa(index)
		}
		current[key] = value
		path = joined(path, key)
	case []any:
		index, err := listIndex(steps[last])
		if err != nil {
			return "", err
		}
		if index >= len(current) {
			return "", fmt.Errorf("%s has no item %s: it has %d items", strings.Join(steps[:last], "."), steps[last], len(current))
		}
		current[index] = value
		path += steps[last]
	default:
		return "", fmt.Errorf("%s is neither an object nor a list", strings.Join(steps[:last], "."))
	}
	if lost {
		path = ""
	}
	return path, nil
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// listIndex returns the number of an index such as [0].
func listIndex(step string) (int, error) {
	digits, found := strings.CutPrefix(step, "[")
	digits, closed := strings.CutSuffix(digits, "]")
	index, err := strconv.ParseUint(digits, 10, 16)
	if !found || !closed || err != nil {
		return 0, fmt.Errorf("%q is not an index of a list such as [0]", step)
	}
	return int(index), nil
}

// changeValue returns the value of a text: the value of the JSON that it is, or else the text.
func changeValue(text string) any {
	var value any
	if kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &value) != nil {
		return text
	}
	return value
}
