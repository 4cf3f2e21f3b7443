// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command image packs a static kube-apiserver binary into a container image, without a container engine. Equal arguments and binaries
// give equal bytes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func main() {
	binary := flag.String("binary", "", "the kube-apiserver, for Linux and without cgo")
	version := flag.String("version", "", "the version that the binary reports")
	tag := flag.String("tag", "", "the name of the image, such as example.com/kube-apiserver:v1.37.1")
	created := flag.Int64("created", 0, "the time of creation, in seconds since 1970")
	output := flag.String("output", "", "the docker-archive to write")
	bill := flag.String("sbom", "", "the SPDX document to write, which is in the image, too")
	flag.Parse()
	if err := write(*binary, *version, *tag, time.Unix(*created, 0).UTC(), *output, *bill); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write packs the program in file into the image output, and writes its SPDX document to bill.
func write(file, version, tag string, created time.Time, output, bill string) error {
	reference, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return err
	}
	binary, err := readBinary(file, version)
	if err != nil {
		return err
	}
	sbom, err := binary.sbom(created)
	if err != nil {
		return err
	}
	if err := os.WriteFile(bill, sbom, 0o644); err != nil {
		return err
	}
	image, err := binary.image(sbom, created)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(output, reference, image)
}
