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

// strictError matches the errors of the API about fields that it does not know or finds twice.
var strictError = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)

// hoisted matches the beginning of a field that Kubernetes names in errors about a schema, if all
// versions of the CustomResourceDefinition have the same schema.
var hoisted = regexp.MustCompile(`^spec\.validation\b`)

// maxCauses is the maximum number of fields of an object for which located returns errors. Finding
// a position takes time, and nobody reads more.
const maxCauses = 100

// located returns an API error about the object of a document as errors with positions: one for
// each field that it names, at most maxCauses.
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

// withoutExpression removes the quoted expression from the message of a CEL error. The message
// quotes the line with the mistake once more.
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
// are those of the added objects, in their order.
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

// refused returns the error of a request that no client can send. Errors about fields have the
// position in the object or the options of the request, others the position of the request.
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
