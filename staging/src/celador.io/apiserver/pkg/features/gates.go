// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features defines the feature gates of policies and webhooks that k8s.io/apiserver does
// not have. Importing it adds them to the process-wide feature gate, and so to `--feature-gates`.
package features

import (
	"fmt"
	"slices"

	"celador.io/admission/policyspec"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// ValidatingAdmissionPolicy (KEP-3488, GA, on by default) serves and enforces the kinds
// ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding. While it is off, the server
// serves neither kind and the admission plugin allows all requests.
const ValidatingAdmissionPolicy featuregate.Feature = "ValidatingAdmissionPolicy"

// AdmissionWebhookMatchConditions (KEP-3716, GA, on by default) enables matchConditions of
// webhooks. While it is off, they are dropped from configurations that have none yet, and have no
// effect in configurations that do. Kubernetes locked the gate on and later removed it.
const AdmissionWebhookMatchConditions featuregate.Feature = "AdmissionWebhookMatchConditions"

// The features of KEP-3488, KEP-3775 and KEP-3962 that Kubernetes has not shipped (alpha, off by
// default), as package policyspec describes them. While a gate is off, its fields are dropped from
// objects that do not have one of them yet, and have no effect in objects that do.
const (
	ValidatingAdmissionPolicySingleton               = policyspec.Singleton
	ValidatingAdmissionPolicyValidationFailurePolicy = policyspec.ValidationFailurePolicy
	ValidatingAdmissionPolicyFallbackBinding         = policyspec.FallbackBinding
	MutatingAdmissionPolicySingleton                 = policyspec.MutatingSingleton
	MutatingAdmissionPolicyFallbackBinding           = policyspec.MutatingFallbackBinding
	AdmissionPolicyTypeEnforcement                   = policyspec.TypeEnforcement
	MutatingAdmissionPolicyInlineExpressions         = policyspec.InlineExpressions
)

// AdmissionPolicyLookups (alpha, off by default) lets policies read other objects than those of the
// request, as package policyspec describes. While it is off, its fields are dropped from objects
// that do not have one of them yet, and have no effect in objects that do.
const AdmissionPolicyLookups = policyspec.Lookups

// AdmissionPolicyRequestTime (alpha, off by default) lets expressions of policies read
// request.time, as package policyspec describes. While it is off, the API rejects expressions that
// read request.time in policies that have none yet. Such expressions in stored policies fail.
const AdmissionPolicyRequestTime = policyspec.RequestTime

// AdmissionPolicyCauses (alpha, off by default) lists every denial of validating policies in the
// causes of the response, also for policies without fieldPath. While it is off, fieldPath is
// treated like the fields of the gates above.
const AdmissionPolicyCauses = policyspec.Causes

// AdmissionPolicyExpressionScopes (alpha, off by default) lets validations be evaluated for each
// value of a type or at a path, as package policyspec describes. While it is off, scope is treated
// like the fields of the gates above.
const AdmissionPolicyExpressionScopes = policyspec.ExpressionScopes

// notShipped are the stages of gates that Kubernetes does not have.
var notShipped = featuregate.VersionedSpecs{{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha}}

// gates holds the stages of this package's gates by Kubernetes version, for `--emulated-version`.
var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	ValidatingAdmissionPolicy: {
		{Version: version.MajorMinor(1, 26), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MajorMinor(1, 28), Default: false, PreRelease: featuregate.Beta},
		{Version: version.MajorMinor(1, 30), Default: true, PreRelease: featuregate.GA},
	},
	AdmissionWebhookMatchConditions: {
		{Version: version.MajorMinor(1, 27), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MajorMinor(1, 28), Default: true, PreRelease: featuregate.Beta},
		{Version: version.MajorMinor(1, 30), Default: true, PreRelease: featuregate.GA},
	},
	ValidatingAdmissionPolicySingleton:               notShipped,
	ValidatingAdmissionPolicyValidationFailurePolicy: notShipped,
	ValidatingAdmissionPolicyFallbackBinding:         notShipped,
	MutatingAdmissionPolicySingleton:                 notShipped,
	MutatingAdmissionPolicyFallbackBinding:           notShipped,
	AdmissionPolicyTypeEnforcement:                   notShipped,
	MutatingAdmissionPolicyInlineExpressions:         notShipped,
	AdmissionPolicyLookups:                           notShipped,
	AdmissionPolicyRequestTime:                       notShipped,
	AdmissionPolicyCauses:                            notShipped,
	AdmissionPolicyExpressionScopes:                  notShipped,
}

func init() {
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.AddVersioned(gates))
}

// Help returns a line for each GA gate that is not locked, sorted, in the format in which `--help`
// lists alpha and beta gates. Kubernetes' own list leaves GA gates out.
func Help() []string {
	var lines []string
	for name, stages := range gates {
		last := stages[len(stages)-1]
		if last.PreRelease == featuregate.GA && !last.LockToDefault {
			lines = append(lines, fmt.Sprintf("%s:%s=true|false (GA - default=%t)", basecompatibility.DefaultKubeComponent, name, last.Default))
		}
	}
	slices.Sort(lines)
	return lines
}
