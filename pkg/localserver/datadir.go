// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// maxSocketPath is the longest path that fits into sockaddr_un on every Unix: macOS has 104 bytes
// including the terminating zero, Linux has 108.
const maxSocketPath = 103

// KubeconfigPath returns the path of the admin kubeconfig of a server with the given data
// directory.
func KubeconfigPath(dataDir string) string { return filepath.Join(dataDir, "kubeconfig") }

// dataDir is the absolute path of a server's data directory.
type dataDir string

func (d dataDir) lock() string       { return filepath.Join(string(d), "lock") }
func (d dataDir) etcd() string       { return filepath.Join(string(d), "etcd") }
func (d dataDir) pki() string        { return filepath.Join(string(d), "pki") }
func (d dataDir) kubeconfig() string { return KubeconfigPath(string(d)) }

// claim creates the directory if it is missing and locks it for this server. release unlocks it;
// the end of the process does so as well.
func (d dataDir) claim() (release func() error, err error) {
	for _, dir := range []string{string(d), d.etcd(), d.pki()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, d.unusable(err)
		}
	}
	lock, err := fileutil.TryLockFile(d.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use by another server%s: stop that one or choose another directory", d, d.holder())
	}
	if err != nil {
		return nil, d.unusable(err)
	}
	if err = lock.Truncate(0); err == nil {
		_, err = lock.WriteString(strconv.Itoa(os.Getpid()))
	}
	if err != nil {
		lock.Close()
		return nil, d.unusable(err)
	}
	return lock.Close, nil
}

func (d dataDir) unusable(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("data directory %s cannot be written to: %w: choose another directory or change its permissions", d, err)
}

// holder returns " (process N)" for the process ID in the lock file, or an empty string.
func (d dataDir) holder() string {
	content, err := os.ReadFile(d.lock())
	if pid, numErr := strconv.Atoi(strings.TrimSpace(string(content))); err == nil && numErr == nil {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// socket returns a path for etcd's socket. The socket is inside the data directory, which only its
// owner may enter, or in a private temporary directory if the path would be too long. remove
// deletes the socket, or the temporary directory.
func (d dataDir) socket() (path string, remove func(), err error) {
	path = filepath.Join(d.etcd(), "client.sock")
	if len(path) <= maxSocketPath {
		return path, func() { os.Remove(path) }, nil
	}
	dir, err := os.MkdirTemp("", "celador-")
	if err != nil {
		return "", nil, fmt.Errorf("no directory for etcd's socket: %w: choose a data directory with a shorter path", err)
	}
	return filepath.Join(dir, "client.sock"), func() { os.RemoveAll(dir) }, nil
}

// writeFile replaces path atomically, so neither a crash nor a concurrent reader sees a partial
// file.
func writeFile(path string, content []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s: %w", path, err)
		}
	}()
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
