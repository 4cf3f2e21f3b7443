// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramaccess_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/paramaccess"
)

var (
	alice  = &user.DefaultInfo{Name: "alice"}
	limits = v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}
)

// server resolves one kind, records all authorization requests and gives each the same decision.
type server struct {
	decision authorizer.Decision
	err      error
	asked    []authorizer.Attributes
}

func (s *server) checker() paramaccess.Checker {
	return paramaccess.Checker{
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			s.asked = append(s.asked, a)
			return s.decision, "", s.err
		}),
		Resolver: resolver(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
			if gvk != schema.FromAPIVersionAndKind(limits.APIVersion, limits.Kind) {
				return schema.GroupVersionResource{}, errors.New("no such kind")
			}
			return gvk.GroupVersion().WithResource("replicalimits"), nil
		}),
	}
}

type resolver func(schema.GroupVersionKind) (schema.GroupVersionResource, error)

func (r resolver) Resolve(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	return r(kind)
}

func requestBy(who user.Info) context.Context {
	if who == nil {
		return context.Background()
	}
	return request.WithUser(context.Background(), who)
}

func read(verb, group, version, resource, namespace, name string) []authorizer.Attributes {
	return []authorizer.Attributes{authorizer.AttributesRecord{
		User: alice, Verb: verb, APIGroup: group, APIVersion: version, Resource: resource,
		Namespace: namespace, Name: name, ResourceRequest: true,
	}}
}

func TestValidateKind(t *testing.T) {
	for name, tc := range map[string]struct {
		who       user.Info
		kind      v1.ParamKind
		decision  authorizer.Decision
		err       error
		wantAsked []authorizer.Attributes
		wantErr   string
	}{
		"may get all objects": {
			who: alice, kind: limits, decision: authorizer.DecisionAllow,
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "*", "*"),
		},
		"denied": {
			who: alice, kind: limits, decision: authorizer.DecisionDeny,
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "*", "*"),
			wantErr:   `user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind (kind=ReplicaLimit, apiVersion=rules.example.com/v1)`,
		},
		"no opinion is a no": {
			who: alice, kind: limits, decision: authorizer.DecisionNoOpinion,
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "*", "*"),
			wantErr:   `user &{alice  [] map[]} must have "get" permission on all objects of the referenced paramKind (kind=ReplicaLimit, apiVersion=rules.example.com/v1)`,
		},
		"unknown kind takes all resources of its version": {
			who: alice, kind: v1.ParamKind{APIVersion: "v1", Kind: "Unheard"}, decision: authorizer.DecisionAllow,
			wantAsked: read("get", "", "v1", "*", "*", "*"),
		},
		"unreadable version takes everything": {
			who: alice, kind: v1.ParamKind{APIVersion: "a/b/c", Kind: "Unheard"}, decision: authorizer.DecisionAllow,
			wantAsked: read("get", "*", "*", "*", "*", "*"),
		},
		"authorizer fails": {
			who: alice, kind: limits, decision: authorizer.DecisionNoOpinion, err: errors.New("webhook unreachable"),
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "*", "*"),
			wantErr:   "webhook unreachable",
		},
		"superuser is not asked about": {
			who: &user.DefaultInfo{Name: "root", Groups: []string{user.SystemPrivilegedGroup}}, kind: limits,
			decision: authorizer.DecisionDeny,
		},
		"nobody": {
			kind: limits, decision: authorizer.DecisionAllow,
			wantErr: "cannot identify user to authorize read access to paramKind resources",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{decision: tc.decision, err: tc.err}
			expect(t, s.checker().ValidateKind(requestBy(tc.who), &tc.kind), "spec.paramKind", tc.wantErr)
			if diff := cmp.Diff(tc.wantAsked, s.asked); diff != "" {
				t.Errorf("authorization requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateRef(t *testing.T) {
	byName := v1.ParamRef{Name: "max-5", Namespace: "limits"}
	bySelector := v1.ParamRef{Namespace: "limits", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "test"}}}
	policy := func(kind *v1.ParamKind) paramaccess.KindGetter {
		return func(_ context.Context, name string) (*v1.ParamKind, error) {
			if name != "demo" {
				return nil, errors.New("asked for another policy: " + name)
			}
			return kind, nil
		}
	}
	missing := func(context.Context, string) (*v1.ParamKind, error) {
		return nil, errors.New("not found")
	}

	for name, tc := range map[string]struct {
		who       user.Info
		ref       v1.ParamRef
		kindOf    paramaccess.KindGetter
		decision  authorizer.Decision
		err       error
		wantAsked []authorizer.Attributes
		wantErr   string
	}{
		"may get the named object": {
			who: alice, ref: byName, kindOf: policy(&limits), decision: authorizer.DecisionAllow,
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "limits", "max-5"),
		},
		"may list what is selected": {
			who: alice, ref: bySelector, kindOf: policy(&limits), decision: authorizer.DecisionAllow,
			wantAsked: read("list", "rules.example.com", "v1", "replicalimits", "limits", ""),
		},
		"without a namespace in all namespaces": {
			who: alice, ref: v1.ParamRef{Name: "max-5"}, kindOf: policy(&limits), decision: authorizer.DecisionAllow,
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "", "max-5"),
		},
		"denied": {
			who: alice, ref: bySelector, kindOf: policy(&limits), decision: authorizer.DecisionDeny,
			wantAsked: read("list", "rules.example.com", "v1", "replicalimits", "limits", ""),
			wantErr:   `user &{alice  [] map[]} does not have "list" permission on the object referenced by paramRef`,
		},
		"no policy yet": {
			who: alice, ref: byName, kindOf: missing, decision: authorizer.DecisionDeny,
			wantAsked: read("get", "*", "*", "*", "limits", "max-5"),
			wantErr:   `unable to get policy demo to determine minimum required permissions and user &{alice  [] map[]} does not have "get" permission for all groups, versions and resources`,
		},
		"no policy yet, but allowed everything": {
			who: alice, ref: byName, kindOf: missing, decision: authorizer.DecisionAllow,
			wantAsked: read("get", "*", "*", "*", "limits", "max-5"),
		},
		"policy takes no params": {
			who: alice, ref: byName, kindOf: policy(nil), decision: authorizer.DecisionDeny,
			wantAsked: read("get", "*", "*", "*", "limits", "max-5"),
			wantErr:   `user &{alice  [] map[]} does not have "get" permission on the object referenced by paramRef`,
		},
		"unknown kind": {
			who: alice, ref: byName, kindOf: policy(&v1.ParamKind{APIVersion: "foo.example.com/v1", Kind: "Params"}), decision: authorizer.DecisionDeny,
			wantAsked: read("get", "foo.example.com", "v1", "*", "limits", "max-5"),
			wantErr:   `unable to resolve paramKind &{foo.example.com/v1 Params} to determine minimum required permissions and user &{alice  [] map[]} does not have "get" permission for all groups, versions and resources`,
		},
		"unreadable version": {
			who: alice, ref: byName, kindOf: policy(&v1.ParamKind{APIVersion: "a/b/c", Kind: "Params"}), decision: authorizer.DecisionDeny,
			wantAsked: read("get", "*", "*", "*", "limits", "max-5"),
			wantErr:   `unable to parse paramKind &{a/b/c Params} to determine minimum required permissions and user &{alice  [] map[]} does not have "get" permission for all groups, versions and resources`,
		},
		"authorizer fails": {
			who: alice, ref: byName, kindOf: policy(&limits), err: errors.New("webhook unreachable"),
			wantAsked: read("get", "rules.example.com", "v1", "replicalimits", "limits", "max-5"),
			wantErr:   "failed to authorize request: webhook unreachable",
		},
		"superuser is not asked about": {
			who: &user.DefaultInfo{Name: "root", Groups: []string{user.SystemPrivilegedGroup}}, ref: byName, kindOf: missing,
			decision: authorizer.DecisionDeny,
		},
		"nobody": {
			ref: byName, kindOf: policy(&limits), decision: authorizer.DecisionAllow,
			wantErr: "cannot identify user to authorize read access to paramRef object",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{decision: tc.decision, err: tc.err}
			expect(t, s.checker().ValidateRef(requestBy(tc.who), &tc.ref, "demo", tc.kindOf), "spec.paramRef", tc.wantErr)
			if diff := cmp.Diff(tc.wantAsked, s.asked); diff != "" {
				t.Errorf("authorization requests (-want +got):\n%s", diff)
			}
		})
	}
}

