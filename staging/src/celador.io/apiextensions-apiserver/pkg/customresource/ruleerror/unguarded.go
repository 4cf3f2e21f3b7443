// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror

import (
	"fmt"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// listed is how many paths of one rule a warning names.
const listed = 3

// Paths returns a text for warnings that names the paths of the first values.
func Paths(values []ruleschema.UnsetValue) string {
	var texts []string
	for _, value := range values {
		text := rulepath.Path{{Name: value.Variable}}.Join(value.Path).String()
		if value.Shared != "" {
			text += fmt.Sprintf(" in %s.%s", schemaexpression.Variables, value.Shared)
		}
		texts = append(texts, text)
	}
	return List(texts, listed, " and ", "")
}

// GuardAdvice returns advice on how an expression reads a value that may be unset.
func GuardAdvice(value ruleschema.UnsetValue) string {
	const advice = "Read such a value with ?, as in self.?a or self.labels[?'a'], which gives an optional, or ask before with has(...), or with 'a' in self.labels for the keys of maps"
	expression := value.Variable
	for i, step := range value.Path {
		name, ok := apiservercel.Escape(step.Name)
		if step.Each || !ok {
			return advice
		}
		if i == value.First {
			name = "?" + name
		}
		expression += "." + name
	}
	return fmt.Sprintf("%s, here with %s", advice, expression)
}
