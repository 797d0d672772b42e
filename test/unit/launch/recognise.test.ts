/** Which program a command line starts: published command lines, wrappers, and that a change of words never makes it wrong. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { humanReadable } from '../../../lib/launch/command-line.ts';
import { recognise } from '../../../lib/launch/recognise.ts';
import type { RecognisedCommand } from '../../../lib/types/index.ts';
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
  use: {},
  utilization: null,
  kvCacheBytes: null,
  extras: [],
  adapterSlots: null,
  llama: null,
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
    ['vllm serve m --pipeline-parallel-size 2', '--pipeline-parallel-size puts a part of the layers elsewhere'],
    ['vllm serve m -dp 2', '--data-parallel-size loads the model several times'],
    ['python -m sglang.launch_server --model-path m --mem-fraction-static 1.5', '"1.5" is not understood'],
    ['llama-server -m m.gguf -c many', '--ctx-size "many" is not understood'],
    ['llama-server -m m.gguf -ctk q9', '--cache-type-k q9 is not a type'],
    ['llama-server', 'The command names no model'],
  ])('%s', (line, sentence) => {
    const { command } = recognise(line.split(' '), {});
    expect(command.unread.map(({ text }) => text).join('\n')).toContain(sentence);
  });

  it.each(['vllm', 'sglang', 'llama', 'ollama'])(
    'an option that nobody knows is told, wherever it stands: %s',
    (name) => {
      const lines = PUBLISHED.filter(({ line, unread }) => line.includes(name) && unread === undefined);
      const foreign = fc.stringMatching(/^--zz[a-z]{1,8}$/);
      fc.assert(
        fc.property(fc.nat(lines.length - 1), foreign, (index, option) => {
          const { env, line } = lines[index] ?? { line: '', env: {} };
          const before = recognise(line.split(' '), env ?? {}).command;
          const after = recognise([...line.split(' '), option], env ?? {}).command;
          // The image of a container may take it for its own.
          const told = after.unread.some(({ text }) => text.includes(option));
          expect(told || after.program === null).toBe(true);
          expect(before.unread).toEqual([]);
        }),
        { numRuns: 60 },
      );
    },
  );

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
