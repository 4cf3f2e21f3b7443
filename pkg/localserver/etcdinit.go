// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"k8s.io/klog/v2"
)

// firstSegment is the file with which etcd begins its write-ahead log.
const firstSegment = "0000000000000000-0000000000000000.wal"

// discardUninitialized deletes etcd's data in dir if etcd ended after it had created its
// write-ahead log and before it had written the first entry, which makes it a member of its
// own cluster. etcd takes such a log for that of a member, and waits for a leader that
// nobody can elect. Nothing was stored by then.
func discardUninitialized(dir string) error {
	member := filepath.Join(dir, "member")
	if !uninitialized(member) {
		return nil
	}
	klog.InfoS("etcd: start anew, because the store was never initialized", "directory", member)
	return os.RemoveAll(member)
}

// uninitialized reports whether the log in etcd's directory member is as etcd creates it, and
// nothing else there has been written to since. If in doubt, the answer is no.
func uninitialized(member string) bool {
	files, err := fileutil.ReadDir(filepath.Join(member, "wal"))
	if err != nil {
		return false
	}
	for _, name := range files {
		// Files for the next segments get ready under other names, such as 1.tmp.
		if filepath.Ext(name) == ".wal" && name != firstSegment {
			return false
		}
	}
	snapshots, err := fileutil.ReadDir(filepath.Join(member, "snap"))
	if err != nil {
		return false
	}
	for _, name := range snapshots {
		if name != "db" {
			return false
		}
	}
	return emptyLog(filepath.Join(member, "wal", firstSegment)) && emptyDatabase(filepath.Join(member, "snap", "db"))
}

// emptyLog reports whether the file holds the records with which a log begins and, in all of
// the space that etcd reserves for it, nothing else.
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

// emptyDatabase reports whether no entry of the log has been applied to the database. There
// may be none yet.
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
