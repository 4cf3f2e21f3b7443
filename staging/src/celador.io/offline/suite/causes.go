// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/offline/cluster"
)

// denialPrefix matches the server's text before the message of a denial: the policy and the
// binding.
var denialPrefix = regexp.MustCompile(`^(ValidatingAdmissionPolicy|policy) ['"][^'"]*['"]( with binding '[^']*')? denied request: `)

// checkCauses compares the causes of a rejection with the field causes of the expectation.
func (c *checker) checkCauses(want []Cause, response *cluster.Response) {
	var found []metav1.StatusCause
	if response.Status != nil && response.Status.ErrStatus.Details != nil {
		found = response.Status.ErrStatus.Details.Causes
	}
	var wanted, got []string
	for _, cause := range want {
		wanted = append(wanted, cause.String())
	}
	equal := len(want) == len(found)
	for i, cause := range found {
		actual := Cause{Field: cause.Field, Message: denialPrefix.ReplaceAllString(cause.Message, "")}
		got = append(got, actual.String())
		equal = equal && want[i].Field == actual.Field && (want[i].Message == "" || want[i].Message == actual.Message)
	}
	if !equal {
		c.fail("causes", listed(wanted), listed(got))
	}
}

// String returns the cause as mismatches show it.
func (c Cause) String() string {
	if c.Field == "" {
		return fmt.Sprintf("%q", c.Message)
	}
	return fmt.Sprintf("%s: %q", c.Field, c.Message)
}

func listed(texts []string) string {
	if len(texts) == 0 {
		return "no causes"
	}
	return strings.Join(texts, ", ")
}
