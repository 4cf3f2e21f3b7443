// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// An Order asks the bakery for bread.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Order struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec OrderSpec `json:"spec"`
}

// OrderSpec is what a customer orders.
type OrderSpec struct {
	Customer string `json:"customer"`
	// Items has one entry for each kind of bread.
	Items []Item `json:"items"`
	// Delivery is "pickup" or "courier".
	Delivery string `json:"delivery,omitempty"`
}

// An Item is a number of loaves of one kind of bread.
type Item struct {
	Bread  string `json:"bread"`
	Loaves int32  `json:"loaves"`
}

// OrderList is a list of orders.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type OrderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Order `json:"items"`
}
