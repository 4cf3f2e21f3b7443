// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// locate sets the fields of errors of the schema that kube-openapi returns without a path: those
// about formats of numbers, and those of allOf, anyOf, oneOf, not and dependencies. Kubernetes
// gives them the path of the validated value, which is <nil> for an object and "status" for a
// status. Their messages have the path from there.
func locate(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		path, ok := pathIn(err.Detail)
		switch {
		case !ok || err.Type != field.ErrorTypeInvalid || path == "":
		case err.Field == noPath:
			err.Field = path
		case err.Field == "status":
			err.Field = "status." + path
		}
	}
	return errs
}

// noPath is the text of a nil path.
var noPath = (*field.Path)(nil).String()

// pathIn returns the path in a message of kube-openapi. It returns an empty path for the validated
// value.
func pathIn(message string) (path string, ok bool) {
	if found := numberMessage.FindStringSubmatch(message); found != nil {
		return strings.TrimPrefix(found[1], "."), true
	}
	quoted, err := strconv.QuotedPrefix(message)
	if err != nil || !compositeMessage.MatchString(message[len(quoted):]) {
		return "", false
	}
	path, err = strconv.Unquote(quoted)
	return strings.TrimPrefix(path, "."), err == nil
}

var (
	numberMessage    = regexp.MustCompile(`(?s)^(?:Checked|MultipleOf|Maximum boundary|Minimum boundary) value must be of type \w* ?(?:with format \w+|\(default format\)) in (.*)$`)
	compositeMessage = regexp.MustCompile(`^ (?:must validate (?:at least one schema \(anyOf\)|one and only one schema \(oneOf\)|all the schemas \(allOf\))|must not validate the schema \(not\)|has a dependency on )`)
)
