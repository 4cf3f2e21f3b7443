// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster evaluates admission policies with the API machinery of a server, but without a
// server: a Cluster holds objects in memory, and answers API requests as the server that stores
// them would.
//
// A request passes through the handlers and registries of k8s.io/apiserver: it is decoded,
// defaulted, converted, mutated by policies, prepared and validated by the strategy of its
// resource, and validated by policies, in that order.
//
// Differences from a server:
//   - Requests are not authorized. Namespaces and service accounts need not exist.
//   - The admission plugins are those of Backend.NewPlugins. Webhooks are not called, neither for
//     admission nor for conversion.
//   - Policies see managedFields with lists as atomic values. Response.Object has no managedFields.
package cluster
