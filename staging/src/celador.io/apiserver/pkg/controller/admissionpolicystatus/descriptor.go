// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/cel/expression"
	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"
)

// A Descriptor describes a kind of policy to the controller: how to follow and check its policies,
// and how to patch their status. It belongs to one controller.
type Descriptor struct {
	// name is the kind in manifests and in labels of metrics.
	name     string
	informer cache.SharedIndexInformer
	// view returns the policy that an object of the informer describes.
	view func(object any) *policy
	// apply patches the status of a policy by server-side apply.
	apply func(ctx context.Context, name string, configuration []byte) error
	// binding reads a binding, and the name of its policy, from the API server.
	binding func(ctx context.Context, name string) (binding metav1.Object, policy string, err error)
	// lookups is set if feature gate AdmissionPolicyLookups is on.
	lookups bool
	// enforceTypes is set if feature gate AdmissionPolicyTypeEnforcement is on.
	enforceTypes bool
}

// policy is the part of a policy that the controller reads, for policies of both kinds. It
// shares memory with the informer's object and must not be changed.
type policy struct {
	*metav1.ObjectMeta
	descriptor *Descriptor
	// spec encodes the spec.
	spec             interface{ Marshal() ([]byte, error) }
	paramKind        *v1.ParamKind
	matchConstraints *v1.MatchResources
	typeChecking     *v1.TypeCheckingMode
	// status has the same fields for both kinds.
	status v1.ValidatingAdmissionPolicyStatus
	// typeCheck checks the expressions against the types that the policy names.
	typeCheck func(*typecheck.Checker) *typecheck.Result
	// compile returns the errors that the policy has whatever the types of objects are.
	compile func() []error
}

// key identifies a policy.
type key struct {
	descriptor *Descriptor
	name       string
}

func (p *policy) key() key { return key{p.descriptor, p.Name} }

// enforced reports whether a type error makes the policy unavailable.
func (p *policy) enforced() bool {
	return p.descriptor.enforceTypes && policyspec.IsEnforced(p.typeChecking)
}

// isRecorded reports whether the check of the policy may wait: its status has findings about this
// generation, and no request waits for a verdict, because the policy is not Enforced.
func (p *policy) isRecorded() bool {
	oldest, _ := observedGenerations(&p.status)
	return oldest >= p.Generation && !p.enforced()
}

// Validating returns the descriptor of kind ValidatingAdmissionPolicy. Pass the informers and the
// compiler of the admission plugin to share its cache and its programs. The client writes the
// status.
func Validating(client clientset.Interface, factory informers.SharedInformerFactory, compiler *expression.Compiler, features policyspec.Features) *Descriptor {
	engine := validating.NewEngine(validating.Config{Compiler: compiler, Features: features})
	k := newKind("ValidatingAdmissionPolicy", client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer(), features,
		func(p *v1.ValidatingAdmissionPolicy) policy {
			return policy{
				ObjectMeta: &p.ObjectMeta, spec: &p.Spec, paramKind: p.Spec.ParamKind, matchConstraints: p.Spec.MatchConstraints,
				typeChecking: p.Spec.TypeChecking, status: p.Status,
				typeCheck: func(c *typecheck.Checker) *typecheck.Result { return c.CheckValidating(p) },
				compile:   func() []error { return engine.Errors(p) },
			}
		})
	k.binding = readBinding(client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get,
		func(b *v1.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName })
	return k
}

// Mutating returns the descriptor of kind MutatingAdmissionPolicy. The arguments are those of
// Validating.
func Mutating(client clientset.Interface, factory informers.SharedInformerFactory, compiler *expression.Compiler, features policyspec.Features) *Descriptor {
	engine := mutating.NewEngine(mutating.Config{Config: validating.Config{Compiler: compiler, Features: features}})
	k := newKind("MutatingAdmissionPolicy", client.AdmissionregistrationV1().MutatingAdmissionPolicies(),
		factory.Admissionregistration().V1().MutatingAdmissionPolicies().Informer(), features,
		func(p *v1.MutatingAdmissionPolicy) policy {
			return policy{
				ObjectMeta: &p.ObjectMeta, spec: &p.Spec, paramKind: p.Spec.ParamKind, matchConstraints: p.Spec.MatchConstraints,
				typeChecking: p.Spec.TypeChecking, status: v1.ValidatingAdmissionPolicyStatus(p.Status),
				typeCheck: func(c *typecheck.Checker) *typecheck.Result { return c.CheckMutating(p) },
				compile:   func() []error { return engine.Errors(p) },
			}
		})
	k.binding = readBinding(client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Get,
		func(b *v1.MutatingAdmissionPolicyBinding) string { return b.Spec.PolicyName })
	return k
}

// readBinding returns the function binding of a descriptor, from a method of a generated client.
func readBinding[B metav1.Object](get func(context.Context, string, metav1.GetOptions) (B, error), policyName func(B) string) func(context.Context, string) (metav1.Object, string, error) {
	return func(ctx context.Context, name string) (metav1.Object, string, error) {
		b, err := get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, "", err
		}
		return b, policyName(b), nil
	}
}

// patcher is the method of a generated client that patches objects of type P.
type patcher[P any] interface {
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (P, error)
}

func newKind[P any](name string, client patcher[P], informer cache.SharedIndexInformer, features policyspec.Features, view func(P) policy) *Descriptor {
	k := &Descriptor{name: name, informer: informer, lookups: features[policyspec.Lookups], enforceTypes: features[policyspec.TypeEnforcement]}
	k.view = func(object any) *policy {
		p := view(object.(P))
		p.descriptor = k
		return &p
	}
	k.apply = func(ctx context.Context, name string, configuration []byte) error {
		// To validate fields, the server would decode the configuration once more. An apply rejects
		// unknown fields anyway.
		options := metav1.PatchOptions{FieldManager: FieldManager, Force: new(true), FieldValidation: metav1.FieldValidationIgnore}
		_, err := client.Patch(ctx, name, types.ApplyYAMLPatchType, configuration, options, "status")
		return err
	}
	return k
}

// watch calls changed for every policy that is added, changed or deleted. For policies of the
// initial list whose findings are recorded, it calls recorded instead. The returned function
// reports whether all policies of the initial list have been passed to changed or recorded.
func (k *Descriptor) watch(changed, recorded func(key)) (cache.InformerSynced, error) {
	handle := func(object any) {
		name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err != nil {
			utilruntime.HandleError(fmt.Errorf("change of a %s: %w", k.name, err))
			return
		}
		changed(key{k, name})
	}
	registration, handlerErr := k.informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(added any, inInitialList bool) {
			if p := k.view(added); inInitialList && p.isRecorded() {
				recorded(p.key())
			} else {
				changed(p.key())
			}
		},
		UpdateFunc: func(_, current any) { handle(current) },
		DeleteFunc: handle,
	})
	indexers := cache.Indexers{byGroup: func(object any) ([]string, error) { return k.view(object).groups(), nil }}
	if err := errors.Join(handlerErr, k.informer.AddIndexers(indexers)); err != nil {
		return nil, fmt.Errorf("watching %s: %w", k.name, err)
	}
	return registration.HasSynced, nil
}

// get returns the cached policy with the given name, or nil if there is none.
func (k *Descriptor) get(name string) (*policy, error) {
	object, exists, err := k.informer.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return nil, err
	}
	return k.view(object), nil
}
