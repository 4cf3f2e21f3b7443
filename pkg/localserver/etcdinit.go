// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"k8s.io/klog/v2"
)

// firstSegment is the name of the first file of etcd's write-ahead log.
const firstSegment = "0000000000000000-0000000000000000.wal"

// discardUninitialized deletes etcd's data in dir if etcd was killed during its first start: after
// it created the write-ahead log, and before it wrote the first entry, which makes etcd a member of
// its own cluster. When etcd starts with such a log, it waits forever for a leader that nobody can
// elect. The log holds no stored objects.
func discardUninitialized(dir string) error {
	member := filepath.Join(dir, "member")
	if !uninitialized(member) {
		return nil
	}
	klog.InfoS("etcd: start anew, because the store was never initialized", "directory", member)
	return os.RemoveAll(member)
}

// uninitialized reports whether the write-ahead log in the given member directory is as etcd
// creates it, and nothing has been written to the database. It returns false if a file cannot be
// read.
func uninitialized(member string) bool {
	// etcd preallocates further segments under other names, such as 1.tmp.
	segments, err := fileutil.ReadDir(filepath.Join(member, "wal"), fileutil.WithExt(".wal"))
	if err != nil || !slices.Equal(segments, []string{firstSegment}) {
		return false
	}
	snapshots, err := fileutil.ReadDir(filepath.Join(member, "snap"))
	if err != nil || len(snapshots) > 0 && !slices.Equal(snapshots, []string{"db"}) {
		return false
	}
	return emptyLog(filepath.Join(member, "wal", firstSegment)) && emptyDatabase(filepath.Join(member, "snap", "db"))
}

// emptyLog reports whether the file holds only the records that begin a log, followed by the zeros
// of the space that etcd preallocates.
func emptyLog(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() != wal.SegmentSizeBytes {
		return false
	}
	records, record := wal.NewDecoder(fileutil.NewFileReader(file)), &walpb.Record{}
	for _, kind := range []int64{wal.CrcType, wal.MetadataType, wal.SnapshotType} {
		if err := records.Decode(record); err != nil || record.GetType() != kind {
			return false
		}
	}
	rest := io.NewSectionReader(file, records.LastOffset(), wal.SegmentSizeBytes)
	chunk, zeros := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := rest.Read(chunk)
		if !bytes.Equal(chunk[:n], zeros[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// emptyDatabase reports whether the database has applied no entry of the log, or does not exist
// yet.
func emptyDatabase(path string) (empty bool) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err == nil || errors.Is(err, os.ErrNotExist)
	}
	err := viewDatabase(path, func(tx *bolt.Tx) error {
		empty = appliedEntry(tx) == 0
		return nil
	})
	return err == nil && empty
}
