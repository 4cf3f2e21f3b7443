// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// +k8s:conversion-gen=k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1
// +k8s:conversion-gen-external-types=celador.io/api/apiextensions/v1

// Package v1 sets the defaults of version v1 of CustomResourceDefinition, and converts it to the
// internal version and to Kubernetes' type of the same version, and back.
//
// Kubernetes' types lack XDefault of JSONSchemaProps, and Converters and Tables of
// CustomResourceConversion. Functions whose names end in _To_upstream_ and the type leave these
// fields out. The input and the result of a conversion share the memory of all values that cannot
// contain such a field.
package v1
