// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// ValidationRules are the validation rules of a schema.
type ValidationRules []ValidationRule

// ValidationRule is a CEL expression that must be true for a value.
type ValidationRule struct {
	// rule is a CEL expression of type bool. The value is invalid if it is false.
	// Required. For example, on the schema of the whole object:
	//
	// 	self.status.actual <= self.spec.maxDesired
	//
	// 'self' is the value whose schema the rule belongs to. Fields of an object are
	// 'self.field', and 'has(self.field)' reports whether one is set; a null counts as
	// unset. Values of a map are 'self[key]', items of a list 'self[index]'. Macros read
	// all of them, as in 'self.items.all(item, item >= 0)'.
	//
	// 'oldSelf' is the value before an update. A rule that reads it is a transition
	// rule: it is evaluated only on updates, where there is an old value. See
	// optionalOldSelf for rules that are evaluated always.
	//
	// Of metadata, only name and generateName can be read, and apiVersion and kind of
	// the object. The same holds for values with x-kubernetes-embedded-resource. Fields
	// that x-kubernetes-preserve-unknown-fields keeps cannot be read unless the schema
	// defines them.
	//
	// A field whose name is not an identifier is written in another way: '__' as
	// '__underscores__', '.' as '__dot__', '-' as '__dash__', '/' as '__slash__', and a
	// reserved word of CEL between underscores. 'x-prop' becomes 'self.x__dash__prop',
	// 'namespace' becomes 'self.__namespace__'. Names with other special characters
	// cannot be read.
	//
	// The type of a list defines its operators. Two lists of x-kubernetes-list-type
	// 'set' or 'map' are equal whatever the order of their items. 'a + b' of sets has
	// the items of a, then those of b that a lacks. 'a + b' of maps has the items of a,
	// replaced by items of b with the same keys, then the other items of b.
	Rule string `json:"rule" protobuf:"bytes,1,opt,name=rule"`

	// message is what users see if the rule is false, on one line. Required if the rule
	// has line breaks. Defaults to 'failed rule: ' and the rule.
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`

	// messageExpression is a CEL expression that returns the message, as a string. It
	// may read what rule reads, and has precedence over message. If it fails, or
	// returns a blank string or one with line breaks, the failure is logged and message
	// is used. For example:
	//
	// 	"must be at most " + string(self.max)
	// +optional
	MessageExpression string `json:"messageExpression,omitempty" protobuf:"bytes,3,opt,name=messageExpression"`

	// reason is the machine-readable reason in the response if the rule is false:
	// "FieldValueInvalid" (the default), "FieldValueForbidden", "FieldValueRequired" or
	// "FieldValueDuplicate". The HTTP status code is that of the first rule that fails.
	// Clients must treat unknown values as "FieldValueInvalid".
	// +optional
	Reason *FieldValueErrorReason `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`

	// fieldPath is the field that the error names, relative to the value, such as
	// '.limits' or ".labels['example.com/zone']". The schema must define it. Items of
	// lists cannot be named. Defaults to the value itself.
	// +optional
	FieldPath string `json:"fieldPath,omitempty" protobuf:"bytes,5,opt,name=fieldPath"`

	// optionalOldSelf evaluates a transition rule even if there is no old value, as for
	// a new object. 'oldSelf' is then an optional, such as in
	// 'oldSelf.orValue(self) == self', and optional.none() if there is no old value. It
	// must not be set unless the rule reads oldSelf.
	// +optional
	OptionalOldSelf *bool `json:"optionalOldSelf,omitempty" protobuf:"bytes,6,opt,name=optionalOldSelf"`
}

// FieldValueErrorReason is the machine-readable reason why a value is invalid.
// +enum
type FieldValueErrorReason string

const (
	// FieldValueRequired means that a required value is missing or empty.
	FieldValueRequired FieldValueErrorReason = "FieldValueRequired"
	// FieldValueDuplicate means that another value that must differ is the same.
	FieldValueDuplicate FieldValueErrorReason = "FieldValueDuplicate"
	// FieldValueInvalid means that the value has a wrong form or is out of range.
	FieldValueInvalid FieldValueErrorReason = "FieldValueInvalid"
	// FieldValueForbidden means that the value is well-formed, but not permitted here.
	FieldValueForbidden FieldValueErrorReason = "FieldValueForbidden"
)
