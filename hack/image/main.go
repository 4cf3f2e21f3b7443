// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command image packs a static binary, such as kube-apiserver, into a container image, without a
// container engine. Equal arguments and binaries give equal bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// A request holds the flags of the command.
type request struct {
	binary, version, revision, tag string
	description, user              string
	created                        time.Time
	output, sbom                   string
}

func main() {
	var r request
	flag.StringVar(&r.binary, "binary", "", "the program, for Linux and without cgo; the image has its name as the title")
	flag.StringVar(&r.version, "version", "", "the version that the binary reports")
	flag.StringVar(&r.revision, "revision", "", "the commit that the binary was built from")
	flag.StringVar(&r.tag, "tag", "", "the name of the image, such as example.com/kube-apiserver:v1.37.1")
	flag.StringVar(&r.description, "description", "", "one line about the program")
	flag.StringVar(&r.user, "user", "", "the user and group that the program runs as, such as 65532:65532, or empty for root")
	created := flag.Int64("created", 0, "the time of creation, in seconds since 1970")
	flag.StringVar(&r.output, "output", "", "the docker-archive to write")
	flag.StringVar(&r.sbom, "sbom", "", "the SPDX document to write, which is in the image, too")
	flag.Parse()
	r.created = time.Unix(*created, 0).UTC()
	if err := r.write(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write packs the binary into an image, and writes its SPDX document.
func (r *request) write() error {
	reference, err := name.NewTag(r.tag, name.StrictValidation)
	if err != nil {
		return err
	}
	binary, err := readBinary(r.binary, r.version, r.revision)
	if err != nil {
		return err
	}
	sbom, err := binary.sbom(r.created)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.sbom, sbom, 0o644); err != nil {
		return err
	}
	image, err := binary.image(sbom, r)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(r.output, reference, image)
}
