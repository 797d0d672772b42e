/** The page cache, as the binary reports it: part of the contract in native.types.ts. */

import type { NativeFailure } from './contract.ts';

/**
 * A file or directory met by a walk, and what of it is in the page cache. Cached bytes are whole pages, so they may exceed
 * `bytes` by less than a page (a huge one, where the kernel took one).
 */
export interface NativeCachedFile {
  /**
   * As it was given, and below that as the directories have it. A byte that is not UTF-8 is the lone surrogate U+DC00 + byte
   * (as in Python's surrogateescape), and `cacheWalk` takes it back as that byte: every path goes round unharmed.
   */
  path: string;
  /** `file`; `link`: a symbolic link, or an inode already met; `special`: FIFO, socket, device; `problem`: see `failure`. */
  what: 'file' | 'link' | 'special' | 'problem';
  bytes?: number;
  dev?: number;
  ino?: number;
  /**
   * Bytes in cache, before an eviction where there is one. Absent when the kernel does not tell (`failure`, EPERM): both
   * methods show a file's pages only to its owner, to who may write it, or to CAP_FOWNER.
   */
  cached?: number;
  /** null: mincore does not know. */
  dirty?: number | null;
  writeback?: number | null;
  /** Of a file system that lives in memory (tmpfs): its pages are the file itself, and cannot be evicted. */
  memory?: true;
  /** Eviction only. Absent, although it was asked for: the pages cannot be seen. */
  cachedAfter?: number;
  syncMs?: number;
  /**
   * Of a `problem`: why it was not opened or looked at. Of a `file`: why its pages are not known (EPERM), or why it could not
   * be written (fdatasync; then nothing of it was evicted).
   */
  failure?: NativeFailure;
}

export interface NativeWalkOptions {
  /**
   * `status`: look. `evict`: posix_fadvise(DONTNEED) of what is not dirty, and look again. `evict-sync`: fdatasync before.
   * Files whose pages cannot be seen are asked to go as well; nobody knows what of them went.
   */
  mode: 'status' | 'evict' | 'evict-sync';
  /** Files that have nothing in cache, links and special files are listed as well; else they are counted only. */
  listEmpty: boolean;
  /**
   * List a file with something in cache only when it is, as far as the walk has come, among so many with the most: the last
   * entries to be listed hold the `top` of all; so is every file of which an eviction left something. Absent: every one is
   * listed. 100,000 entries cost 0.25 s of JavaScript's thread.
   */
  top?: number;
  /** Use mincore although cachestat is there. For tests. */
  method?: 'mincore';
}

export interface NativeWalkBatch {
  method: 'cachestat' | 'mincore';
  /** Some 450 at most; the rest comes with the next call. Sums are of the whole walk up to now. */
  entries: NativeCachedFile[];
  /**
   * Every file that has something in cache, also those not listed, since the last batch: dev, ino, cached, cachedAfter (cached,
   * where it is not an eviction).
   */
  inodes: Float64Array;
  files: number;
  directories: number;
  /** Symbolic links inside trees, and inodes met again (hard links, a path given twice). */
  links: number;
  special: number;
  /** Without `listEmpty` the first 100 are listed. */
  problems: number;
  /** Gone between the directory's listing and the look at it: no problem. */
  vanished: number;
  /** Mount points of file systems without pages (proc, sysfs, cgroup and the like), not entered. As a given path: a problem. */
  pseudo: number;
  /** Files whose pages the kernel does not show to this user, and their bytes. */
  unseen: number;
  unseenBytes: number;
  bytes: number;
  cached: number;
  /** Of `cached`: in file systems that live in memory. */
  memory: number;
  /** null: mincore does not know. */
  dirty: number | null;
  writeback: number | null;
  /** Eviction only: what stayed of `cached`. */
  cachedAfter: number;
  syncMs: number;
  /** Where it is. */
  path: string;
  done: boolean;
}

/** Mappings of files by processes, as /proc/<pid>/maps has them. */
export interface NativeMappings {
  /**
   * dev, ino, pid, locked (1: some of it is, by mlock; else 0) of each mapping of the inodes that were asked about; each process
   * and inode once. Columns, because a library that everybody maps is thousands of them.
   */
  files: Float64Array;
  /** Processes of others, whose maps the kernel does not show to this user. Kernel threads have none and do not count. */
  unreadable: number;
}
