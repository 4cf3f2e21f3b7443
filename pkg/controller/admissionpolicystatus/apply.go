// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "celador.io/api/admissionregistration/v1"
)

// apply writes the status that is based on the given state of the policy, and returns
// whether it did: when the policy has changed since, the change causes another check.
func (c *Controller) apply(ctx context.Context, p *policy, status statusConfiguration) (bool, error) {
	patch, err := json.Marshal(policyConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: p.kind.name},
		Metadata: preconditions{Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion},
		Status:   status,
	})
	if err != nil {
		return false, err
	}
	err = p.kind.patch(ctx, p.Name, types.ApplyYAMLPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager, Force: new(true)})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("writing the status: %w", err)
	}
	return true, nil
}

// policyConfiguration is what server-side apply is to bring about. The generated apply
// configurations cannot say that a list is empty, so whoever else owns it would keep it.
type policyConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        preconditions       `json:"metadata"`
	Status          statusConfiguration `json:"status"`
}

type preconditions struct {
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

type statusConfiguration struct {
	ObservedGeneration      int64                       `json:"observedGeneration"`
	TypeChecking            typeCheckingConfiguration   `json:"typeChecking"`
	Conditions              []metav1.Condition          `json:"conditions"`
	ObservedCustomResources []v1.ObservedCustomResource `json:"observedCustomResources,omitempty"`
}

type typeCheckingConfiguration struct {
	ExpressionWarnings []v1.ExpressionWarning `json:"expressionWarnings"`
}
