// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command chart renders the Helm chart of the polyfill to manifests for kubectl, without a cluster.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	chart := flag.String("chart", "deploy/webhook/chart", "the directory of the chart")
	output := flag.String("output", "deploy/webhook/manifests", "the directory to write the manifests to")
	flag.Parse()
	if err := write(*chart, *output); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// write renders the chart with its default values, together with the Namespace, to files in the
// directory output. The hook that Helm runs before it deletes a release goes to a file of its own,
// because kubectl must not create it with the rest.
func write(chart, output string) error {
	rendered, err := render(chart, map[string]any{"createNamespace": true})
	if err != nil {
		return err
	}
	const hook = "uninstall.yaml"
	files := map[string]*bytes.Buffer{"webhook.yaml": {}, hook: {}}
	for _, template := range templates(rendered) {
		file := files["webhook.yaml"]
		if template == hook {
			file = files[hook]
		}
		if file.Len() == 0 {
			fmt.Fprintf(file, "# Rendered from %s by hack/update-webhook-manifests.sh. Do not edit.\n", filepath.ToSlash(chart))
		}
		fmt.Fprintf(file, "---\n%s\n", rendered[template])
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(output, name), content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns the YAML documents of each template that has any, by the name of its file. The
// values replace the default ones.
func render(dir string, values map[string]any) (map[string]string, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: chart.Name(), Namespace: "celador-system", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	documents := map[string]string{}
	for template, text := range rendered {
		if text = strings.TrimSpace(text); path.Ext(template) == ".yaml" && text != "" {
			documents[path.Base(template)] = text
		}
	}
	return documents, nil
}

// templates returns the names of the templates in the order in which kubectl must create their
// objects: the Namespace first.
func templates(rendered map[string]string) []string {
	var names []string
	for name := range rendered {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		const first = "namespace.yaml"
		if (a == first) != (b == first) {
			if a == first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}
