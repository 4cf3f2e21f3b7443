// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
)

// Config configures an Auditor.
type Config struct {
	// Backend is the backend of the cluster in which the policies are evaluated.
	Backend cluster.Backend
	// Stored are policies, bindings and the objects that policies read, as a server stores them.
	// Added are such objects that no server has, for example those of files. An added object takes
	// the place of a stored one with the same type, namespace and name.
	Stored, Added []*unstructured.Unstructured
	// LookedUp are objects that policies look up, as a server stores them. If objects have the same
	// type, namespace and name, policies find the one in Added or else the last one in LookedUp.
	// Objects that cannot be decoded are in the report.
	LookedUp []Object
	// Unlisted has the errors of the kinds whose objects are not among LookedUp, because nobody
	// could list them. Policies that look them up are not evaluated.
	Unlisted map[schema.GroupVersionKind]error
	// Select reports whether to evaluate a policy. Nil selects all.
	Select func(policy string) bool
	// Namespace is the only namespace whose objects are evaluated. Objects without a namespace are
	// then left out. Empty means all.
	Namespace string
	// MaxViolations is the maximum number of violations in the report for each policy and binding.
	// Others are only counted. 0 means no limit.
	MaxViolations int
	// SinceBinding leaves out objects that were last written before the binding of a policy was
	// created. A policy without a binding is then not evaluated, and a binding without a
	// creationTimestamp leaves out none.
	SinceBinding bool
}

// An Auditor evaluates policies over objects. It is safe for concurrent use.
type Auditor struct {
	cluster     *cluster.Cluster
	namespace   string
	maxFindings int
	policies    []PolicyResult
	needs       Needs
	// unread are errors of the kinds that policies look up, and unevaluated objects of these kinds.
	unread      []error
	unevaluated []Unevaluated
	// since holds the time when each binding was created, by its name. Objects that were last
	// written before do not count for the binding. It is nil if all objects count.
	since map[string]time.Time
}

// New returns an auditor of the policies among the objects. A policy without a binding is audited
// as if a binding without conditions existed, unless SinceBinding is set. Fields that need a feature
// gate count as on a server with this gate, so New calls EnableFeatures of the backend. Errors are
// those of cluster.Base.Restore; a *cluster.ObjectError has the position in Added.
func New(ctx context.Context, config Config) (*Auditor, error) {
	a := &Auditor{namespace: config.Namespace, maxFindings: config.MaxViolations}
	if config.SinceBinding {
		a.since = map[string]time.Time{}
	}
	s, err := readSelection(config)
	if err != nil {
		return nil, err
	}
	for _, p := range s.policies {
		if config.Select == nil || config.Select(p.Name) {
			a.add(s, p, config.Unlisted)
		}
	}
	restore, err := config.Backend.EnableFeatures(cluster.FeatureGates(slices.Concat(config.Stored, config.Added)...))
	if err != nil {
		return nil, err
	}
	defer restore()
	slices.SortFunc(a.policies, func(x, y PolicyResult) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Binding, y.Binding))
	})
	slices.SortFunc(a.unread, func(x, y error) int { return cmp.Compare(x.Error(), y.Error()) })
	if a.cluster, err = s.cluster(ctx, config); err != nil {
		return nil, err
	}
	a.store(ctx, config)
	return a, nil
}

// store stores the objects that policies look up.
func (a *Auditor) store(ctx context.Context, config Config) {
	added := map[cluster.Identity]bool{}
	for _, object := range config.Added {
		added[cluster.Identify(object)] = true
	}
	for i := range config.LookedUp {
		object := &config.LookedUp[i]
		if !a.needs.LooksUp(object.GroupVersionKind().GroupKind()) || added[cluster.Identify(object.Unstructured)] {
			continue
		}
		if err := a.cluster.Store(ctx, object.named()); err != nil {
			a.unevaluated = append(a.unevaluated, Unevaluated{Object: object.reference(), Err: fmt.Errorf("policies cannot look up the object: %w", err), sequence: -1})
		}
	}
}

// add adds a policy to the audit, with each of its bindings.
func (a *Auditor) add(s *selection, p *v1.ValidatingAdmissionPolicy, unlisted map[schema.GroupVersionKind]error) {
	bindings := s.bindings[p.Name]
	for i := range p.Spec.Lookups {
		err := unlisted[schema.FromAPIVersionAndKind(p.Spec.Lookups[i].APIVersion, p.Spec.Lookups[i].Kind)]
		if err == nil {
			continue
		}
		a.policies = append(a.policies, PolicyResult{Name: p.Name, NotAuditable: fmt.Sprintf("spec.lookups[%d]: %v", i, err)})
		if !slices.Contains(a.unread, err) {
			a.unread = append(a.unread, err)
		}
		return
	}
	if reason := obstacle(p); reason != "" {
		a.policies = append(a.policies, PolicyResult{Name: p.Name, NotAuditable: reason})
		return
	}
	if len(bindings) == 0 && p.Spec.ParamKind != nil {
		a.policies = append(a.policies, PolicyResult{Name: p.Name, NotAuditable: "spec.paramKind: the policy needs params, and no binding selects them"})
		return
	}
	if len(bindings) == 0 && a.since != nil {
		a.policies = append(a.policies, PolicyResult{Name: p.Name, NotAuditable: "the policy has no binding, since whose creation objects could have been written"})
		return
	}
	s.use(p, bindings)
	a.needs.add(p)
	if len(bindings) == 0 {
		s.unbound = append(s.unbound, bindToAll(p.Name, len(s.unbound)))
		a.policies = append(a.policies, PolicyResult{Name: p.Name})
		return
	}
	for _, b := range bindings {
		if a.since != nil {
			a.since[b.Name] = b.CreationTimestamp.Time
		}
		a.policies = append(a.policies, PolicyResult{Name: p.Name, Binding: b.Name, Actions: b.Spec.ValidationActions})
	}
}

// bindToAll returns a binding of a policy without conditions of its own. index makes its name
// unique.
func bindToAll(policy string, index int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": bindingKind,
		"metadata": map[string]any{"name": fmt.Sprintf("unbound-%d.audit.celador.io", index)},
		"spec":     map[string]any{"policyName": policy, "validationActions": []any{string(v1.Deny)}},
	}}
}

// Policies returns the policies of the audit with each of their bindings, sorted by name and
// binding. Counts and violations are empty. The caller owns the result.
func (a *Auditor) Policies() []PolicyResult { return slices.Clone(a.policies) }

// Matches reports whether an audited policy may apply to objects of the resource. See
// Needs.Matches.
func (a *Auditor) Matches(resource schema.GroupResource) bool { return a.needs.Matches(resource) }

// auditor is the user in whose name objects are evaluated. Policies that read the user cannot be
// audited.
var auditor = &user.DefaultInfo{Name: "celador:audit", Groups: []string{user.AllAuthenticated}}
