/** Why pages of a file stayed in the cache although they were asked to go. */

import { reason } from '../base/facts.ts';
import type { NativeCachedFile } from '../native/contract.ts';
import type { EvictedFile, EvictReport } from '../types/index.ts';
import { type Mapper, mapperWords } from './mappings.ts';

export type Stay = keyof EvictReport['stayedBy'];

export interface Stayed {
  why: Stay;
  words: string;
}

/**
 * @param file as the walk reported it; something of it stayed.
 * @param unreadable processes whose mappings could not be read.
 */
export function whyStayed(file: NativeCachedFile, mappers: readonly Mapper[], unreadable: number): Stayed {
  if (file.memory === true)
    return { why: 'memory', words: 'the file system lives in memory (tmpfs): the pages are the file itself' };
  if (file.failure !== undefined) return { why: 'other', words: reason(file.failure) };
  const who = [...new Set(mappers.map(mapperWords))].join(', ');
  if (mappers.some(({ locked }) => locked)) return { why: 'locked', words: `locked in memory by ${who}` };
  if (mappers.length > 0) return { why: 'mapped', words: `mapped by ${who}` };
  if ((file.dirty ?? 0) > 0) return { why: 'dirty', words: 'dirty: not written to disk yet; --sync writes it first' };
  if ((file.writeback ?? 0) > 0) return { why: 'dirty', words: 'being written to disk at this moment' };
  const others =
    unreadable > 0 ? `, or mapped by one of ${unreadable} processes of other users that cannot be looked into` : '';
  return { why: 'other', words: `in use at this moment (being read or written)${others}` };
}

export function evictedFile(
  { path, cached = 0, cachedAfter = cached }: NativeCachedFile,
  mappedBy: Mapper[],
  stayed: Stayed | null,
): EvictedFile {
  return {
    path,
    cachedBefore: cached,
    cachedAfter,
    evictedBytes: cached - cachedAfter,
    stayed: stayed?.words ?? null,
    mappedBy,
  };
}
