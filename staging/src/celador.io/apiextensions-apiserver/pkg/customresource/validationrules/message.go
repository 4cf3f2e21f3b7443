// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/schemaexpression"
)

// message returns the text of a messageExpression without surrounding space. It returns an empty
// text if the result cannot be used, and an error if no more rules may be evaluated.
func (e *evaluation) message(n *node, program *schemaexpression.Program, path *field.Path, in *schemaexpression.Activation) (string, *field.Error) {
	result := program.Evaluate(e.ctx, in)
	switch {
	case !result.HasCost:
		return "", field.InternalError(path, fmt.Errorf("runtime cost could not be calculated for messageExpression: %q", program.Source()))
	case !e.spend(result.Cost):
		return "", field.Invalid(path, n.schema.Type, "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run")
	case result.Err != nil && strings.HasPrefix(result.Err.Error(), costLimitExceeded):
		return "", field.Invalid(path, n.schema.Type, fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", program.Source()))
	}
	text, err := usable(result)
	if err != nil {
		klog.FromContext(e.ctx).V(2).Info("Using the message of a validation rule instead of its messageExpression", "field", path.String(), "err", err)
		return "", nil
	}
	return text, nil
}

// usable returns the text to which a messageExpression evaluated, or an error with the reason why
// it cannot be used.
func usable(result schemaexpression.EvaluationResult) (string, error) {
	if result.Err != nil {
		return "", fmt.Errorf("messageExpression evaluation failed due to: %w", result.Err)
	}
	text, ok := result.Value.Value().(string)
	if !ok {
		return "", errors.New("messageExpression failed to convert to string")
	}
	text = strings.TrimSpace(text)
	switch {
	case len(text) > celconfig.MaxEvaluatedMessageExpressionSizeBytes:
		return "", fmt.Errorf("messageExpression beyond allowable length of %d", celconfig.MaxEvaluatedMessageExpressionSizeBytes)
	case strings.Contains(text, "\n"):
		return "", errors.New("messageExpression should not contain line breaks")
	case text == "":
		return "", errors.New("messageExpression should evaluate to a non-empty string")
	}
	return text, nil
}
