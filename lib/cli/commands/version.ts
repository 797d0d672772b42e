import { packageVersion } from '../../base/package-version.ts';
import type { VersionDocument } from '../../types/index.ts';
import type { Command } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';

export const versionCommand: Command = {
  name: 'version',
  usage: '',
  description: 'With --json also the version of Node, the platform and the processor.',
  examples: [{ command: 'umaprobe version', means: 'umaprobe 1.2.3' }],
  readsMachine: false,
  async run() {
    const version = packageVersion();
    const { platform, arch, versions } = process;
    return {
      exitCode: EXIT.success,
      document: {
        schema: 'umaprobe/version/1',
        version,
        node: versions.node,
        platform,
        arch,
      } satisfies VersionDocument,
      text: () => `umaprobe ${version}\n`,
    };
  },
};
