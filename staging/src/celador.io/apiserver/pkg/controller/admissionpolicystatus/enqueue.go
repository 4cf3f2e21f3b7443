// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "celador.io/api/admissionregistration/v1"
)

// byGroup indexes policies by the API groups that their match constraints and paramKind name.
const byGroup = "group"

func (p *policy) groups() []string {
	groups := sets.New[string]()
	if kind := p.paramKind; kind != nil {
		if version, err := schema.ParseGroupVersion(kind.APIVersion); err == nil {
			groups.Insert(version.Group)
		}
	}
	if constraints := p.matchConstraints; constraints != nil {
		for i := range constraints.ResourceRules {
			groups.Insert(constraints.ResourceRules[i].APIGroups...)
		}
	}
	return groups.UnsortedList()
}

// AggregatedVersionChanged enqueues the policies that name the group version. Call it when an
// aggregated server begins or ceases to serve the group version, or serves it differently. It
// does not block and is safe for concurrent use, before and during Run.
func (c *Controller) AggregatedVersionChanged(version schema.GroupVersion) {
	c.aggregatedChanges.Add(1)
	c.enqueue(version.Group, func(p *policy) bool {
		return p.paramKind != nil && p.paramKind.APIVersion == version.String() ||
			p.hasRule(func(rule v1.NamedRuleWithOperations) bool {
				return slices.Contains(rule.APIGroups, version.Group) && slices.Contains(rule.APIVersions, version.Version)
			})
	})
}

// crdChanged enqueues the policies whose paramKind has the kind of the CustomResourceDefinition, or
// one of whose rules names its resource.
func (c *Controller) crdChanged(crd *apiextensionsv1.CustomResourceDefinition) {
	c.enqueue(crd.Spec.Group, func(p *policy) bool {
		return p.paramKind != nil && (p.paramKind.Kind == crd.Spec.Names.Kind || p.paramKind.Kind == crd.Status.AcceptedNames.Kind) ||
			p.hasRule(func(rule v1.NamedRuleWithOperations) bool {
				return slices.Contains(rule.APIGroups, crd.Spec.Group) && slices.Contains(rule.Resources, crd.Spec.Names.Plural)
			})
	})
}

func (p *policy) hasRule(matches func(v1.NamedRuleWithOperations) bool) bool {
	return p.matchConstraints != nil && slices.ContainsFunc(p.matchConstraints.ResourceRules, matches)
}

// enqueue enqueues those policies that name the API group and satisfy affected.
func (c *Controller) enqueue(group string, affected func(*policy) bool) {
	for _, k := range c.kinds {
		objects, err := k.informer.GetIndexer().ByIndex(byGroup, group)
		if err != nil {
			utilruntime.HandleError(fmt.Errorf("change of types of group %q: %w", group, err))
			continue
		}
		for _, object := range objects {
			if p := k.view(object); affected(p) {
				c.queue.Add(p.key())
			}
		}
	}
}
