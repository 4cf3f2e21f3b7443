// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/expression"
	"celador.io/admission/mutating"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	policyinformers "celador.io/client-go/informers/admissionregistration/v1"
)

// Mutating returns the kind MutatingAdmissionPolicy. The compiler should be that of the
// admission plugin, whose programs it shares.
func Mutating(client clientset.Interface, compiler *expression.Compiler, features mutating.Features) *Kind {
	k := &Kind{
		name:         "MutatingAdmissionPolicy",
		informer:     policyinformers.NewMutatingAdmissionPolicyInformer(client, 0, cache.Indexers{}),
		enforceTypes: features.TypeEnforcement,
	}
	k.view = func(object any) *policy {
		p := object.(*v1.MutatingAdmissionPolicy)
		return &policy{
			ObjectMeta:       &p.ObjectMeta,
			kind:             k,
			paramKind:        p.Spec.ParamKind,
			matchConstraints: p.Spec.MatchConstraints,
			typeChecking:     p.Spec.TypeChecking,
			status:           v1.ValidatingAdmissionPolicyStatus(p.Status),
			check:            func(c *typecheck.Checker) *typecheck.Result { return c.CheckMutating(p) },
			compile:          func() []error { return mutating.Errors(compiler, features, p) },
		}
	}
	k.patch = func(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) error {
		_, err := client.AdmissionregistrationV1().MutatingAdmissionPolicies().Patch(ctx, name, patchType, data, options, "status")
		return err
	}
	return k
}
