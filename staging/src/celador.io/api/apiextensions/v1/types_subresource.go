// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// CustomResourceSubresources defines which subresources a version has.
type CustomResourceSubresources struct {
	// status adds the subresource '/status'. Updates of the object then ignore changes
	// of its field 'status', and updates of '/status' ignore changes outside of that
	// field and of metadata.
	// +optional
	Status *CustomResourceSubresourceStatus `json:"status,omitempty" protobuf:"bytes,1,opt,name=status"`

	// scale adds the subresource '/scale', which reads and writes the number of
	// replicas as a Scale of autoscaling/v1.
	// +optional
	Scale *CustomResourceSubresourceScale `json:"scale,omitempty" protobuf:"bytes,2,opt,name=scale"`
}

// CustomResourceSubresourceStatus enables the subresource '/status', which holds the
// field '.status' of the object. It has no options.
type CustomResourceSubresourceStatus struct{}

// CustomResourceSubresourceScale maps the fields of a Scale to fields of the custom
// resource. The paths must not index lists.
type CustomResourceSubresourceScale struct {
	// specReplicasPath is the field for the Scale's spec.replicas, such as
	// '.spec.replicas'. It must be below '.spec'. A Scale of an object that lacks the
	// field cannot be read.
	SpecReplicasPath string `json:"specReplicasPath" protobuf:"bytes,1,name=specReplicasPath"`

	// statusReplicasPath is the field for the Scale's status.replicas. It must be
	// below '.status'. If the object lacks the field, the Scale has 0.
	StatusReplicasPath string `json:"statusReplicasPath" protobuf:"bytes,2,opt,name=statusReplicasPath"`

	// labelSelectorPath is the field for the Scale's status.selector. It must be below
	// '.spec' or '.status' and hold a label selector as a string, such as
	// 'app=web,tier!=cache'. If the object lacks the field, the Scale has the empty
	// string. Horizontal pod autoscalers need it.
	// +optional
	LabelSelectorPath *string `json:"labelSelectorPath,omitempty" protobuf:"bytes,3,opt,name=labelSelectorPath"`
}
