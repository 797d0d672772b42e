/**
 * Runs PTX as a GPU would, one thread after the other: the instructions that the kernels of native/alloc/pattern_ptx.h use.
 * Any other instruction is an error, and so is an access that is misaligned or outside the memory, as on hardware.
 */

const MASK = { 8: 0xffn, 32: 0xffff_ffffn, 64: 0xffff_ffff_ffff_ffffn } as const;

interface Instruction {
  /** Register, and whether it has to be false. */
  when: { predicate: string; not: boolean } | null;
  name: string;
  operands: string[];
}

interface Kernel {
  parameters: string[];
  code: Instruction[];
  /** Name of a label, made unique by its block → index of the instruction behind it. */
  labels: Map<string, number>;
}

/** The kernels of a module by name. */
export function parsePtx(text: string): Map<string, Kernel> {
  const kernels = new Map<string, Kernel>();
  for (const [, name = '', parameters = '', rest = ''] of text.matchAll(/\.entry (\w+)\(([^)]*)\)[^{]*\{(.*?)\n\}/gs)) {
    kernels.set(name, {
      parameters: [...parameters.matchAll(/\.u64 (\w+)/g)].map(([, p]) => String(p)),
      ...body(rest),
    });
  }
  return kernels;
}

function body(text: string): Omit<Kernel, 'parameters'> {
  const code: Instruction[] = [];
  const labels = new Map<string, number>();
  const scopes: number[] = [0];
  let blocks = 0;
  // Vectors of registers are replaced first, so that each remaining brace belongs to a block.
  const plain = text.replace(/\{(%[^}]*)\}/g, (_, list: string) => list.replaceAll(' ', '').replaceAll(',', '|'));
  const pending: { at: Instruction; scopes: number[] }[] = [];
  for (const [, token = ''] of plain.matchAll(/\s*(\w+:|[{}]|[^;{}\s][^;{}]*;)/g)) {
    if (token === '{') scopes.push(++blocks);
    else if (token === '}') scopes.pop();
    else if (token.endsWith(':')) labels.set(`${scopes.at(-1)} ${token.slice(0, -1)}`, code.length);
    else {
      const at = instruction(token.slice(0, -1).trim());
      if (at === null) continue;
      code.push(at);
      if (at.name === 'bra') pending.push({ at, scopes: [...scopes] });
    }
  }
  for (const { at, scopes: open } of pending) {
    const scope = open.reverse().find((number) => labels.has(`${number} ${at.operands[0]}`));
    if (scope === undefined) throw new Error(`no label ${at.operands[0]}`);
    at.operands[0] = `${scope} ${at.operands[0]}`;
  }
  return { code, labels };
}

/** null: a declaration. */
function instruction(text: string): Instruction | null {
  if (text.startsWith('.')) return null;
  const match = /^(?:@(!?)(%\w+) +)?([\w.]+) *(.*)$/s.exec(text);
  if (!match) throw new Error(`not an instruction: ${text}`);
  const [, not, predicate, name = '', operands = ''] = match;
  return {
    when: predicate === undefined ? null : { predicate, not: not === '!' },
    name,
    operands: operands === '' ? [] : operands.split(',').map((operand) => operand.trim()),
  };
}

/** Memory of the device at an address. */
export class DeviceMemory {
  readonly bytes: Uint8Array;
  readonly address: bigint;
  constructor(size: number, address: bigint) {
    this.bytes = new Uint8Array(size);
    this.address = address;
  }
  load(at: bigint, size: number): bigint {
    const from = this.#check(at, size);
    return this.bytes.subarray(from, from + size).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  }
  store(at: bigint, size: number, value: bigint) {
    const from = this.#check(at, size);
    for (let i = 0; i < size; i++) this.bytes[from + i] = Number((value >> BigInt(8 * i)) & 0xffn);
  }
  has(at: bigint): boolean {
    return at >= this.address && at < this.address + BigInt(this.bytes.length);
  }
  #check(at: bigint, size: number): number {
    if (at % BigInt(size) !== 0n) throw new Error(`misaligned address ${at.toString(16)} for ${size} bytes`);
    if (!this.has(at) || !this.has(at + BigInt(size) - 1n)) throw new Error(`illegal address ${at.toString(16)}`);
    return Number(at - this.address);
  }
}

/** Launches blocks of threads that share `memories`. */
export function launch(
  kernel: Kernel,
  grid: { blocks: number; threads: number },
  values: readonly bigint[],
  memories: readonly DeviceMemory[],
): void {
  const parameters = new Map(kernel.parameters.map((name, at) => [name, values[at] ?? 0n]));
  for (let block = 0; block < grid.blocks; block++) {
    for (let thread = 0; thread < grid.threads; thread++) {
      const special = { '%ctaid.x': block, '%nctaid.x': grid.blocks, '%ntid.x': grid.threads, '%tid.x': thread };
      const registers = new Map(Object.entries(special).map(([name, value]) => [name, BigInt(value)]));
      new Thread(registers, parameters, memories).run(kernel);
    }
  }
}

