// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features defines the feature gates of custom resources that Kubernetes does not have.
// Importing it adds them to the process-wide feature gate, and so to `--feature-gates`. They are
// alpha in 1.37 and off by default. A server that emulates an earlier version does not know them.
package features

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

const (
	// CustomResourceConversionRules enables the conversion strategy ConversionRules and
	// spec.conversion.converters of CustomResourceDefinitions: CEL expressions that convert custom
	// resources between versions. While it is off, converters are dropped from
	// CustomResourceDefinitions that do not have them yet, and the strategy is invalid unless the
	// CustomResourceDefinition has it already.
	CustomResourceConversionRules featuregate.Feature = "CustomResourceConversionRules"

	// CustomResourceDefaultExpressions enables x-kubernetes-default in the schemas of
	// CustomResourceDefinitions: CEL expressions that set unset fields of custom resources. While
	// it is off, x-kubernetes-default is dropped from CustomResourceDefinitions that do not have it
	// yet, and sets nothing.
	CustomResourceDefaultExpressions featuregate.Feature = "CustomResourceDefaultExpressions"
)

// gates holds the stages of every gate by Kubernetes version, for `--emulated-version`.
var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	CustomResourceConversionRules: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
	CustomResourceDefaultExpressions: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
}

func init() {
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.AddVersioned(gates))
}
