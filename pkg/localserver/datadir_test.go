// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaimIsExclusive(t *testing.T) {
	dir := dataDir(filepath.Join(t.TempDir(), "a", "b"))
	release, err := dir.claim()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("data directory %s is in use by another server (process %d)", dir, os.Getpid())
	if _, err := dir.claim(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("second claim: got error %v, want %q", err, want)
	}
	release()

	release, err = dir.claim()
	if err != nil {
		t.Fatalf("claim after the release: %v", err)
	}
	release()
}

func TestClaimIsPrivate(t *testing.T) {
	dir := dataDir(filepath.Join(t.TempDir(), "data"))
	release, err := dir.claim()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, path := range []string{string(dir), dir.etcd(), dir.pki()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}

func TestClaimUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	lockIsDir := t.TempDir()
	if err := os.Mkdir(dataDir(lockIsDir).lock(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below"), lockIsDir, "/dev/null/x"} {
		_, err := dataDir(path).claim()
		if want := fmt.Sprintf("data directory %s cannot be written to", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

func TestSocketFits(t *testing.T) {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	long := filepath.Join(short, strings.Repeat("long", 30))
	for _, root := range []string{short, long} {
		dir := dataDir(root)
		if err := os.MkdirAll(dir.etcd(), 0o700); err != nil {
			t.Fatal(err)
		}
		path, remove, err := dir.socket()
		if err != nil {
			t.Fatal(err)
		}
		if inside := strings.HasPrefix(path, root); inside != (root == short) {
			t.Errorf("socket %s for data in %s", path, root)
		}
		info, err := os.Stat(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("directory of socket %s has mode %v", path, info.Mode())
		}
		listener, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
		remove()
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("socket %s is still there: %v", path, err)
		}
	}
}
