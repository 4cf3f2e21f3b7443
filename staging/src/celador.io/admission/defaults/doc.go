// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=celador.io/api/admissionregistration/v1

// Package defaults sets the defaults of policies and bindings in version v1. API servers call it
// when they decode an object. The engine calls it when it compiles an object, so that objects that
// never passed through a server mean the same.
//
// SetObjectDefaults_<kind> are generated and set all defaults of an object. The functions change
// nothing but their argument.
package defaults
