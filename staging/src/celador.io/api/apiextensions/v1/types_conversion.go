// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// CustomResourceConversion defines how custom resources are converted between
// versions.
type CustomResourceConversion struct {
	// strategy is how objects are converted:
	//
	// "None" changes the apiVersion and nothing else.
	//
	// "Webhook" sends the objects to a webhook. It requires webhook, and
	// preserveUnknownFields must be false.
	//
	// "ConversionRules" evaluates the CEL expressions in converters. Alpha: requires
	// the feature gate CustomResourceConversionRules.
	Strategy ConversionStrategyType `json:"strategy" protobuf:"bytes,1,name=strategy"`

	// webhook is the webhook that converts objects. Required for the strategy
	// "Webhook".
	// +optional
	Webhook *WebhookConversion `json:"webhook,omitempty" protobuf:"bytes,2,opt,name=webhook"`

	// converters convert objects from one version to another, for the strategy
	// "ConversionRules". For each ordered pair of versions there must be a converter
	// or one shortest chain of them. Alpha: requires the feature gate
	// CustomResourceConversionRules.
	// +optional
	// +listType=atomic
	// +k8s:conversion-gen=false
	Converters []Converter `json:"converters,omitempty" protobuf:"bytes,1000,rep,name=converters"`

	// tables are lookup tables for the rules and variables of all converters. An
	// expression reads a table as 'tables.<name>[key]', and in the other direction as
	// 'inverted.<name>[value]'. Alpha: requires the feature gate
	// CustomResourceConversionRules.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +k8s:conversion-gen=false
	Tables []ConversionTable `json:"tables,omitempty" protobuf:"bytes,1001,rep,name=tables"`
}

// ConversionStrategyType is how custom resources are converted between versions.
type ConversionStrategyType string

const (
	// NoneConverter changes the apiVersion only.
	NoneConverter ConversionStrategyType = "None"
	// WebhookConverter sends objects to a webhook.
	WebhookConverter ConversionStrategyType = "Webhook"
	// ConversionRules evaluates the CEL expressions of spec.conversion.converters.
	ConversionRules ConversionStrategyType = "ConversionRules"
)

// Without the tag, the conversion generator would convert Converter to
// conversion.Converter of apimachinery.

// Converter converts custom resources from one version to another. Fields that both
// versions have keep their values unless a rule sets them. Afterwards, fields that
// toVersion lacks are removed.
// +k8s:conversion-gen=false
type Converter struct {
	// fromVersion is the name of the version of the objects. Required.
	FromVersion string `json:"fromVersion" protobuf:"bytes,1,opt,name=fromVersion"`

	// toVersion is the name of the version to convert to. Required.
	ToVersion string `json:"toVersion" protobuf:"bytes,2,opt,name=toVersion"`

	// rules set fields of the converted object. Every rule reads the object in
	// fromVersion. They are applied in order, and a converter without rules keeps all
	// fields that both versions have.
	// +optional
	// +listType=atomic
	Rules []ConversionRule `json:"rules,omitempty" protobuf:"bytes,3,rep,name=rules"`

	// variables are values that the rules share. An expression reads a variable as
	// 'variables.<name>'. A variable is evaluated when an expression first reads it, at
	// most once for each object, and may read the variables before it.
	// +optional
	// +listType=atomic
	Variables []ConversionVariable `json:"variables,omitempty" protobuf:"bytes,4,rep,name=variables"`
}

// ConversionVariable is a value that the rules of a converter share.
type ConversionVariable struct {
	// name is the name of the variable, a CEL identifier. It must be unique among the
	// variables of the converter. Required.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// expression is the CEL expression whose result is the value of the variable.
	// 'self' is the whole object in fromVersion. The variable has the type of the
	// expression. Required.
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}

// ConversionTable is a lookup table of strings. For example, with this table a rule
// from v1 to v2 reads 'tables.sizes[self.spec.size]', and the rule back reads
// 'inverted.sizes[self.spec.size]':
//
//	name: sizes
//	map: {small: S, large: L}
type ConversionTable struct {
	// name is the name of the table, a CEL identifier. Required.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// map holds the entries of the table. Two keys must not have the same value if an
	// expression reads the table inverted. Required.
	Map map[string]string `json:"map" protobuf:"bytes,2,rep,name=map"`
}

// ConversionRule sets a field of a converted object. For example, this rule turns a
// single address into a list:
//
//	scope: spec.endpoints[*]
//	field: addresses
//	rule: "has(self.address) ? [self.address] : []"
type ConversionRule struct {
	// field is the path of the field in toVersion, relative to scope, such as
	// 'spec.addresses' or "metadata.annotations['example.com/zone']". Defaults to the
	// value at scope. Of metadata, a rule may set only labels and annotations. The
	// path must not index lists.
	// +optional
	Field string `json:"field,omitempty" protobuf:"bytes,1,opt,name=field"`

	// scope is the path of the values that the rule is evaluated for. '[*]' matches
	// every item of a list and every value of a map: with 'spec.endpoints[*]' the rule
	// is evaluated once for each endpoint. Defaults to the whole object.
	// +optional
	Scope string `json:"scope,omitempty" protobuf:"bytes,2,opt,name=scope"`

	// rule is a CEL expression that returns the value of the field. 'self' is the
	// value at scope of the object in fromVersion, 'root' the whole object. 'index' is
	// the index of the list item, or the key of the map entry, that the last '[*]' of
	// scope stands for. If the result is null or
	// optional.none(), the field is left unset. The fields of an object that the
	// expression constructs, such as 'Object.spec{size: 3}', are merged into the
	// field; lists and maps replace its value. Required.
	Rule string `json:"rule" protobuf:"bytes,3,opt,name=rule"`
}
