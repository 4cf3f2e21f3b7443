// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"celador.io/client-go/clientset/scheme"
)

// Store writes objects of a resource into the server's etcd, in protobuf, as the server stores
// them. The server learns of the objects as if another server of the cluster had written them.
// Store replaces objects of the same names. The objects must have a TypeMeta and no namespace.
// Store removes their resource versions, because etcd has its own.
func Store[T runtime.Object](ctx context.Context, s *Server, resource string, objects []T) error {
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for _, object := range objects {
		accessor, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		accessor.SetResourceVersion("")
		key := "/registry/" + resource + "/" + accessor.GetName()
		value, err := runtime.Encode(encoder, object)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if _, err := s.store.Put(ctx, key, string(value)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
