// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package features defines Celador's feature gates, except those of custom resources, which
// celador.io/apiextensions-apiserver defines. Importing it adds all of them to the process-wide
// feature gate of kube-apiserver, and so to `--feature-gates`.
package features

import (
	"fmt"
	"slices"

	"celador.io/admission/policyspec"
	_ "celador.io/apiextensions-apiserver/pkg/features"
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

// Features of KEP-3488 that Kubernetes has not shipped (alpha, off by default). While a gate is
// off, its field is dropped from objects that do not have it yet, and has no effect in objects that
// do.
const (
	// ValidatingAdmissionPolicySingleton ("Singleton policies") lets a policy with
	// spec.policyType Singleton apply without a binding.
	ValidatingAdmissionPolicySingleton featuregate.Feature = policyspec.Singleton

	// ValidatingAdmissionPolicyValidationFailurePolicy ("Failure Policy") lets
	// spec.validations[].failurePolicy override the failurePolicy of the policy.
	ValidatingAdmissionPolicyValidationFailurePolicy featuregate.Feature = policyspec.ValidationFailurePolicy

	// ValidatingAdmissionPolicyFallbackBinding ("Exclude and default matching") lets a binding with
	// spec.bindingType Fallback apply only where no other binding of the policy does.
	ValidatingAdmissionPolicyFallbackBinding featuregate.Feature = policyspec.FallbackBinding

	// AdmissionPolicyTypeEnforcement ("Type safety") keeps a policy with spec.typeChecking Enforced
	// from deciding while it has type errors. Requests are then subject to its failurePolicy.
	AdmissionPolicyTypeEnforcement featuregate.Feature = policyspec.TypeEnforcement
)

// MutatingAdmissionPolicyInlineExpressions (KEP-3962, alpha, off by default) enables features of
// that proposal that Kubernetes has not shipped: in spec.mutations[], the fields expression,
// condition, message, reason and reinvocationPolicy, and the patch types JSONMergePatch and
// StrategicMergePatch. While it is off, the fields are dropped from objects that have none of them
// yet, and have no effect in objects that do.
const MutatingAdmissionPolicyInlineExpressions featuregate.Feature = policyspec.InlineExpressions

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
