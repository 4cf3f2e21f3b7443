// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kind reads examples/kind/cluster.yaml, and applies its patches to kubeadm's configuration
// as kind does. Tests use it on machines on which kind cannot run.
package kind

import (
	"bytes"
	"fmt"
	"os"

	jsonpatch "github.com/evanphx/json-patch/v5"
	strict "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"
)

// Read returns the cluster that a file describes, with kind's defaults. Unknown fields are errors,
// as in kind.
func Read(file string) (*v1alpha4.Cluster, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	cluster := &v1alpha4.Cluster{}
	decoder := strict.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(cluster); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if cluster.APIVersion != "kind.x-k8s.io/v1alpha4" || cluster.Kind != "Cluster" {
		return nil, fmt.Errorf("%s has a %s of %s, want a Cluster of kind.x-k8s.io/v1alpha4", file, cluster.Kind, cluster.APIVersion)
	}
	v1alpha4.SetDefaultsCluster(cluster)
	return cluster, nil
}

// Patched applies the kubeadmConfigPatches of a cluster to the documents of a configuration of
// kubeadm. A patch changes the documents with its apiVersion and kind. A patch without such a
// document is an error, because kind would silently ignore it.
func Patched(cluster *v1alpha4.Cluster, documents ...string) ([]string, error) {
	patched := make([][]byte, len(documents))
	for i, document := range documents {
		var err error
		if patched[i], err = yaml.YAMLToJSON([]byte(document)); err != nil {
			return nil, err
		}
	}
	for _, text := range cluster.KubeadmConfigPatches {
		patch, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return nil, err
		}
		matches := 0
		for i := range patched {
			if typeOf(patched[i]) != typeOf(patch) {
				continue
			}
			matches++
			if patched[i], err = jsonpatch.MergePatch(patched[i], patch); err != nil {
				return nil, err
			}
		}
		if matches == 0 {
			return nil, fmt.Errorf("no document has the type of the patch, %s", typeOf(patch))
		}
	}
	var texts []string
	for _, document := range patched {
		text, err := yaml.JSONToYAML(document)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

func typeOf(document []byte) string {
	var meta struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return err.Error()
	}
	return meta.APIVersion + ", " + meta.Kind
}
