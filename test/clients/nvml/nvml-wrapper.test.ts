/** nvml-wrapper, Rust's binding of NVML, built here as Debian packages it. It opens libnvidia-ml.so, without a version. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientsFolder } from '../../../scripts/debian-clients.mjs';
import { CLIENTS, missingCompiler, unsanitizedEnvironment } from '../../support/clients.ts';
import { clientEnvironment, clientPath, missingClients } from '../../support/debian.ts';
import { withMachine } from '../../support/machines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const missing = missingClients('trixie') ?? missingCompiler();
const BUILD_LIMIT_MS = 300_000;

describe.skipIf(missing !== null)(`nvml-wrapper${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  // What was built stays with the packages that it was built from.
  const target = join(clientsFolder('trixie'), 'nvml-wrapper');

  beforeAll(() => {
    const folder = temporaryFolder('nvml-wrapper');
    cpSync(join(CLIENTS, 'nvml/nvml-wrapper'), folder, { recursive: true });
    mkdirSync(join(folder, '.cargo'));
    const registry = join(clientsFolder('trixie'), 'usr/share/cargo/registry');
    writeFileSync(
      join(folder, '.cargo/config.toml'),
      `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = ${JSON.stringify(registry)}\n`,
    );
    const built = spawnSync(clientPath('trixie', 'cargo'), ['build', '--offline'], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...unsanitizedEnvironment(),
        PATH: `${dirname(clientPath('trixie', 'cargo'))}:${process.env.PATH}`,
        CARGO_HOME: join(folder, '.cargo'),
        CARGO_TARGET_DIR: target,
      },
    });
    expect(built.status, built.stderr).toBe(0);
  }, BUILD_LIMIT_MS);

  const printedOn = (machine: string) =>
    withMachine(machine, (simulation) => {
      const ran = spawnSync(join(target, 'debug/questions'), [], {
        encoding: 'utf8',
        env: clientEnvironment(simulation),
      });
      expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' });
      return ran.stdout.trimEnd().split('\n');
    });

  it('gb10-busy', async () => {
    expect(await printedOn('gb10-busy')).toEqual([
      'driver Ok("580.142")',
      'name Ok("NVIDIA GB10")',
      'brand Ok(Nvidia)',
      'architecture Err(UnexpectedVariant(10))', // version 0.10 ends before Blackwell
      'memory Err(NotSupported)',
      'bar1 Err(NotSupported)',
      'temperature Ok(40)',
      'shutdown Err(NotSupported)',
      'fan Err(NotSupported) of Err(NotSupported)',
      'limit Err(NotSupported)',
      'link Ok(1) Ok(1)',
      'encoder Ok(0)',
      'persistent Ok(true)',
      'serial Err(NotSupported)',
      'cores Ok(6144)',
      'bus Ok("0000000F:01:00.0")',
      'process 75161927680',
    ]);
  });

  it('h200', async () => {
    expect(await printedOn('h200')).toEqual([
      'driver Ok("580.159.04")',
      'name Ok("NVIDIA H200")',
      'brand Ok(Nvidia)',
      'architecture Ok(Hopper)',
      'memory Ok(MemoryInfo { free: 150109880320, total: 150754820096, used: 644939776 })',
      'bar1 Ok(274877906944)',
      'temperature Ok(29)',
      'shutdown Ok(92)',
      'fan Err(NotSupported) of Err(NotSupported)',
      'limit Ok(700000)',
      'link Ok(5) Ok(16)',
      'encoder Ok(0)',
      'persistent Ok(true)',
      'serial Ok("1650000000201")',
      'cores Ok(16896)',
      'bus Ok("00000000:00:06.0")',
    ]);
  });
});
