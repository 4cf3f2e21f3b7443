// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/procfs"
)

// Environment describes the machine and the module versions of a run.
type Environment struct {
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu"`
	CPUs     int               `json:"cpus"`
	Commit   string            `json:"commit,omitempty"`
	Modules  map[string]string `json:"modules"`
	// Servers has the version and the commit of each kube-apiserver that ran. The binaries may be
	// older than Commit.
	Servers map[string]string `json:"servers,omitempty"`
}

// modules are the modules whose versions influence the figures, and are reported.
var modules = []string{"k8s.io/apiserver", "k8s.io/kubernetes", "github.com/google/cel-go", "go.etcd.io/etcd/server/v3"}

// CurrentEnvironment returns the environment of this process. Unknown fields are empty.
func CurrentEnvironment() Environment {
	e := Environment{
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      cpu(),
		CPUs:     runtime.NumCPU(),
		Modules:  map[string]string{},
		Servers:  map[string]string{},
	}
	if commit, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		e.Commit = strings.TrimSpace(string(commit))
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range build.Deps {
			for _, module := range modules {
				if dependency.Path == module {
					e.Modules[module] = dependency.Version
				}
			}
		}
	}
	return e
}

// cpu returns the name of the processor, or an empty string on other systems than Linux.
func cpu() string {
	system, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	if processors, err := system.CPUInfo(); err == nil && len(processors) > 0 {
		return processors[0].ModelName
	}
	return ""
}
