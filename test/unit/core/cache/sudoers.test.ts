/** Sudoers rules: which users are accepted, how arguments are escaped. And where model stores are searched. */
import { describe, expect, it } from 'vitest';
import { checkOptions } from '../../../../lib/base/options.ts';
import { OPTIONS } from '../../../../lib/cli/commands/cache-rule.ts';
import { ownOptions } from '../../../../lib/cli/core/typed-options.ts';
import { DROP } from '../../../../lib/core/cache/options.ts';
import { invokingUser, sudoersRule } from '../../../../lib/core/cache/sudoers.ts';
import { findSysctl, rootCommand, sysctlAssignment } from '../../../../lib/core/cache/sysctl.ts';
import { findStores, homeOf, invokingHome } from '../../../../lib/core/host/model-stores.ts';

const ruleFor = (user: string) => sudoersRule({ user, sysctls: [], sysctl: '/sbin/sysctl' });

describe('the sudoers rule', () => {
  it('permits the very words that are run, escaped', () => {
    const sysctls = [{ name: 'drop_caches', level: 1 }, { name: 'compact_memory' }] as const;
    const { rule, commands, file } = sudoersRule({ user: 'alice', sysctls, sysctl: '/usr/sbin/sysctl' });
    expect(rule).toBe(
      'alice ALL=(root) NOPASSWD: /usr/sbin/sysctl vm.drop_caches\\=1, /usr/sbin/sysctl vm.compact_memory\\=1',
    );
    expect(commands).toEqual([
      ['/usr/sbin/sysctl', 'vm.drop_caches=1'],
      ['/usr/sbin/sysctl', 'vm.compact_memory=1'],
    ]);
    expect(commands).toEqual(sysctls.map((sysctl) => ['/usr/sbin/sysctl', sysctlAssignment(sysctl)]));
    expect(file).toBe('/etc/sudoers.d/umaprobe-alice');
  });

  it('escapes special characters, and names a file that sudo reads', () => {
    const odd = sudoersRule({ user: 'alice', sysctls: [{ name: 'compact_memory' }], sysctl: '/a=b,c:d\\e' });
    expect(odd.rule).toContain(' /a\\=b\\,c\\:d\\\\e vm.compact_memory\\=1');
    const fileOf = (user: string) => ruleFor(user).file;
    expect(fileOf('a.b')).toBe('/etc/sudoers.d/umaprobe-a%2Eb');
    const files = ['a.b', 'a_b', 'a@b', 'a-b', 'A_B', 'a', 'a.'].map(fileOf);
    expect(new Set(files).size).toBe(files.length);
    // sudoers(5): files that end in ~ or contain a dot are skipped.
    for (const file of files) expect(file.slice('/etc/sudoers.d/'.length)).not.toMatch(/\.|~$|\//);
  });

  it.each([
    'ALL',
    '%wheel',
    '#0',
    '+group',
    'a b',
    'a,b',
    'a=b',
    'a\nb ALL=(ALL) ALL',
    '',
    'root',
    '../x',
    'a!',
    'x'.repeat(65),
    'DOMAIN\\user',
    'a"b',
    'a%2Eb',
  ])('%j is refused as a user', (user) => expect(() => ruleFor(user)).toThrow(/user is/));

  it.each(['alice', 'a.b-c', '_svc', 'Alice', 'u1', '1000', 'a@example.org', 'Defaults', 'ADMINS'])(
    '%s is accepted',
    (user) => expect(ruleFor(user).user).toBe(user),
  );

  it('invokingUser is the login user, also under sudo', () => {
    expect(invokingUser({ SUDO_USER: 'alice' })).toBe('alice');
    expect(invokingUser({})).not.toBe('');
  });

  it('needs an absolute sysctl, the first that is there', () => {
    expect(findSysctl((path) => path === '/sbin/sysctl')).toBe('/sbin/sysctl');
    expect(findSysctl(() => false)).toBeNull();
    expect(() => sudoersRule({ user: 'alice', sysctls: [], sysctl: null })).toThrow(/no sysctl in/);
    expect(rootCommand({ name: 'drop_caches', level: 2 }, null)).toBe('sudo sysctl vm.drop_caches=2');
  });

  it.each(['Defaults', 'ADMINS', 'User_Alias', 'a.b', 'Alice'])(
    'quotes the name %s, which may mean something else',
    (user) => {
      expect(sudoersRule({ user, sysctls: [], sysctl: '/sbin/sysctl' }).rule).toMatch(
        `"${user}" ALL=(root) NOPASSWD: `,
      );
    },
  );

  it('takes levels as words, and permits by default what cache drop does by default', () => {
    const levelsOf = (...level: string[]) => ownOptions({ level }, OPTIONS, 'cache rule').level;
    expect(levelsOf('1,2', '1')).toEqual([1, 2]);
    expect(ownOptions({}, OPTIONS, 'cache rule').level).toEqual([checkOptions('drop', {}, DROP).level]);
    for (const wrong of ['4', 'all', '1=2', '1,4']) expect(() => levelsOf(wrong)).toThrow(/is not one of 1, 2, 3/);
  });
});

describe('the home of the invoking user', () => {
  const passwd =
    'root:x:0:0::/root:/bin/sh\nalice:x:1000:1000:A:/home/al:/bin/sh\nbroken\nodd:x:1:1::relative:/bin/sh\n';

  it('is that of SUDO_USER', () => {
    expect(invokingHome({ SUDO_USER: 'alice' }, () => passwd)).toBe('/home/al');
    expect(homeOf('odd', passwd)).toBeNull();
    expect(homeOf('nobody-here', passwd)).toBeNull();
  });

  it('is the own one otherwise', () => {
    for (const env of [{}, { SUDO_USER: '' }, { SUDO_USER: 'root' }, { SUDO_USER: 'unknown' }])
      expect(invokingHome(env, () => passwd)).toMatch(/^\//);
  });
});

describe('model stores', () => {
  const there =
    (...paths: string[]) =>
    async (path: string) =>
      paths.includes(path) ? path : null;

  it('are the existing folders, with the variable or default that led there', async () => {
    const env = { HF_HOME: '/data/hf', OLLAMA_MODELS: '/data/ollama', TORCH_HOME: '/data/torch' };
    const folders = there('/data/hf/hub', '/data/ollama', '/data/torch/hub', '/home/a/.cache/vllm');
    expect(await findStores(env, '/home/a', folders)).toEqual([
      { name: 'huggingface', path: '/data/hf/hub', from: 'HF_HOME' },
      { name: 'ollama', path: '/data/ollama', from: 'OLLAMA_MODELS' },
      { name: 'vllm', path: '/home/a/.cache/vllm', from: '~/.cache/vllm' },
      { name: 'torch', path: '/data/torch/hub', from: 'TORCH_HOME' },
    ]);
    expect(await findStores({}, '/home/a', there())).toEqual([]);
  });

  it('a folder that several variables lead to is one store', async () => {
    const env = { HF_HUB_CACHE: '/link', HF_HOME: '/data/hf' };
    const folder = async (path: string) => (path === '/link' || path === '/data/hf/hub' ? '/real/hub' : null);
    expect(await findStores(env, '/home/a', folder)).toEqual([
      { name: 'huggingface', path: '/link', from: 'HF_HUB_CACHE' },
    ]);
  });

  it('of a user without a home are those that variables name', async () => {
    const env = { OLLAMA_MODELS: '/data/ollama', HF_HOME: '~/hf' };
    expect(await findStores(env, null, there('/data/ollama', '/hf/hub'))).toEqual([
      { name: 'ollama', path: '/data/ollama', from: 'OLLAMA_MODELS' },
    ]);
  });

  it('takes ~ for the home, and no relative path', async () => {
    const folders = there('/home/a/models', 'models');
    expect(await findStores({ OLLAMA_MODELS: '~/models' }, '/home/a', folders)).toHaveLength(1);
    expect(await findStores({ OLLAMA_MODELS: 'models', HF_HOME: '' }, '/home/a', folders)).toEqual([]);
  });
});
