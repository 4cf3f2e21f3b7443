// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// kubeadm is a part of the configuration that kind gives to kubeadm.
const kubeadm = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.37.0
apiServer:
  certSANs: [localhost]
  extraArgs:
  - name: runtime-config
    value: ""
`

// TestExample checks that the static pod of the example runs bin/kube-apiserver.
func TestExample(t *testing.T) {
	cluster, err := Read("../../../examples/kind/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := Patched(cluster, kubeadm, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n")
	if err != nil {
		t.Fatal(err)
	}
	var configuration struct {
		APIServer struct {
			CertSANs     []string
			ExtraVolumes []struct {
				HostPath, MountPath, PathType string
				ReadOnly                      bool
			}
		}
	}
	if err := yaml.Unmarshal([]byte(documents[0]), &configuration); err != nil {
		t.Fatal(err)
	}
	server := configuration.APIServer
	if len(server.CertSANs) != 1 || len(server.ExtraVolumes) != 1 {
		t.Fatalf("the API server's configuration is %+v", server)
	}
	volume := server.ExtraVolumes[0]
	if volume.MountPath != "/usr/local/bin/kube-apiserver" || volume.PathType != "File" || !volume.ReadOnly {
		t.Errorf("the volume is %+v", volume)
	}
	if len(cluster.Nodes) != 1 || len(cluster.Nodes[0].ExtraMounts) != 1 {
		t.Fatalf("nodes %+v", cluster.Nodes)
	}
	mount := cluster.Nodes[0].ExtraMounts[0]
	file, found := strings.CutPrefix(volume.HostPath, mount.ContainerPath+"/")
	if got := filepath.Join(mount.HostPath, file); !found || got != "bin/kube-apiserver" || !mount.Readonly {
		t.Errorf("the mount %+v has %s at the volume's host path %s", mount, got, volume.HostPath)
	}
}

func TestErrors(t *testing.T) {
	const head = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"
	for name, test := range map[string]struct{ content, want string }{
		"unknown field": {head + "node: []\n", "field node not found"},
		"other kind":    {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n", "want a Cluster"},
		"other version of kubeadm's API": {head + "kubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  apiVersion: kubeadm.k8s.io/v1beta3\n",
			"no document has the type of the patch, kubeadm.k8s.io/v1beta3, ClusterConfiguration"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "cluster.yaml")
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			cluster, err := Read(file)
			if err == nil {
				_, err = Patched(cluster, kubeadm)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
