// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// binaryDir is the directory of the program in the image.
const binaryDir = "usr/local/bin"

// users is the content of /etc/passwd, with the users that Kubernetes' own image has.
const users = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n"

// image returns an image with the program and its bill of materials in one layer. A layer below has
// the files of the system, such as /etc/passwd, which seldom change.
func (b *binary) image(sbom []byte, r *request) (v1.Image, error) {
	created := r.created
	system := []file{
		{name: "etc/passwd", content: []byte(users), mode: 0o644},
		{name: "etc/nsswitch.conf", content: []byte("hosts: files dns\n"), mode: 0o644},
		{name: "tmp/", mode: 0o1777},
	}
	program := []file{
		{name: b.path(), content: b.content, mode: 0o755},
		{name: b.sbomPath(), content: sbom, mode: 0o644},
	}
	image := v1.Image(empty.Image)
	for _, files := range [][]file{system, program} {
		layer, err := newLayer(files, created)
		if err != nil {
			return nil, err
		}
		addendum := mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "make image"}}
		if image, err = mutate.Append(image, addendum); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", b.architecture, v1.Time{Time: created}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + b.path()},
		Env:        []string{"PATH=/" + binaryDir},
		User:       r.user,
		Labels: map[string]string{
			"org.opencontainers.image.title":       b.name,
			"org.opencontainers.image.description": r.description,
			"org.opencontainers.image.version":     b.version,
			"org.opencontainers.image.revision":    b.revision,
			"org.opencontainers.image.created":     created.Format(time.RFC3339),
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.vendor":      "The Celador Authors",
		},
	}
	return mutate.ConfigFile(image, config)
}

// A file of a layer. The name of a directory ends with a slash.
type file struct {
	name    string
	content []byte
	mode    int64
}

// newLayer returns a layer with the files and the directories above them, all owned by root.
func newLayer(files []file, modified time.Time) (v1.Layer, error) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	written := map[string]bool{}
	add := func(f file) error {
		written[f.name] = true
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: modified, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		_, err := writer.Write(f.content)
		return err
	}
	for _, f := range files {
		for i, char := range f.name {
			if parent := f.name[:i+1]; char == '/' && parent != f.name && !written[parent] {
				if err := add(file{name: parent, mode: 0o755}); err != nil {
					return nil, err
				}
			}
		}
		if err := add(f); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil })
}
