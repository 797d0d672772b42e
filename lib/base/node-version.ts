/** Node 12 has to parse this: no `??`. */

/** As "engines" of package.json. */
const MAJOR = 20;
const MINOR = 19;

const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];

/** What is wrong with the Node that runs this; null: nothing. */
export const oldNode =
  major > MAJOR || (major === MAJOR && minor >= MINOR)
    ? null
    : `umaprobe needs Node ${MAJOR}.${MINOR} or later, and this is ${process.versions.node}`;

/** Of an import of the package: what is missing later says nothing to a user. */
export function refuseOldNode(): void {
  if (oldNode !== null) throw new Error(oldNode);
}
