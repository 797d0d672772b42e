/** Words that people know from other programs, and what they are called here. */

/** Words where a command is expected, and the hint. */
export const FOREIGN_COMMANDS: Readonly<Record<string, string>> = {
  memory: 'Did you mean umaprobe snapshot?',
  mem: 'Did you mean umaprobe snapshot?',
  free: 'Did you mean umaprobe snapshot?',
  info: 'Did you mean umaprobe snapshot?',
  top: 'Did you mean umaprobe watch?',
  ps: 'Did you mean umaprobe processes?',
  bench: 'Did you mean umaprobe sweep?',
  memtest: 'Did you mean umaprobe stress --verify?',
  kill: 'umaprobe ends no program that it did not start: umaprobe processes shows who holds the memory.',
};

/** Options as vLLM, SGLang, llama.cpp, watch and web servers call them. */
export const FOREIGN_OPTIONS: Readonly<Record<string, string>> = {
  tp: 'tensor-parallel',
  ctx: 'context',
  'ctx-size': 'context',
  'context-length': 'context',
  'max-model-len': 'context',
  'max-num-seqs': 'sequences',
  'kv-cache-dtype': 'kv-dtype',
  quant: 'dtype',
  quantization: 'dtype',
  'gpu-memory-utilization': 'utilization',
  'mem-fraction-static': 'utilization',
  host: 'listen',
  port: 'listen',
  size: 'bytes',
  limit: 'max',
  n: 'interval',
};

/** Values of theirs as ours are written. */
export const FOREIGN_VALUES: Readonly<Record<string, (value: string) => string>> = {
  n: (seconds) => `${seconds}s`,
  port: (port) => `127.0.0.1:${port}`,
};

/** Options of other commands that one does not need. */
export const NEEDLESS_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  doctor: { full: 'umaprobe doctor | less shows every check.' },
};
