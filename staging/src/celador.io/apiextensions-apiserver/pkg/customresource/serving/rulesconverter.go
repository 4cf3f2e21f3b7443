// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// objectConverter converts one custom resource to another version. It does not change the object,
// but the result may share values with it. *conversion.Converter implements it.
type objectConverter interface {
	Convert(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error)
	// ConvertPartial converts a part of an object, and leaves the fields of rules that fail unset,
	// because the part may lack what the rules read. defaulted is in with its defaults, with which
	// rules that fail are evaluated again, or nil.
	ConvertPartial(ctx context.Context, in, defaulted *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error)
	// ConvertMetadata evaluates only the rules that write labels or annotations.
	ConvertMetadata(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error)
	// ChangesLabels reports whether rules between two versions may write labels, and
	// ChangesMetadata whether they may write labels or annotations.
	ChangesLabels(from, to string) bool
	ChangesMetadata(from, to string) bool
}

// rulesConverter converts custom resources between versions with conversion rules, and coerces the
// results. It may change its input, unless the field safe is set. Like Kubernetes' converter of
// webhooks, it returns objects that have the requested version as they are, and fails for a whole
// list if one item does not convert.
type rulesConverter struct {
	// ObjectConvertor is Kubernetes' converter of the strategy None. It converts Scale objects and
	// checks field labels, and must not see custom resources.
	runtime.ObjectConvertor
	crd      string
	versions map[schema.GroupVersion]bool
	schemas  *schemas.Schemas
	// uncoerced evaluates the rules.
	uncoerced objectConverter
	// safe makes results share nothing with the input, and leaves the input as it is.
	safe bool
	// partial makes a rule that fails leave its field unset, instead of failing the conversion.
	partial bool
}

// Convert implements runtime.ObjectConvertor. out has the version to convert to.
func (c *rulesConverter) Convert(in, out, context any) error {
	from, ok := in.(*unstructured.Unstructured)
	if !ok {
		return c.ObjectConvertor.Convert(in, out, context)
	}
	to, ok := out.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("cannot convert a custom resource into a %T", out)
	}
	converted, err := c.ConvertToVersion(from, to.GroupVersionKind().GroupVersion())
	if err != nil {
		return err
	}
	to.SetUnstructuredContent(converted.(*unstructured.Unstructured).UnstructuredContent())
	return nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c *rulesConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := in.(runtime.Unstructured); !ok {
		return c.ObjectConvertor.ConvertToVersion(in, target)
	}
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", from, target)
	}
	if !c.versions[to.GroupVersion()] {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", to.GroupVersion())
	}
	if !c.versions[from.GroupVersion()] {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from.GroupVersion())
	}
	switch in := in.(type) {
	case *unstructured.Unstructured:
		if c.safe && from.GroupVersion() == to.GroupVersion() {
			return in.DeepCopy(), nil
		}
		return c.convert(in, to.GroupVersion())
	case *unstructured.UnstructuredList:
		return c.convertList(in, to.GroupVersion())
	default:
		return nil, fmt.Errorf("cannot convert a %T", in)
	}
}

// convertList returns a list with converted items. Items that have the version already are shared
// with in, even if the field safe is set: lists are converted to be encoded only, and copies of a
// large list's objects would take more memory than the response.
func (c *rulesConverter) convertList(in *unstructured.UnstructuredList, to schema.GroupVersion) (runtime.Object, error) {
	out := &unstructured.UnstructuredList{Object: maps.Clone(in.Object), Items: make([]unstructured.Unstructured, len(in.Items))}
	for i := range in.Items {
		if from := in.Items[i].GroupVersionKind().GroupVersion(); !c.versions[from] {
			return nil, fmt.Errorf("request to convert CR list failed, list index %d has invalid group/version: %s", i, from)
		}
		item, err := c.convert(&in.Items[i], to)
		if err != nil {
			return nil, err
		}
		out.Items[i] = *item
	}
	out.SetAPIVersion(to.String())
	return out, nil
}

// convert converts an object, and returns in itself if it has the version already. Otherwise the
// result shares values with in, unless the field safe is set.
func (c *rulesConverter) convert(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	from := in.GroupVersionKind()
	if from.GroupVersion() == to {
		return in, nil
	}
	if hasOnlyType(in) {
		empty := &unstructured.Unstructured{}
		empty.SetGroupVersionKind(to.WithKind(from.Kind))
		return empty, nil
	}
	if c.safe {
		in = in.DeepCopy()
	}
	convert := c.uncoerced.Convert
	if c.partial {
		convert = func(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
			return c.uncoerced.ConvertPartial(ctx, in, nil, toVersion)
		}
	}
	start := time.Now()
	out, err := c.coerced(convert(context.Background(), in, to.Version))
	observeConversion(c.crd, from.Version, to.Version, time.Since(start), err)
	if err != nil {
		return nil, conversionFailed(in, to.Version, err)
	}
	return out, nil
}

// coerced coerces the result of a conversion, and returns its error if it has failed.
func (c *rulesConverter) coerced(out *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err == nil {
		_, err = c.schemas.Coerce(out, schemas.Coercion{})
	}
	return out, err
}

// hasOnlyType reports whether the object has only apiVersion and kind. The watch cache and
// server-side apply convert such empty objects, too. Rules must not be evaluated for them, because
// they would fail.
func hasOnlyType(in *unstructured.Unstructured) bool {
	_, hasKind := in.Object["kind"]
	_, hasVersion := in.Object["apiVersion"]
	return len(in.Object) == 2 && hasKind && hasVersion
}

// ConvertObject implements versionedstorage.Converter.
func (c *rulesConverter) ConvertObject(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	out, err := c.ConvertToVersion(in, to)
	if err != nil {
		return nil, err
	}
	return out.(*unstructured.Unstructured), nil
}

// ConvertMetadata implements versionedstorage.Converter.
func (c *rulesConverter) ConvertMetadata(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	from := in.GroupVersionKind().Version
	start := time.Now()
	out, err := c.uncoerced.ConvertMetadata(context.Background(), in, to.Version)
	if err != nil {
		observeConversion(c.crd, from, to.Version, time.Since(start), err)
		return nil, conversionFailed(in, to.Version, err)
	}
	return out, nil
}

// ChangesMetadata implements versionedstorage.Converter.
func (c *rulesConverter) ChangesMetadata(from, to schema.GroupVersion) bool {
	return c.uncoerced.ChangesMetadata(from.Version, to.Version)
}

// ChangesLabels implements versionedstorage.Converter.
func (c *rulesConverter) ChangesLabels(to schema.GroupVersion) bool {
	for from := range c.versions {
		if c.uncoerced.ChangesLabels(from.Version, to.Version) {
			return true
		}
	}
	return false
}
