/** .github: what the workflows run is there, actions do not change under them, and they may do little. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../scripts/run.mjs';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);
const workflows = readdirSync(join(root, '.github/workflows')).map(
  (name) => [name, read(`.github/workflows/${name}`)] as const,
);
/** Jobs of a workflow, by their name. */
const jobsOf = (text: string): string[] => (text.split(/^jobs:\n/m)[1] ?? '').split(/^(?= {2}[\w-]+:$)/m);

describe.each(workflows)('%s', (name, text) => {
  it('takes each action at a commit, and says which version that is', () => {
    const used = matches(text, /uses: *(.+)/g);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('may read, unless one of its jobs needs more and asks a person first', () => {
    expect(text).toMatch(/^permissions:(?: \{\}|\n {2}contents: read)\n(?! )/m);
    const writing = jobsOf(text).filter((job) => /: write\b|-all\b/.test(job));
    expect(writing.map((job) => job.split(':')[0]?.trim())).toEqual(name === 'release.yml' ? ['publish'] : []);
    for (const job of writing) expect(job).toMatch(/^ {4}environment: release$/m);
    expect(text).not.toMatch(/pull_request_target|workflow_run|secrets\./);
  });

  it('runs what is there', () => {
    const commands = matches(text, /run: (.+)/g).join('\n');
    const files = matches(commands, /(?:bash|node) ([\w./-]+)/g);
    expect(files.length + Number(/npm run/.test(commands))).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
    const { scripts } = JSON.parse(read('package.json'));
    for (const script of matches(commands, /npm run (?:--\S+ )*([\w:]+)/g)) expect(scripts).toHaveProperty(script);
  });

  it('puts nothing that others write into a command', () => {
    for (const command of matches(text, /run: (.+)/g)) expect(command).not.toContain('${{');
  });
});

it('builds and tests on one system', () => {
  const images = workflows.flatMap(([, text]) => matches(text, /image: (.+)/g));
  expect(images.length).toBe(workflows.length);
  expect(new Set(images).size).toBe(1);
});

it('is verified at the address of package.json', () => {
  const [, address = ''] = /github\.com\/(.+)\.git$/.exec(JSON.parse(read('package.json')).repository.url) ?? [];
  expect(read('SECURITY.md')).toContain(`--repo ${address}  `);
});

it('is trusted by the registry by the name of its file and of its environment', () => {
  const [, file = '', environment = ''] = /--file (\S+) --env (\S+)/.exec(read('CONTRIBUTING.md')) ?? [];
  expect(read(`.github/workflows/${file}`)).toContain(`\n    environment: ${environment}\n`);
});

it('holds back dependencies that there are', () => {
  const parts = read('.github/dependabot.yml').split(/^(?= {2}- package-ecosystem)/m);
  const folders: Record<string, string[]> = {
    'directory: /': ['.'],
    "directories: ['/tools/*']": ['tools/schemas', 'tools/reference'],
  };
  for (const part of parts.filter((text) => text.includes('ignore:'))) {
    const [, paths = []] = Object.entries(folders).find(([line]) => part.includes(`${line}\n`)) ?? [];
    const packages = paths.map((path) => JSON.parse(read(`${path}/package.json`)));
    const names = matches(part, /dependency-name: '?([^'\n]+)/g);
    expect(names.length * packages.length).toBeGreaterThan(0);
    for (const name of names)
      for (const { dependencies, devDependencies } of packages)
        expect({ ...dependencies, ...devDependencies }).toHaveProperty([name]);
  }
});

it('asks a reporter for the commands that CONTRIBUTING names', () => {
  const [, block = ''] = /## A report\n.*?```sh\n(.*?)```/s.exec(read('CONTRIBUTING.md')) ?? [];
  const labels = matches(read('.github/ISSUE_TEMPLATE/gb10.yml'), /label: (umaprobe.*)/g);
  expect(labels.sort()).toEqual(block.trim().split('\n').sort());
});
