// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// A binary is a Go program for Linux that needs no shared libraries.
type binary struct {
	name         string
	content      []byte
	version      string
	architecture string // as in GOARCH
	revision     string // the commit
	modules      []*debug.Module
}

// readBinary reads a program and the versions of the modules in it. It returns an error if the file
// is not a static Go program for Linux.
func readBinary(file, version, revision string) (*binary, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s is not a Go program: %w", file, err)
	}
	setting := func(key string) string {
		i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if i < 0 {
			return ""
		}
		return info.Settings[i].Value
	}
	if system := setting("GOOS"); system != "linux" {
		return nil, fmt.Errorf("%s is for GOOS=%s: build it with GOOS=linux", file, system)
	}
	program, err := elf.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 {
		return nil, fmt.Errorf("%s needs shared libraries %v, and the image has none: build it with CGO_ENABLED=0", file, libraries)
	}
	b := &binary{name: filepath.Base(file), content: content, version: version, architecture: setting("GOARCH"), revision: revision}
	b.modules = append([]*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}, {Path: info.Main.Path, Version: version}}, info.Deps...)
	return b, nil
}

// path returns where the program is in the image, and sbomPath where its bill of materials is. The
// program is in a directory of PATH, because kubeadm's static pods call kube-apiserver by its name
// alone.
func (b *binary) path() string     { return path.Join(binaryDir, b.name) }
func (b *binary) sbomPath() string { return "usr/local/share/sbom/" + b.name + ".spdx.json" }

// checksum returns the SHA-256 of the program in hexadecimal digits.
func (b *binary) checksum() string {
	sum := sha256.Sum256(b.content)
	return hex.EncodeToString(sum[:])
}