type Width = keyof typeof MASK;
/** Math.min for bigint. */
function lower(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

const bits = (value: bigint) => (value === 0n ? '' : value.toString(2));

/** The value of the first operand, computed from the others. */
const ARITHMETIC: Readonly<Record<string, (width: Width, a: bigint, b: bigint, c: bigint) => bigint>> = {
  mov: (_, a) => a,
  cvta: (_, a) => a,
  cvt: (_, a) => a,
  add: (_, a, b) => a + b,
  sub: (_, a, b) => a - b,
  mul: (_, a, b) => a * b,
  mad: (_, a, b, c) => a * b + c,
  shr: (_, a, b) => a >> b,
  shl: (_, a, b) => a << b,
  xor: (_, a, b) => a ^ b,
  or: (_, a, b) => a | b,
  and: (_, a, b) => a & b,
  min: (_, a, b) => lower(a, b),
  'setp.ge': (_, a, b) => BigInt(a >= b),
  'setp.eq': (_, a, b) => BigInt(a === b),
  popc: (_, a) => BigInt(bits(a).replaceAll('0', '').length),
  clz: (width, a) => BigInt(width - bits(a).length),
  brev: (width, a) => BigInt(`0b${[...bits(a).padStart(width, '0')].reverse().join('')}`),
};

class Thread {
  readonly registers: Map<string, bigint>;
  readonly parameters: ReadonlyMap<string, bigint>;
  readonly memories: readonly DeviceMemory[];
  constructor(
    registers: Map<string, bigint>,
    parameters: ReadonlyMap<string, bigint>,
    memories: readonly DeviceMemory[],
  ) {
    this.registers = registers;
    this.parameters = parameters;
    this.memories = memories;
  }

  run({ code, labels }: Kernel): void {
    for (let at = 0; at < code.length; at++) {
      const { name, operands, when } = code[at] as Instruction;
      if (when !== null && (this.#get(when.predicate) !== 0n) === when.not) continue;
      if (name === 'ret') return;
      if (name === 'bra') at = (labels.get(String(operands[0])) as number) - 1;
      else if (/^(ld|st|red)\./.test(name)) this.#memory(name, operands);
      else this.#arithmetic(name, operands);
    }
  }

  #get(operand: string): bigint {
    const value = operand.startsWith('%') ? this.registers.get(operand) : BigInt(operand);
    if (value === undefined) throw new Error(`${operand} is read before it is written`);
    return value;
  }

  #arithmetic(name: string, [to = '', ...from]: readonly string[]): void {
    const operation = ARITHMETIC[name.replace(/^(setp\.\w+|\w+).*/, '$1')];
    if (!operation) throw new Error(`unknown instruction ${name}`);
    const width = Number(/\d+$/.exec(name)?.[0]) as Width;
    const [a = 0n, b = 0n, c = 0n] = from.map((operand) => this.#get(operand));
    // mul.wide, mad.wide and cvt.u64.u32 make 64 bits of 32.
    const into = /\.wide\.|^cvt\.u64|^cvta/.test(name) ? 64 : /^cvt\.u32/.test(name) ? 32 : width;
    this.registers.set(to, operation(width, a, b, c) & MASK[into]);
  }

  #memory(name: string, operands: readonly string[]): void {
    const [first = '', second = ''] = operands;
    if (name === 'ld.param.u64') {
      this.registers.set(first, this.parameters.get(second.slice(1, -1)) as bigint);
      return;
    }
    const loads = name.startsWith('ld');
    const names = (loads ? first : second).split('|');
    const [, register = '', more = '0'] = /^\[(%\w+)(?:\+(\d+))?\]$/.exec(loads ? second : first) ?? [];
    const address = this.#get(register) + BigInt(more);
    const memory = this.memories.find((candidate) => candidate.has(address));
    if (!memory) throw new Error(`illegal address ${address.toString(16)}`);
    const size = Number(/\d+$/.exec(name)?.[0]) / 8;
    if (address % BigInt(size * names.length) !== 0n) throw new Error(`misaligned ${name} at ${address.toString(16)}`);
    for (const [i, value] of names.entries()) {
      const element = address + BigInt(i * size);
      if (loads) this.registers.set(value, memory.load(element, size));
      else memory.store(element, size, this.#stored(name, memory, element, this.#get(value)));
    }
  }

  #stored(name: string, memory: DeviceMemory, address: bigint, value: bigint): bigint {
    if (name.startsWith('st.')) return value;
    const old = memory.load(address, 8);
    return name.includes('.add.') ? old + value : lower(old, value);
  }
}
