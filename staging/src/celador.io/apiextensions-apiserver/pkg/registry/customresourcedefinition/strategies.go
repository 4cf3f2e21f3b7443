// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// nameStrategies changes Kubernetes' error for an unknown conversion strategy: it adds
// ConversionRules to the strategies that the error lists. If the feature gate of ConversionRules is
// off, only the error for ConversionRules itself is changed, and names the gate.
func nameStrategies(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if err.Type != field.ErrorTypeNotSupported || err.Field != "spec.conversion.strategy" {
			continue
		}
		switch {
		case utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceConversionRules):
			all := []string{string(v1.ConversionRules), string(upstream.NoneConverter), string(upstream.WebhookConverter)}
			err.Detail = field.NotSupported(nil, err.BadValue, all).Detail
		case fmt.Sprint(err.BadValue) == string(v1.ConversionRules):
			err.Detail += fmt.Sprintf(", and %q if the feature gate %s is on", v1.ConversionRules, features.CustomResourceConversionRules)
		}
	}
	return errs
}
