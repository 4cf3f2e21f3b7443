// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/types"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
)

// Verdicts tells a kind's engine what checks of its policies find. The zero value tells
// nobody. Safe for concurrent use once it is set.
type Verdicts struct {
	// Kind is the name of the kind in manifests.
	Kind   string
	Engine VerdictStore
}

// VerdictStore is where an engine keeps verdicts.
type VerdictStore interface {
	SetVerdict(name string, uid types.UID, generation int64, err error)
	ForgetVerdict(name string)
}

var _ kubeadmission.PolicyCheckListener = &Verdicts{}

// PolicyChecked implements kubeadmission.PolicyCheckListener.
func (v *Verdicts) PolicyChecked(kind, name string, uid types.UID, generation int64, err error) {
	if v.Engine != nil && kind == v.Kind {
		v.Engine.SetVerdict(name, uid, generation, err)
	}
}

// PolicyGone implements kubeadmission.PolicyCheckListener.
func (v *Verdicts) PolicyGone(kind, name string) {
	if v.Engine != nil && kind == v.Kind {
		v.Engine.ForgetVerdict(name)
	}
}
