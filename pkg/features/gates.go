// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features holds Celador's feature gates. Importing it adds them to
// kube-apiserver's process-wide gate, where `--feature-gates` finds them.
package features

import (
	"fmt"
	"slices"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// ValidatingAdmissionPolicy (KEP-3488, GA, on by default) serves the kinds
// ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding and enforces
// them. Off, neither kind is served and the admission plugin lets all through.
const ValidatingAdmissionPolicy featuregate.Feature = "ValidatingAdmissionPolicy"

// AdmissionWebhookMatchConditions (KEP-3716, GA, on by default) lets webhooks have
// matchConditions. Off, they are dropped from configurations that have none yet, and
// have no effect in those that do. Kubernetes locked the gate on and took it away.
const AdmissionWebhookMatchConditions featuregate.Feature = "AdmissionWebhookMatchConditions"

// Parts of KEP-3488 that Kubernetes has not shipped (alpha, off by default). Off,
// the field of a gate is dropped from objects that do not have it yet, and has no
// effect on those that do.
const (
	// ValidatingAdmissionPolicySingleton ("Singleton policies") lets a policy with
	// spec.policyType Singleton take effect without a binding.
	ValidatingAdmissionPolicySingleton featuregate.Feature = "ValidatingAdmissionPolicySingleton"

	// ValidatingAdmissionPolicyValidationFailurePolicy ("Failure Policy") lets
	// spec.validations[].failurePolicy override that of the policy.
	ValidatingAdmissionPolicyValidationFailurePolicy featuregate.Feature = "ValidatingAdmissionPolicyValidationFailurePolicy"

	// ValidatingAdmissionPolicyFallbackBinding ("Exclude and default matching") lets
	// a binding with spec.bindingType Fallback apply only where no other does.
	ValidatingAdmissionPolicyFallbackBinding featuregate.Feature = "ValidatingAdmissionPolicyFallbackBinding"

	// AdmissionPolicyTypeEnforcement ("Type safety") lets a policy with
	// spec.typeChecking Enforced refuse what it cannot decide because of type errors.
	AdmissionPolicyTypeEnforcement featuregate.Feature = "AdmissionPolicyTypeEnforcement"
)

// MutatingAdmissionPolicyInlineExpressions (KEP-3775, alpha, off by default) is for what
// Kubernetes has not shipped of that proposal: in spec.mutations[], expression, condition,
// message, reason, reinvocationPolicy, and the patch types JSONMergePatch and
// StrategicMergePatch. Off, the fields are dropped from objects that have none of them yet,
// and have no effect on those that do.
const MutatingAdmissionPolicyInlineExpressions featuregate.Feature = "MutatingAdmissionPolicyInlineExpressions"

// gates lists every gate with its stage by Kubernetes version, for `--emulated-version`.
var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	ValidatingAdmissionPolicy: {
		{Version: version.MajorMinor(1, 30), Default: true, PreRelease: featuregate.GA},
	},
	AdmissionWebhookMatchConditions: {
		{Version: version.MajorMinor(1, 27), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MajorMinor(1, 28), Default: true, PreRelease: featuregate.Beta},
		{Version: version.MajorMinor(1, 30), Default: true, PreRelease: featuregate.GA},
	},
	ValidatingAdmissionPolicySingleton: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
	ValidatingAdmissionPolicyValidationFailurePolicy: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
	ValidatingAdmissionPolicyFallbackBinding: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
	AdmissionPolicyTypeEnforcement: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
	MutatingAdmissionPolicyInlineExpressions: {
		{Version: version.MajorMinor(1, 37), Default: false, PreRelease: featuregate.Alpha},
	},
}

func init() {
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.AddVersioned(gates))
}

// Help returns a sorted line for each stable gate, in the form in which
// `--help` lists those that are not stable and leaves these out.
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
