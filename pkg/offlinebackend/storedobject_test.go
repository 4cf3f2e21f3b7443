// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: web, image: nginx}]}}
`

const service = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80}]}
`

// An old object has what the server set when it was created, and so has an update of it.
func TestUpdatesOfManifests(t *testing.T) {
	for name, manifest := range map[string]string{
		"job": job, "pod": pod, "service": service, "deployment": clustertest.DeploymentYAML("1"),
		"widget": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default}\nspec: {}",
	} {
		t.Run(name, func(t *testing.T) {
			policy := clustertest.Report("*", "*", "*", "object.spec == oldObject.spec ? 'same' : 'changed'")
			c := clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Widgets+"---\n"+policy)
			changed := clustertest.Object(t, manifest)
			changed.SetLabels(map[string]string{"a": "b"})
			response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Update, Object: changed, OldObject: clustertest.Object(t, manifest)})
			if response.Status == nil || !strings.HasSuffix(response.Status.Error(), "denied request: same") {
				t.Errorf("status is %v", response.Status)
			}
			response = clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Widgets), &cluster.Request{Operation: admission.Update, Object: changed, OldObject: clustertest.Object(t, manifest)})
			if !response.Allowed || response.Object.GetLabels()["a"] != "b" {
				t.Errorf("without policies, allowed %v, status is %v", response.Allowed, response.Status)
			}
		})
	}
}

// A changed field stays changed, and a removed one stays removed.
func TestUpdatesKeepChanges(t *testing.T) {
	old := clustertest.Object(t, strings.Replace(pod, "    image: nginx", "    image: nginx\n  - name: log\n    image: log", 1))
	old.SetAnnotations(map[string]string{"a": "removed"})
	changed := clustertest.Object(t, strings.Replace(pod, "    image: nginx", "    image: new\n  - name: log\n    image: log", 1))
	policy := clustertest.Report("", "v1", "pods", `object.spec.containers.map(c, c.image).join(' ') + ' ' + string(object.spec.containers == oldObject.spec.containers) + ' ' + string(has(object.metadata.annotations)) + ' ' + string(object.spec.containers[1].volumeMounts.size())`)
	response := clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, policy), &cluster.Request{Operation: admission.Update, Object: changed, OldObject: old})
	if response.Status == nil || !strings.HasSuffix(response.Status.Error(), "denied request: new log false false 1") {
		t.Errorf("status is %v", response.Status)
	}
}

func TestDeletionOfTerminatingPod(t *testing.T) {
	terminating := clustertest.Object(t, pod)
	terminating.SetFinalizers([]string{"example.com/a"})
	_ = unstructured.SetNestedField(terminating.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	_ = unstructured.SetNestedField(terminating.Object, int64(30), "metadata", "deletionGracePeriodSeconds")
	response := clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Report("", "v1", "pods", "'no'")), &cluster.Request{Operation: admission.Delete, OldObject: terminating})
	if !response.Allowed || response.Policies[0].Effect != cluster.NotMatched {
		t.Errorf("allowed %v, policies are %+v", response.Allowed, response.Policies)
	}
}

// Services may have addresses of every server's range.
func TestAddressOfService(t *testing.T) {
	response := clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Replicas), &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {clusterIP: 172.20.3.4, ports: [{port: 80}]}")})
	if !response.Allowed {
		t.Error(response.Status)
	}
}

// The roles and bindings of controllers, and the group system:masters, are those of a server.
func TestBootstrapPolicy(t *testing.T) {
	const replaced = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: cluster-admin}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: root}]
`
	for expression, want := range map[string]bool{
		"authorizer.serviceAccount('kube-system', 'deployment-controller').group('apps').resource('replicasets').namespace('x').check('create')": true,
		"authorizer.serviceAccount('kube-system', 'deployment-controller').group('').resource('secrets').namespace('x').check('create')":         false,
		"authorizer.serviceAccount('kube-system', 'bootstrap-signer').group('').resource('secrets').namespace('kube-system').check('list')":      true,
		"authorizer.group('').resource('secrets').namespace('x').check('create')":                                                                true,
	} {
		policy := strings.Replace(clustertest.Report("", "v1", "configmaps", "'no'"), `"false"`, `"`+expression+`.allowed()"`, 1)
		c := clustertest.New(t, offlinebackend.KubeAPIServer, policy+"---\n"+replaced)
		response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}")})
		if response.Allowed != want {
			t.Errorf("%s: allowed %v, want %v", expression, response.Allowed, want)
		}
	}
}

// Priority is that of the PriorityClass, and 0 without one.
func TestPriority(t *testing.T) {
	const class = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
	for name, want := range map[string]string{"high": "1000", "unknown": "0", "system-node-critical": "2000001000", "": "0"} {
		response := clustertest.Admit(t, clustertest.New(t, offlinebackend.KubeAPIServer, class+"---\n"+clustertest.Report("", "v1", "pods", "string(object.spec.priority)")), &cluster.Request{
			Operation: admission.Create, Object: clustertest.Object(t, pod+"  priorityClassName: '"+name+"'"),
		})
		if response.Status == nil || !strings.HasSuffix(response.Status.Error(), "denied request: "+want) {
			t.Errorf("%s: status is %v, want %s", name, response.Status, want)
		}
	}
}
