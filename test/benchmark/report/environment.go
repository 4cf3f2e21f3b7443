// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// Environment is where the figures are from.
type Environment struct {
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	CPU      string            `json:"cpu"`
	CPUs     int               `json:"cpus"`
	Commit   string            `json:"commit,omitempty"`
	Modules  map[string]string `json:"modules"`
}

// modules are those whose versions matter.
var modules = []string{"k8s.io/apiserver", "k8s.io/kubernetes", "github.com/google/cel-go", "go.etcd.io/etcd/server/v3"}

// CurrentEnvironment returns that of this process. What cannot be found out is empty.
func CurrentEnvironment() Environment {
	e := Environment{
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CPU:      cpu(),
		CPUs:     runtime.NumCPU(),
		Modules:  map[string]string{},
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

// cpu returns the processor's name, where Linux tells.
func cpu() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
