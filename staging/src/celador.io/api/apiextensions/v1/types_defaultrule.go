// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// DefaultRule sets a field that is unset. For example, this rule on the schema of
// 'spec' sets spec.secretName:
//
//	rule: "self.name + '-tls'"
//	field: secretName
type DefaultRule struct {
	// rule is a CEL expression that returns the value of the field. 'self' is the value
	// whose schema the rule belongs to. If the result is null or optional.none(), the
	// field is left unset. Required.
	Rule string `json:"rule" protobuf:"bytes,1,opt,name=rule"`

	// field is the path of the field to set, relative to the value, such as
	// 'resources.limits' or "nodeSelector['example.com/zone']". Defaults to the value
	// itself. The rule is skipped if the parent of the field is unset. The field must
	// have no 'default', and be neither in metadata nor a key of a list. The path must
	// not index lists.
	// +optional
	Field string `json:"field,omitempty" protobuf:"bytes,2,opt,name=field"`
}
