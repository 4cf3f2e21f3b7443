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

// hoisted matches the field that Kubernetes names in errors about the schema of a
// CustomResourceDefinition whose versions have one schema.
var hoisted = regexp.MustCompile(`^spec\.validation\b`)

// maxCauses is the number of fields of an object for which located returns errors. To find their
// positions takes time, and nobody reads more.
const maxCauses = 100

// located returns an error of the API about the object of a document, with the position of each
// field that it names, up to maxCauses.
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

// withoutExpression removes the quoted value of a field from the message of a CEL error, which
// quotes the line with the mistake again.
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

// Locate returns an error of cluster.New or cluster.Base.Restore with the positions of the fields.
// documents are those of the objects that were added, in their order.
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
