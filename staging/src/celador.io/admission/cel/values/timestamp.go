// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Timestamp is the Go type of times that expressions read as CEL timestamps, such as
// request.time. Expressions read other Go types of times, such as metav1.Time, as strings.
type Timestamp struct {
	// Time is in UTC, because CEL's functions without a time zone take the zone of the value.
	Time metav1.MicroTime
}

var timestampType = reflect.TypeFor[Timestamp]()

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) { return t.Time.MarshalJSON() }
