// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

// checkData returns an error if the database or the write-ahead log in etcd's directory is damaged.
// Missing data is no error. etcd itself would read a damaged page in one of its goroutines, where a
// panic or a memory fault ends the process with a stack trace, and would wait forever for entries
// that the log lacks.
func checkData(dir string) error {
	log, path := filepath.Join(dir, "member", "wal"), filepath.Join(dir, "member", "snap", "db")
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		// Without a database that can be read, only the log is checked. If the file exists, etcd
		// cannot open it either, and reports the reason.
		return guard(func() error { return checkLog(log, 0) })
	}
	err := viewDatabase(path, func(tx *bolt.Tx) error {
		if err := checkPages(tx); err != nil {
			return err
		}
		return checkLog(log, appliedEntry(tx))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// viewDatabase calls view in a read transaction of the database. It returns view's error, or an
// error if the database cannot be read. It turns panics and memory faults into errors.
func viewDatabase(path string, view func(*bolt.Tx) error) error {
	return guard(func() error {
		db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(view)
	})
}

func checkPages(tx *bolt.Tx) error {
	// Check reads pages in another goroutine, where guard could not recover from a fault. So all
	// bytes are read here first.
	touch := func(key, value []byte) error {
		crc32.ChecksumIEEE(key)
		crc32.ChecksumIEEE(value)
		return nil
	}
	if err := tx.ForEach(func(_ []byte, bucket *bolt.Bucket) error { return bucket.ForEach(touch) }); err != nil {
		return err
	}
	var first error
	for err := range tx.Check() {
		if first == nil {
			first = err
		}
	}
	return first
}

// checkLog returns an error if the log in dir lacks entries that the database has applied. applied
// is the index of the last applied entry. etcd syncs the log to disk before it writes the database,
// so a crash cannot cause this. checkLog also returns an error if the log has no committed entry:
// such a member is in no cluster and waits for a leader forever.
func checkLog(dir string, applied uint64) error {
	if !wal.Exist(dir) {
		if applied > 0 {
			return fmt.Errorf("the log that belongs to it, %s, is missing", dir)
		}
		return nil
	}
	logged, committed, err := lastEntries(dir)
	switch {
	case err != nil:
		return fmt.Errorf("the log that belongs to it, %s: %w", dir, err)
	case applied > logged:
		return fmt.Errorf("the log that belongs to it, %s, is cut short: it ends with entry %d of %d", dir, logged, applied)
	case applied == 0 && committed == 0:
		return fmt.Errorf("the log that belongs to it, %s, has no committed entry", dir)
	}
	return nil
}

// appliedEntry returns the index of the last raft entry that the database has applied, or 0 if
// there is none.
func appliedEntry(tx *bolt.Tx) uint64 {
	bucket := tx.Bucket(schema.Meta.Name())
	if bucket == nil {
		return 0
	}
	index := bucket.Get(schema.MetaConsistentIndexKeyName)
	if len(index) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(index)
}

// lastEntries returns the index of the last raft entry in the log, and the index of the last entry
// that is known to be committed.
func lastEntries(dir string) (last, committed uint64, err error) {
	logger := zap.NewNop()
	snapshots, err := wal.ValidSnapshotEntries(logger, dir)
	if err != nil || len(snapshots) == 0 {
		return 0, 0, err
	}
	snapshot := snapshots[len(snapshots)-1]
	log, err := wal.OpenForRead(logger, dir, snapshot)
	if err != nil {
		return 0, 0, err
	}
	defer log.Close()
	_, state, entries, err := log.ReadAll()
	if err != nil {
		return 0, 0, err
	}
	last, committed = snapshot.GetIndex(), max(snapshot.GetIndex(), state.GetCommit())
	if len(entries) > 0 {
		last = entries[len(entries)-1].GetIndex()
	}
	return last, committed, nil
}

// guard calls f and turns a panic or a memory fault in its goroutine into an error.
func guard(f func() error) (err error) {
	previous := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(previous)
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("a file is damaged or cut short (%w)", reason)
		default:
			err = fmt.Errorf("a file is damaged (%v)", reason)
		}
	}()
	return f()
}
