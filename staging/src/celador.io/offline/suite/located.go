// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// strictError matches API errors about fields of an object that its type does not have, or that are
// set twice.
var strictError = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)

// hoisted matches the beginning of a field path in errors about the schema of a
// CustomResourceDefinition. If all versions have the same schema, Kubernetes moves it to
// spec.validation before it validates the object, so the path does not exist in the manifest.
var hoisted = regexp.MustCompile(`^spec\.validation\b`)

// maxCauses is the maximum number of fields of an object for which located returns errors. Finding
// a position takes time, and nobody reads more.
const maxCauses = 100

// located splits an API error about a document's object into errors with positions: one for each
// field that it names, at most maxCauses. If it names none, the result is an error with the
// position of the document.
func located(document *manifest.Document, err error) error {
	var errs []error
	for _, match := range strictError.FindAllStringSubmatch(err.Error(), maxCauses) {
		errs = append(errs, document.Errorf(match[2], "%s field", match[1]))
	}
	if mismatch := document.MismatchError(err); mismatch != nil && len(errs) == 0 {
		return mismatch
	}
	var status apierrors.APIStatus
	if len(errs) == 0 && errors.As(err, &status) && status.Status().Details != nil {
		causes := status.Status().Details.Causes
		for _, cause := range causes[:min(len(causes), maxCauses)] {
			errs = append(errs, document.Errorf(hoisted.ReplaceAllString(cause.Field, "spec.versions[0].schema"), "%s", withoutExpression(cause.Message)))
		}
		if more := len(causes) - maxCauses; more > 0 {
			errs = append(errs, document.Errorf("", "%d more fields are invalid", more))
		}
	}
	if len(errs) == 0 {
		return document.Errorf("", "%v", err)
	}
	return errors.Join(errs...)
}

// withoutExpression removes the expression in quotes from the beginning of the message of a CEL
// error, because the message also shows the line with the mistake.
func withoutExpression(message string) string {
	const prefix = "Invalid value: "
	text, found := strings.CutPrefix(message, prefix)
	if !found || !strings.Contains(message, "ERROR: <input>:") {
		return message
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return message
	}
	return prefix + strings.TrimPrefix(text[len(quoted):], ": ")
}

// Locate adds the positions of fields to an error of cluster.New or cluster.Base.Restore. documents
// are the documents of the objects that were added to the cluster, in the same order.
func Locate(err error, documents []*manifest.Document) error {
	var errs []error
	for _, err := range manifest.Errors(err) {
		var invalid *cluster.ObjectError
		if errors.As(err, &invalid) && invalid.Index < len(documents) {
			errs = append(errs, located(documents[invalid.Index], invalid.Err))
		} else {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// refused returns the error for a request that the cluster cannot handle, because no client could
// send it. The error has the position of the field in the object or the options if it is about one,
// and else that of the request.
func (c *testCase) refused(suite *manifest.Document, err error) error {
	document := c.object
	if strings.HasPrefix(err.Error(), "options: ") {
		if raw, marshalErr := json.Marshal(c.spec.Request.Options); marshalErr == nil {
			return located(suite.Field(c.path+".request.options", raw), err)
		}
	}
	if strings.HasPrefix(err.Error(), "oldObject: ") {
		document = c.oldObject
	}
	if document != nil && (strictError.MatchString(err.Error()) || document.MismatchError(err) != nil) {
		return located(document, err)
	}
	return suite.Errorf(c.path+".request", "%v", err)
}
