// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"celador.io/offline/manifest"
)

// strictError matches the errors of the API about fields that it does not know or finds twice.
var strictError = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)

// located returns an error of the API about the object of a document, with the position of each field that it names.
func located(document *manifest.Document, err error) error {
	var errs []error
	for _, match := range strictError.FindAllStringSubmatch(err.Error(), -1) {
		errs = append(errs, document.Errorf(match[2], "%s field", match[1]))
	}
	var status apierrors.APIStatus
	if len(errs) == 0 && errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			errs = append(errs, document.Errorf(cause.Field, "%s", cause.Message))
		}
	}
	if len(errs) == 0 {
		return document.Errorf("", "%v", err)
	}
	return errors.Join(errs...)
}

// refused returns the error of a request that no client can send. Errors about fields have the position in the
// object of the request, others the position of the request.
func (c *testCase) refused(suite *manifest.Document, err error) error {
	if text := err.Error(); strictError.MatchString(text) {
		document := c.object
		if strings.HasPrefix(text, "oldObject: ") {
			document = c.oldObject
		}
		if document != nil {
			return located(document, err)
		}
	}
	return suite.Errorf(c.path+".request", "%v", err)
}
