/** Which program a command line starts: published command lines, wrappers, and that a change of words never makes it wrong. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { humanReadable } from '../../../../lib/run/launch/command-line.ts';
import { verdictFor } from '../../../../lib/run/launch/plan.ts';
import { recognise } from '../../../../lib/run/launch/recognise.ts';
import { unwrap } from '../../../../lib/run/launch/wrappers.ts';
import type { FitReport, RecognisedCommand } from '../../../../lib/types/index.ts';
import { snapshotOf } from '../../../support/snapshots.ts';
import { NOT_RECOGNISED, PUBLISHED } from './command-lines.ts';

const NOTHING = {
  program: null,
  wrappers: [],
  model: null,
  modelFile: null,
  context: null,
  contextIsShared: false,
  contextIsGiven: false,
  sequences: 1,
  mostSequences: null,
  use: {},
  utilization: null,
  kvCacheBytes: null,
  extras: [],
  adapterSlots: null,
  llama: null,
  hosts: [],
  hostfile: null,
};

function wordsOf(line: string): string[] {
  return line.split(' ').map((word) => word.replaceAll('\u00a0', ' '));
}

/** Without what is told in sentences. */
function factsOf({ assumed: _, limits: __, understood: ___, unread: ____, ...facts }: RecognisedCommand) {
  return facts;
}

describe('published command lines', () => {
  it.each(PUBLISHED.map((published) => [published.from, published] as const))(
    '%s',
    (_, { env, line, says, unread }) => {
      const { command } = recognise(wordsOf(line), env ?? {});
      expect(factsOf(command)).toEqual({ ...NOTHING, ...says });
      const sentences = command.unread.map(({ text }) => text);
      expect(sentences).toHaveLength(unread?.length ?? 0);
      for (const part of unread ?? []) expect(sentences.join('\n')).toContain(part);
    },
  );

  it('there are ten of each kind of start, or nearly', () => {
    const count = (program: string) => PUBLISHED.filter(({ says }) => says.program === program).length;
    expect(count('vllm')).toBeGreaterThanOrEqual(10);
    expect(count('llama.cpp')).toBeGreaterThanOrEqual(10);
    expect(count('sglang')).toBeGreaterThanOrEqual(5);
    expect(count('ollama')).toBeGreaterThanOrEqual(4);
  });

  it.each(NOT_RECOGNISED)('not recognised: %s', (line, reason) => {
    const { command } = recognise(wordsOf(line), {});
    expect(command.program).toBeNull();
    expect(command.model).toBeNull();
    expect(command.unread).toHaveLength(1);
    expect(command.unread[0]?.text).toContain(reason);
  });
});