func expect(t *testing.T, got field.ErrorList, at, want string) {
	t.Helper()
	var all field.ErrorList
	if want != "" {
		all = field.ErrorList{field.Forbidden(field.NewPath(at), want)}
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestValidateLookups(t *testing.T) {
	all := func(verb string) authorizer.Attributes {
		return read(verb, "rules.example.com", "v1", "replicalimits", "", "")[0]
	}
	for name, tc := range map[string]struct {
		who       user.Info
		kind      string
		decision  authorizer.Decision
		err       error
		wantAsked []authorizer.Attributes
		want      string
	}{
		"may list and watch": {who: alice, kind: limits.Kind, decision: authorizer.DecisionAllow, wantAsked: []authorizer.Attributes{all("list"), all("watch")}},
		"may not list": {
			who: alice, kind: limits.Kind, decision: authorizer.DecisionNoOpinion, wantAsked: []authorizer.Attributes{all("list")},
			want: `user "alice" must have "list" permission on replicalimits.rules.example.com in all namespaces, because messages of the policy may show what it looks up`,
		},
		"unknown kind": {
			who: alice, kind: "Unknown", decision: authorizer.DecisionDeny, wantAsked: read("list", "rules.example.com", "v1", "*", "", ""),
			want: `no resource of kind Unknown in rules.example.com/v1 is served, and user "alice" must then have "list" permission for all resources of the API version`,
		},
		"authorizer fails": {
			who: alice, kind: limits.Kind, err: errors.New("no answer"), wantAsked: []authorizer.Attributes{all("list")},
			want: "failed to authorize request: no answer",
		},
		"administrator": {who: &user.DefaultInfo{Name: "root", Groups: []string{user.SystemPrivilegedGroup}}, kind: "Unknown", decision: authorizer.DecisionDeny},
		"no user":       {kind: limits.Kind, decision: authorizer.DecisionAllow, want: "cannot identify user to authorize read access to objects of lookups"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{decision: tc.decision, err: tc.err}
			got := s.checker().ValidateLookups(requestBy(tc.who), []v1.Lookup{{Name: "l", APIVersion: limits.APIVersion, Kind: tc.kind}})
			var want field.ErrorList
			if tc.want != "" {
				want = field.ErrorList{field.Forbidden(field.NewPath("spec", "lookups").Index(0), tc.want)}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantAsked, s.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
