/** Node 12 has to parse this: no `??`. */

/** Version of "engines" in package.json. */
const MAJOR = 20;
const MINOR = 19;

const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];

/** The fault of the Node that runs this; null: none. */
export const oldNode =
  major > MAJOR || (major === MAJOR && minor >= MINOR)
    ? null
    : `umaprobe needs Node ${MAJOR}.${MINOR} or later, and this is ${process.versions.node}`;

/** Refuses an import of the package by an old Node, whose own error would tell a user nothing. */
export function refuseOldNode(): void {
  if (oldNode !== null) throw new Error(oldNode);
}
