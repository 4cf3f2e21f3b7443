// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/validating"
	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

const pod = `
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - name: web
    image: nginx
`

// TestPoliciesRead tests what a policy reads, by a policy that denies each request with the value
// of an expression.
func TestPoliciesRead(t *testing.T) {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	for name, test := range map[string]struct {
		policy string
		// objects are further objects of the cluster.
		objects string
		request func(t *testing.T) *cluster.Request
		want    string
	}{
		"defaults": {
			policy: clustertest.Report("", "v1", "pods", `object.spec.restartPolicy + ' ' + object.status.phase + ' ' + object.status.qosClass`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod)}
			},
			want: "Always Pending BestEffort",
		},
		"service account and tolerations": {
			policy: clustertest.Report("", "v1", "pods", `object.spec.serviceAccountName + ' ' + string(object.spec.volumes[0].name.startsWith('kube-api-access-')) + ' ' + string(object.spec.tolerations.size())`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod)}
			},
			want: "default true 2",
		},
		"service account of the cluster": {
			policy:  clustertest.Report("", "v1", "pods", `object.spec.serviceAccountName + ' ' + string(has(object.spec.volumes))`),
			objects: "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: shop}\nautomountServiceAccountToken: false",
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod)}
			},
			want: "default false",
		},
		"deletion": {
			policy: clustertest.Report("", "v1", "pods", `request.operation + ' ' + oldObject.metadata.name + ' ' + string(object == null) + ' ' + string(request.options.gracePeriodSeconds)`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Delete, OldObject: clustertest.Object(t, pod+"  nodeName: n1"), Options: map[string]any{"gracePeriodSeconds": int64(5)}}
			},
			want: "DELETE web true 5",
		},
		"deletion of an object of the cluster": {
			policy:  clustertest.Report("", "v1", "configmaps", `string(oldObject.data.a)`),
			objects: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: found}",
			request: func(*testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Delete, Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Name: "a"}
			},
			want: "found",
		},
		"connection": {
			policy: clustertest.Report("", "v1", "pods/exec", `request.operation + ' ' + object.kind + ' ' + object.container + ' ' + object.command[0] + ' ' + string(object.stdin) + ' ' + request.name`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Connect, Resource: pods, Subresource: "exec", Name: "web", Namespace: "shop",
					Object: clustertest.Object(t, "apiVersion: v1\nkind: PodExecOptions\ncontainer: c\nstdin: true\ncommand: [sh]")}
			},
			want: "CONNECT PodExecOptions c sh true web",
		},
		"status": {
			policy: clustertest.Report("apps", "v1", "deployments/status", `request.subResource + ' ' + string(object.spec.replicas) + ' ' + string(object.status.readyReplicas)`),
			request: func(t *testing.T) *cluster.Request {
				changed := clustertest.Deployment(t, "7")
				if err := unstructured.SetNestedField(changed.Object, map[string]any{"replicas": int64(3), "readyReplicas": int64(2)}, "status"); err != nil {
					t.Fatal(err)
				}
				return &cluster.Request{Operation: admission.Update, Subresource: "status", Object: changed, OldObject: clustertest.Deployment(t, "3")}
			},
			want: "status 3 2",
		},
		"scale": {
			policy: clustertest.Report("apps", "v1", "deployments/scale", `object.kind + ' ' + string(oldObject.spec.replicas) + ' ' + string(object.spec.replicas)`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Update, Subresource: "scale", OldObject: clustertest.Deployment(t, "3"),
					Object: clustertest.Object(t, "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web, namespace: default}\nspec: {replicas: 8}")}
			},
			want: "Scale 3 8",
		},
		"binding": {
			policy: clustertest.Report("", "v1", "pods/binding", `object.kind + ' ' + object.target.name`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Subresource: "binding", OldObject: clustertest.Object(t, pod),
					Object: clustertest.Object(t, "apiVersion: v1\nkind: Binding\nmetadata: {name: web, namespace: shop}\ntarget: {kind: Node, name: n1}")}
			},
			want: "Binding n1",
		},
		"eviction": {
			policy: clustertest.Report("", "v1", "pods/eviction", `object.kind + ' ' + object.metadata.name`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Subresource: "eviction", OldObject: clustertest.Object(t, pod),
					Object: clustertest.Object(t, "apiVersion: policy/v1\nkind: Eviction\nmetadata: {name: web, namespace: shop}")}
			},
			want: "Eviction web",
		},
		"token": {
			policy: clustertest.Report("", "v1", "serviceaccounts/token", `object.kind + ' ' + string(object.spec.expirationSeconds)`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Subresource: "token",
					OldObject: clustertest.Object(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: bot, namespace: shop}"),
					Object:    clustertest.Object(t, "apiVersion: authentication.k8s.io/v1\nkind: TokenRequest\nmetadata: {name: bot, namespace: shop}\nspec: {audiences: [a], expirationSeconds: 7200}")}
			},
			want: "TokenRequest 7200",
		},
		"service": {
			policy: clustertest.Report("", "v1", "services", `object.spec.clusterIP + ' ' + object.spec.type`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create,
					Object: clustertest.Object(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}")}
			},
			want: "10.96.0.100 ClusterIP",
		},
		"user, dry run and options": {
			policy: clustertest.Report("", "v1", "pods", `request.userInfo.username + ' ' + request.userInfo.groups[0] + ' ' + string(request.dryRun) + ' ' + request.options.fieldManager`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod), DryRun: true, Options: map[string]any{"fieldManager": "ci"},
					UserInfo: &user.DefaultInfo{Name: "jane", Groups: []string{"dev"}}}
			},
			want: "jane dev true ci",
		},
		"namespace of the cluster": {
			policy:  clustertest.Report("", "v1", "pods", `namespaceObject.metadata.labels['team'] + ' ' + namespaceObject.status.phase`),
			objects: "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}",
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod)}
			},
			want: "a Active",
		},
		"another namespace": {
			policy: clustertest.Report("", "v1", "pods", `namespaceObject.metadata.labels['kubernetes.io/metadata.name']`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, pod)}
			},
			want: "shop",
		},
		"equivalent resource": {
			policy: clustertest.Report("events.k8s.io", "v1", "events", `request.requestResource.group + '/' + request.resource.group + ' ' + object.regarding.name`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: default}\ninvolvedObject: {kind: Pod, name: web, namespace: default}\ntype: Normal\nreason: x")}
			},
			want: "/events.k8s.io web",
		},
		"generated name": {
			policy: clustertest.Report("", "v1", "configmaps", `string(object.metadata.name.startsWith('a-')) + ' ' + string(request.name == object.metadata.name)`),
			request: func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}")}
			},
			want: "true true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			documents := test.policy
			if test.objects != "" {
				documents += "\n---\n" + test.objects
			}
			response := clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, documents), test.request(t))
			if response.Allowed {
				t.Fatalf("the policy does not apply: %+v", response.Policies)
			}
			if got := response.Policies[0].Decisions; len(got) != 1 {
				t.Fatalf("rejected with %v; decisions are %+v", response.Status, response.Policies)
			}
			_, got, _ := strings.Cut(response.Status.Error(), "denied request: ")
			if diff := cmp.Diff(strings.TrimSpace(test.want), got); diff != "" {
				t.Errorf("message differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuthorizer(t *testing.T) {
	const check = "authorizer.group('').resource('pods').namespace('default').check"
	policy := strings.Replace(clustertest.Replicas, "apps", "''", 1)
	policy = strings.Replace(policy, "deployments", "configmaps", 1)
	policy = strings.Replace(policy, "expression: object.spec.replicas <= 5\n    messageExpression: \"'at most 5 replicas, not ' + string(object.spec.replicas)\"",
		"expression: "+check+"('get').allowed()\n  - expression: "+check+"('delete').allowed()", 1)
	objects := `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: viewer}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: cleaner, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: cleaner, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: cleaner}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: cleaners}]
`
	c := clustertest.New(t, offlinebackend.KubeAPIServer, policy+"---\n"+objects)
	for name, test := range map[string]struct {
		user user.Info
		want []validating.Outcome
	}{
		"administrator":        {nil, []validating.Outcome{validating.Admitted, validating.Admitted}},
		"aggregated bootstrap": {&user.DefaultInfo{Name: "viewer"}, []validating.Outcome{validating.Admitted, validating.Denied}},
		"role of a group":      {&user.DefaultInfo{Name: "bot", Groups: []string{"cleaners"}}, []validating.Outcome{validating.Denied, validating.Admitted}},
		"nobody":               {&user.DefaultInfo{Name: "nobody"}, []validating.Outcome{validating.Denied, validating.Denied}},
	} {
		t.Run(name, func(t *testing.T) {
			response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Create, UserInfo: test.user, Object: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}")})
			var got []validating.Outcome
			for _, d := range response.Policies[0].Decisions {
				got = append(got, d.Outcome)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("get and delete differ (-want +got):\n%s", diff)
			}
		})
	}
}
