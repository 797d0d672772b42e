/**
 * The simulated files of the kernel as real files, for a mount namespace in which they lie over those of this computer:
 * so programs see them that make system calls themselves (Go) or are linked statically. native/sim/abi/namespace.cc
 * does the mounts.
 */

import { existsSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFailure } from '../base/facts.ts';
import { native } from '../core/native/binding.ts';
import { isObject, type Machine, machineError } from './machine.ts';
import { activate, type Simulation } from './simulation.ts';

/** Milliseconds between two renewals: the age of what such a program reads at most. */
const RENEWAL_MS = 100;

/** Files of processes and cgroups are not here: their paths on this computer are other ones. */
const ROOTS = ['/proc', '/sys/kernel/mm'];
/** Directories whose contents cannot be hidden as a whole. */
const UNHIDEABLE = new Set(['/', '/proc', '/sys']);

interface SimulatedFile {
  path: string;
  /** null: the file can be written, but not read. */
  text: string | null;
}

export interface NamespaceFiles {
  /** Variables for a Node process that becomes the program in its arguments, in the namespace. */
  readonly env: Readonly<Record<string, string>>;
  /** Files that this kernel has no place for. */
  readonly leftOut: readonly string[];
  /** Ends the renewal. */
  close(): void;
}

/**
 * Puts this process on the machine, writes its files beside its state, and renews them until `close()`.
 *
 * @throws TypeError `ERR_INVALID_ARG_VALUE` for a machine with files that hang or fail, which a mount cannot show.
 */
export function createNamespaceFiles(machine: Machine, simulation: Simulation): NamespaceFiles {
  const missing = missingFiles(machine);
  activate(simulation);
  const plan = new Plan(join(dirname(simulation.statePath), 'files'));
  const all = ROOTS.flatMap(simulatedFiles);
  for (const folder of mirroredFolders(all, missing)) plan.mirror(folder, new Set(missing));
  const placed = all.map((file) => ({ ...file, descriptor: plan.place(file) }));
  const mounts = join(dirname(simulation.statePath), 'mounts');
  writeFileSync(mounts, plan.text());
  const timer = setInterval(() => renew(placed), RENEWAL_MS);
  return {
    env: { UMASIM_MOUNTS: mounts },
    leftOut: plan.leftOut,
    close: () => clearInterval(timer),
  };
}

/** Paths that the machine's description removes. */
function missingFiles({ name, files }: Machine): string[] {
  const described = Array.isArray(files) ? files.filter(isObject) : [];
  for (const { path, error, hangMs } of described) {
    if (error === undefined && (hangMs === undefined || hangMs === 0)) continue;
    throw machineError(`Machine ${name}: ${String(path)} fails or hangs, which --namespace cannot show.`);
  }
  return described.filter(({ missing }) => missing === true).map(({ path }) => String(path));
}

/** The machine's files below a directory. A scripted process is not a directory of this computer. */
function simulatedFiles(directory: string): SimulatedFile[] {
  const names = native().listDirectory(directory);
  if (isFailure(names)) return [];
  return names
    .filter((name) => !/^\d+$/.test(name))
    .flatMap((name) => {
      const path = `${directory}/${name}`;
      const below = simulatedFiles(path);
      if (below.length > 0) return below;
      const [text] = native().readFiles([path]);
      return [{ path, text: text === undefined || isFailure(text) ? null : text }];
    });
}

/** Directories of this computer that lack a simulated file or have one too many. */
function mirroredFolders(all: readonly SimulatedFile[], missing: readonly string[]): Set<string> {
  const extra = missing.filter((path) => existsSync(path)).map(dirname);
  const absent = all.filter(({ path }) => !existsSync(path)).map(({ path }) => existingAncestor(path));
  return new Set([...extra, ...absent].filter((folder) => !UNHIDEABLE.has(folder)));
}

function existingAncestor(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) ? parent : existingAncestor(parent);
}

/** The files in a folder of this process, and the mounts that put them over the real ones, in their order. */
class Plan {
  readonly leftOut: string[] = [];
  readonly #folder: string;
  readonly #mirrored = new Set<string>();
  readonly #mounts: string[] = [];
  /** Mounts over existing files, after those of whole directories. */
  readonly #late: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
  }

  /** Prepares a copy of a real directory, in which files may be added and removed. */
  mirror(real: string, without: ReadonlySet<string>): void {
    const copy = join(this.#folder, real);
    mkdirSync(copy, { recursive: true });
    for (const entry of readdirSync(real, { withFileTypes: true })) {
      const [from, to] = [join(real, entry.name), join(copy, entry.name)];
      if (without.has(from)) continue;
      if (entry.isDirectory()) mkdirSync(to);
      else writeFileSync(to, '');
      this.#mounts.push(`${from}\t${to}`);
    }
    this.#mounts.push(`${copy}\t${real}`);
    this.#mirrored.add(real);
  }

  /** Writes a file and returns its descriptor, for its renewal; null: it needs none. */
  place({ path, text }: SimulatedFile): number | null {
    const target = join(this.#folder, path);
    const real = existsSync(path);
    if (!real && !this.#mirrored.has(existingAncestor(path))) {
      this.leftOut.push(path);
      return null;
    }
    // The place of an existing file in a copied directory is a mount of the real one: the copy has another name.
    const source = real ? `${target}.simulated` : target;
    mkdirSync(dirname(source), { recursive: true });
    const descriptor = openSync(source, 'w', text === null ? 0o200 : 0o444);
    writeSync(descriptor, text ?? '');
    if (real) this.#late.push(`${source}\t${path}`);
    return text === null ? null : descriptor;
  }

  text(): string {
    return [...this.#mounts, ...this.#late].map((line) => `${line}\n`).join('');
  }
}

/** Writes the present texts in place, because a mount holds the file and not its name. */
function renew(placed: readonly (SimulatedFile & { descriptor: number | null })[]): void {
  const texts = native().readFiles(placed.map(({ path }) => path));
  placed.forEach(({ descriptor }, index) => {
    const text = texts[index];
    if (descriptor === null || text === undefined || isFailure(text)) return;
    const length = writeSync(descriptor, text, 0);
    ftruncateSync(descriptor, length);
  });
}
