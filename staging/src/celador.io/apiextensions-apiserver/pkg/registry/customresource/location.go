// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// locate sets the fields of schema errors to the paths in their messages. kube-openapi returns some
// errors without a path: those about formats of numbers, and those of allOf, anyOf, oneOf, not and
// dependencies. In Kubernetes, their field is only that of the validated value, <nil> for an object
// and "status" for a status, while their messages contain the path from there.
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

// noPath is the text of a nil path, as such errors have it.
var noPath = (*field.Path)(nil).String()

// pathIn returns the path in a message of kube-openapi, from the validated value on. The path is
// empty for the validated value itself. ok is false if the message has no path.
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
