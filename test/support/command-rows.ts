/** The simplest arguments of each command, for tests over all of them. */

export interface CommandRow {
  /** What is typed after the name, and after `--sim` where the command reads a machine. FOLDER is a new folder. */
  args: string;
  /** The name of its document and of the schema's file; null: it prints nothing, a script, or what its program prints. */
  schema: string | null;
  /** Why the text of a command that reads a machine has no band. */
  withoutBand?: string;
  /** What is on stdin. */
  input?: string;
  /** Ends with an error on a simulated machine: for this reason always, as root not. */
  refused?: 'has no files' | 'writes to the kernel';
}

export const COMMAND_ROWS: Readonly<Record<string, CommandRow>> = {
  snapshot: { args: '', schema: 'snapshot' },
  watch: { args: '--count 1', schema: 'snapshot' },
  doctor: { args: '', schema: 'doctor' },
  processes: { args: '', schema: 'processes' },
  explain: { args: '', schema: 'explain' },
  compare: { args: 'gb10 gb10-busy', schema: 'compare' },
  fit: { args: '--bytes 1GiB', schema: 'fit' },
  estimate: { args: '--params 7e9', schema: 'estimate', withoutBand: 'no number of it comes from a machine' },
  sweep: { args: '--sizes 64MiB --kind device --journal none', schema: 'sweep' },
  layout: { args: 'a=64MiB --journal none', schema: 'layout' },
  stress: { args: '--max 256MiB --journal none', schema: 'stress' },
  profile: { args: '--vary n=1 --no-record -- true {n}', schema: 'profile' },
  'cache status': { args: '', schema: 'cache-status' },
  'cache evict': { args: '/', schema: 'cache-evict', refused: 'has no files' },
  'cache drop': { args: '', schema: 'cache-drop', refused: 'writes to the kernel' },
  'cache compact': { args: '', schema: 'cache-compact', refused: 'writes to the kernel' },
  'cache reclaim': { args: '1GiB', schema: 'cache-reclaim', refused: 'writes to the kernel' },
  'cache rule': { args: '--user somebody', schema: 'cache-rule' },
  prepare: { args: '--bytes 1GiB --dry-run', schema: 'prepare' },
  launch: { args: '--bytes 64MiB --dry-run -- true', schema: 'launch' },
  guard: { args: '--floor 115GiB -- sleep 1', schema: 'guard' },
  record: { args: '--duration 1s --folder FOLDER', schema: 'record' },
  'record show': { args: '--folder FOLDER', schema: 'record' },
  mark: { args: 'hello --folder FOLDER', schema: null, withoutBand: 'prints nothing' },
  cluster: { args: '-', schema: 'cluster', input: '' },
  'cluster check': { args: '--need 1GiB -', schema: 'cluster-check', input: '' },
  'sim list': { args: '', schema: 'sim-list' },
  'sim show': { args: 'gb10', schema: 'machine' },
  'sim run': { args: 'gb10 -- true', schema: null },
  'sim grow': { args: '--help', schema: null },
  metrics: { args: '', schema: null },
  serve: { args: '', schema: null, withoutBand: 'prints an address' },
  mcp: { args: '', schema: null, withoutBand: 'prints the protocol only' },
  completion: { args: 'bash', schema: null },
  version: { args: '', schema: 'version' },
};

export const rowOf = (name: string) => COMMAND_ROWS[name] as CommandRow;

export function wordsOf(args: string, folder: string): string[] {
  const words = args.split(' ').filter((word) => word !== '');
  return words.map((word) => (word === 'FOLDER' ? folder : word));
}