describe('wrappers', () => {
  const INNER = ['vllm', 'serve', 'org/model', '--max-model-len', '8192'];
  const WRAPPERS: readonly (readonly string[])[] = [
    ['env', 'A=1', 'B=two words'],
    ['env', '-u', 'HOME', '-i', 'PATH=/bin'],
    ['nice', '-n', '10'],
    ['nice', '-10'],
    ['ionice', '-c3'],
    ['nohup'],
    ['stdbuf', '-oL', '-eL'],
    ['timeout', '-k', '5s', '2h'],
    ['taskset', '-c', '0-9'],
    ['numactl', '--cpunodebind=0', '--membind=0'],
    ['time', '-v'],
    ['sudo', '-E', '-u', 'llm', 'HF_HOME=/srv/hf'],
    ['systemd-run', '--user', '--scope', '-p', 'MemoryMax=100G'],
    ['uv', 'run'],
    ['uv', 'run', '--no-sync', '--with', 'vllm', '--'],
    ['uvx', '--from', 'vllm'],
    ['conda', 'run', '-n', 'vllm', '--no-capture-output'],
    ['poetry', 'run'],
    ['python3', '-u'],
    ['docker', 'run', '--rm', '-it', '--gpus', 'all', '-e', 'A=1', 'nvcr.io/nvidia/vllm:26.04-py3'],
    ['podman', 'run', '-itd', '--device=nvidia.com/gpu=all', 'image'],
    ['docker', 'exec', '-it', 'container'],
  ];

  it('keep what is behind them, in any order and depth', () => {
    const wrapper = fc.integer({ min: 0, max: WRAPPERS.length - 1 }).map((index) => WRAPPERS[index] ?? []);
    fc.assert(
      fc.property(fc.array(wrapper, { maxLength: 6 }), (wrappers) => {
        const { command } = recognise([...wrappers.flat(), ...INNER], {});
        expect(command.program).toBe('vllm');
        expect(command.model).toBe('org/model');
        expect(command.context).toBe(8192);
        expect(command.wrappers).toHaveLength(wrappers.length);
        expect(command.unread).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('an option of a wrapper that is not known stops the reading', () => {
    for (const [name = '', ...rest] of WRAPPERS.filter(([name]) => name !== 'nohup')) {
      const verb = ['run', 'exec'].includes(rest[0] ?? '') ? [rest[0] ?? ''] : [];
      const { command } = recognise([name, ...verb, '--no-such-option', ...INNER], {});
      expect(command.program, name).toBeNull();
      expect(command.unread[0]?.text).toContain('--no-such-option');
    }
  });

  it('ends a command line that is nested without end', () => {
    const { command } = recognise([...new Array(40).fill('nohup'), ...INNER], {});
    expect(command.program).toBeNull();
    expect(command.unread[0]?.text).toContain('too many other programs');
  });

  it('a container sees its own variables and paths', () => {
    const line =
      'docker run -e LLAMA_ARG_CTX_SIZE=2048 --mount type=bind,source=/data,target=/m ghcr.io/ggml-org/llama.cpp:server -m /m/a.gguf';
    const { command } = recognise(line.split(' '), { LLAMA_ARG_CTX_SIZE: '9999', LLAMA_ARG_N_PARALLEL: '9' });
    expect(command).toMatchObject({ model: '/data/a.gguf', context: 2048, sequences: 4 });
    const inside = recognise('docker run ghcr.io/ggml-org/llama.cpp:server -m /m/a.gguf'.split(' '), {}).command;
    expect(inside.model).toBeNull();
    expect(inside.unread[0]?.text).toBe('The model /m/a.gguf is inside the container.');
  });

  it('a file of variables makes the answer uncertain', () => {
    for (const line of [
      'docker run --env-file .env ghcr.io/ggml-org/llama.cpp:server -hf org/m',
      'docker run --env-file=.env vllm/vllm-openai --model org/m',
      'uv run --env-file .env vllm serve org/m',
    ]) {
      const { command } = recognise(line.split(' '), {});
      expect(command.model).toBe('org/m');
      expect(command.unread).toEqual([
        {
          text: expect.stringContaining('--env-file has variables that are not read.'),
          part: 'option',
          effect: 'either',
        },
      ]);
    }
  });

  it('a mounted store is looked into where it lies', () => {
    const line = 'docker run -v /srv/hf:/root/.cache/huggingface vllm/vllm-openai --model org/model';
    expect(recognise(line.split(' '), {}).stores).toEqual({ HF_HOME: '/srv/hf' });
  });

  it('says what the guard cannot do', () => {
    const limitsOf = (line: string) => recognise(line.split(' '), {}).command.limits.join(' ');
    expect(limitsOf('docker run -d vllm/vllm-openai --model m')).toContain('comes back at once');
    expect(limitsOf('docker run --rm vllm/vllm-openai --model m')).toContain('docker stop ends it');
    expect(limitsOf('ollama run m')).toContain('watches this client');
    expect(limitsOf('systemd-run --user vllm serve m')).toContain('guard --unit');
    expect(limitsOf('systemd-run --scope vllm serve m')).toBe('');
    expect(limitsOf('vllm serve m')).toBe('');
  });
});

describe('options', () => {
  it('numbers as vLLM reads them', () => {
    expect(
      ['32768', '8k', '8K', '25.6k', '2M', '1.5K', '-1', '', '1e3', '0', '9'.repeat(20)].map(humanReadable),
    ).toEqual([32_768, 8000, 8192, 25_600, 2_097_152, null, null, null, null, null, null]);
  });

  it.each([
    ['vllm serve m --gpu-memory-utilization 90', '--gpu-memory-utilization "90" is not understood'],
    ['vllm serve m --max-model-len long', '--max-model-len "long" is not understood'],
    ['vllm serve m --max-model-len', 'The option --max-model-len has no value'],
    ['vllm serve m --kv-cache-dtype fp7', '--kv-cache-dtype fp7 is not a type'],
    ['vllm serve m other', '"other" stands where nothing is expected'],
    ['vllm serve --frobnicate m', '"m" may be the model or the value of an option'],
    ['vllm serve', 'The command names no model'],
    ['vllm serve m --dtype float32', '--dtype float32 makes the weights larger'],
    ['vllm serve m --pipeline-parallel-size 2 --nnodes 4', '--nnodes 4 is more than the 2 ranks'],
    ['mpirun -np 2 -H a:2,b:2 vllm serve m', 'mpirun may start 2 ranks on one machine'],
    ['torchrun --nproc-per-node 4 -m vllm serve m', 'torchrun starts 4 ranks on each machine'],
    ['vllm serve m -dp 2', '--data-parallel-size loads the model several times'],
    ['python -m sglang.launch_server --model-path m --mem-fraction-static 1.5', '"1.5" is not understood'],
    ['llama-server -m m.gguf -c many', '--ctx-size "many" is not understood'],
    ['llama-server -m m.gguf -ctk q9', '--cache-type-k q9 is not a type'],
    ['llama-server', 'The command names no model'],
  ])('%s', (line, sentence) => {
    const { command } = recognise(line.split(' '), {});
    expect(command.unread.map(({ text }) => text).join('\n')).toContain(sentence);
  });

  it('the model is not guessed among words behind options that are not known', () => {
    const commandOf = (line: string) => recognise(line.split(' '), {}).command;
    const { model, unread } = commandOf('vllm serve --port 8000 org/m --max-model-len 4096');
    expect(model).toBeNull();
    expect(unread).toEqual([
      {
        text: '"8000" or "org/m" may be the model or the value of an option: write the model first.',
        part: 'model',
        effect: 'either',
      },
    ]);
    for (const line of [
      'vllm serve org/m --port 8000 --served-model-name a b',
      'vllm serve --port=8000 org/m',
      'vllm serve --max-model-len 4096 org/m',
      'vllm serve --port 8000 --model org/m',
      'ollama run --verbose org/m --format json',
    ])
      expect(commandOf(line)).toMatchObject({ model: 'org/m', unread: [] });
    expect(commandOf('vllm serve --swap-space 4 org/m').model).toBe('org/m');
  });

  it('an option that is cut short, as argparse takes it, is not passed over', () => {
    for (const line of ['vllm serve m --quant fp8', 'sglang serve m --torchao int4', 'vllm serve m --lora a=/a'])
      expect(recognise(line.split(' '), {}).command.unread[0]?.text).toMatch(/^The option --\w+ is not known here/);
  });

  it('variables of llama.cpp count where its command line is silent', () => {
    const env = { LLAMA_ARG_CTX_SIZE: '16384', LLAMA_ARG_MMPROJ_URL: 'address', LLAMA_ARG_N_GPU_LAYERS: '-1' };
    const ask = (more: string) => recognise(`llama-server -m m.gguf ${more}`.trim().split(' '), env).command;
    expect([ask('').context, ask('-c 4096').context]).toEqual([16_384, 4096]);
    expect(ask('').unread.map(({ text }) => text)).toEqual(['--mmproj-url loads a second file, which sees or hears.']);
  });

  it('any words at all are read without an error, and never as something that they do not name', () => {
    const word = fc.oneof(
      fc.constantFrom(
        'vllm',
        'serve',
        'docker',
        'run',
        'env',
        'python',
        '-m',
        'llama-server',
        'ollama',
        '--',
        '-c',
        '-1',
      ),
      fc.constantFrom(
        '--model',
        '--max-model-len',
        '--no-mmap',
        '-it',
        '--entrypoint',
        'uv',
        'sglang.launch_server',
        '__proto__',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const { command } = recognise(words, {});
        if (command.program !== null) expect(words.join(' ')).toMatch(/vllm|sglang|ollama|llama/);
        if (command.model !== null) expect(words.some((given) => given.includes(command.model ?? ''))).toBe(true);
        if (command.model === null) expect(command.unread.length).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('options of a program that are not known', () => {
  const MEMORY = /mem|cache|ctx|context|kv|gpu|batch|seq|parallel|offload/;

  /** Where an option can be put into a published line that names its model: before another option, and at the end. */
  const places = PUBLISHED.filter(({ says }) => says.model !== undefined).flatMap(({ env = {}, line }) => {
    const words = wordsOf(line);
    const inner = unwrap(words, env).words;
    let own = 0;
    while (own < Math.min(inner.length, words.length) && inner.at(-1 - own) === words.at(-1 - own)) own++;
    const from = Math.max(words.length - own, 1);
    const at = words.flatMap((word, index) => (index >= from && /^-\D/.test(word) ? [index] : []));
    return [...at, words.length].map((index) => ({ env, words, index }));
  });
  const place = fc.constantFrom(...places);
  const value = fc.stringMatching(/^[a-z0-9./{}:"]{1,12}$/);
  const values = fc.oneof(
    fc.array(value, { maxLength: 2 }).map((list) => ({ inline: '', list })),
    value.map((inline) => ({ inline: `=${inline}`, list: [] as string[] })),
  );
  const published = fc.constantFrom('--port', '--threads', '--trust-remote-code', '--temp', '--jinja', '-x');
  const invented = fc.stringMatching(/^--?zz[a-z-]{1,10}$/).filter((name) => !MEMORY.test(name));
  const ignored = fc.array(fc.tuple(fc.oneof(published, invented), values), { minLength: 1, maxLength: 4 });
  const looking = fc
    .tuple(
      fc.constantFrom('mem', 'cache', 'ctx', 'context', 'kv', 'gpu', 'batch', 'seq', 'parallel', 'offload'),
      fc.stringMatching(/^[a-z]{0,4}$/),
    )
    .map(([word, more]) => `--zz-${word}${more}`);

  const insert = ({ index, words }: { index: number; words: readonly string[] }, more: readonly string[]): string[] => [
    ...words.slice(0, index),
    ...more,
    ...words.slice(index),
  ];

  it('and do not look like memory change nothing, wherever they stand', () => {
    expect(places.length).toBeGreaterThan(150);
    fc.assert(
      fc.property(place, ignored, (at, options) => {
        const more = options.flatMap(([name, { inline, list }]) => [name + inline, ...list]);
        expect(recognise(insert(at, more), at.env).command).toEqual(recognise(at.words, at.env).command);
      }),
      { numRuns: 1000 },
    );
  });

  it('and look like memory make the answer uncertain, by their name', () => {
    const yes = { verdict: 'fits', summary: '' } as FitReport;
    const no = { verdict: 'no', summary: '' } as FitReport;
    const machine = snapshotOf();
    fc.assert(
      fc.property(place, looking, values, (at, option, { inline, list }) => {
        const { unread: before, ...facts } = recognise(at.words, at.env).command;
        const { unread, ...same } = recognise(insert(at, [option + inline, ...list]), at.env).command;
        expect(same).toEqual(facts);
        const added = unread.filter((part) => !before.some(({ text }) => text === part.text));
        expect(added).toEqual([{ text: expect.stringContaining(option), part: 'option', effect: 'either' }]);
        for (const fit of [yes, no]) {
          const { summary, verdict } = verdictFor({ fit, machine, noFit: null, recognised: { ...same, unread } });
          expect(verdict).toBe('unknown');
          expect(summary).toContain(option);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('ranks', () => {
  it.each([
    ['vllm serve m -tp 2 --nnodes 2', 'one of 2 ranks, each on a GPU of its own, on a machine of its own'],
    ['vllm serve m -tp 2 -pp 2 --nnodes 2', 'one of 4 ranks, each on a GPU of its own, 2 on each machine'],
    ['mpirun -np 2 -H a,b vllm serve m', 'one of 2 ranks that mpirun starts, alone on this machine'],
    ['srun -N2 --ntasks-per-node=1 vllm serve m', 'one of 2 ranks that srun starts'],
    ['torchrun --nnodes 2 -m vllm serve m', 'one of 2 ranks that torchrun starts'],
  ])('%s', (line, sentence) => {
    const { command } = recognise(wordsOf(line), {});
    expect(command.unread).toEqual([]);
    expect(command.assumed.join('\n')).toContain(sentence);
  });
});
