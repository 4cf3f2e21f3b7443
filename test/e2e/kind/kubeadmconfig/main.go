// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubeadmconfig reads a configuration of kubeadm from standard input and prints it with the
// patches of a configuration of kind, whose path is the argument.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"celador.io/celador/test/e2e/kind"
)

func main() {
	if err := print(); err != nil {
		fmt.Fprintln(os.Stderr, "kubeadmconfig:", err)
		os.Exit(1)
	}
}

func print() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("%d arguments, want the path of a configuration of kind", len(os.Args)-1)
	}
	cluster, err := kind.Read(os.Args[1])
	if err != nil {
		return err
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	documents, err := kind.Patched(cluster, strings.Split(string(input), "\n---\n")...)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(documents, "---\n"))
	return nil
}
