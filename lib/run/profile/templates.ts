/** Configuration files with placeholders: read once from the folder of templates, written anew for each trial. */

import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { invalidArgument } from '../../base/arguments.ts';
import { MiB } from '../../base/format.ts';
import { asPathError, checkNamedFolder, readNamedFile } from '../../base/named-path.ts';
import type { ProfileParameters } from '../../types/index.ts';
import { fill, placeholdersOf } from './placeholders.ts';

/** A configuration file is text that people write. */
const MAX_BYTES = MiB;

/** Name of a template, as in `{file:name}`, and its text. */
export type Templates = ReadonlyMap<string, string>;

/**
 * Reads the named templates. No name, and no symbolic link, leads out of the folder.
 *
 * @param folder null: none was given.
 * @throws UmaError ERR_UMA_PATH, ERR_UMA_PERMISSION: it cannot be read. TypeError: what it names is not allowed.
 */
export function readTemplates(folder: string | null, names: readonly string[]): Templates {
  const templates = new Map<string, string>();
  if (folder === null && names.length > 0)
    throw invalidArgument(`{file:${names[0]}} names a template, and there is no folder of templates (templates)`);
  if (folder === null) return templates;
  checkNamedFolder('templates', folder);
  const root = realpathSync(folder);
  for (const name of names) templates.set(name, readTemplate(root, name));
  return templates;
}

function readTemplate(root: string, name: string): string {
  const path = resolve(root, name);
  if (name === '' || name.includes('\0') || isAbsolute(name) || !isInside(root, path)) throw outside(root, name);
  const text = readNamedFile('template', realTemplate(root, path, name), MAX_BYTES);
  const [nested] = placeholdersOf(text).files;
  if (nested !== undefined)
    throw invalidArgument(
      `template ${name} has {file:${nested}}; only arguments and environment variables name templates`,
    );
  return text;
}

function realTemplate(root: string, path: string, name: string): string {
  try {
    const real = realpathSync(path);
    if (isInside(root, real)) return real;
  } catch (error) {
    throw asPathError('template', path, error);
  }
  throw outside(root, name);
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(root: string, name: string): TypeError {
  return invalidArgument(`template ${JSON.stringify(name)} leads out of the folder ${root}; name a file in it`);
}

/**
 * Writes the templates, filled in, below `folder`, which is private to this user.
 *
 * @returns the path of a template by its name.
 */
export function writeTemplates(
  templates: Templates,
  params: ProfileParameters,
  folder: string,
): (name: string) => string {
  const pathOf = (name: string) => join(folder, name);
  for (const [name, text] of templates) {
    mkdirSync(dirname(pathOf(name)), { recursive: true, mode: 0o700 });
    writeFileSync(pathOf(name), fill(text, { params, file: pathOf }), { mode: 0o600 });
  }
  return pathOf;
}
