/** Models of which a file is missing. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openModel } from '../../../../lib/models/files/open.ts';
import { ROOT } from '../../../support/root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const FIXTURES = join(ROOT, 'test/support/models');

describe('safetensors files', () => {
  it('by the name of one shard: all of them', async () => {
    const model = await openModel(join(FIXTURES, 'sharded/model-00002-of-00002.safetensors'));
    expect(model).toMatchObject({
      files: 2,
      unread: [],
      parameters: (await openModel(join(FIXTURES, 'sharded'))).parameters,
    });
  });

  it('of which a shard is there under another name: a layer is missing', async () => {
    const path = temporaryFolder('missing');
    cpSync(join(FIXTURES, 'sharded/config.json'), join(path, 'config.json'));
    cpSync(join(FIXTURES, 'sharded/model-00001-of-00002.safetensors'), join(path, 'model.safetensors'));
    await expect(openModel(path)).rejects.toThrow(
      'it has tensors of 1 of 2 layers, and none of layer 1: a file is missing',
    );
  });

  it('with a shard missing', async () => {
    const path = temporaryFolder('missing');
    cpSync(join(FIXTURES, 'sharded/model-00001-of-00002.safetensors'), join(path, 'model-00001-of-00002.safetensors'));
    await expect(openModel(path)).rejects.toThrow('1 of 2 shards "model-…" are there; download the others');
  });
});

describe('GGUF files', () => {
  it('a part is missing', async () => {
    const path = temporaryFolder('missing');
    cpSync(join(FIXTURES, 'split/gemma-00002-of-00002.gguf'), join(path, 'gemma-00002-of-00002.gguf'));
    await expect(openModel(join(path, 'gemma-00002-of-00002.gguf'))).rejects.toThrow(
      'part gemma-00001-of-00002.gguf is missing',
    );
  });

  it('a part whose name does not say that it is one', async () => {
    const path = join(temporaryFolder('missing'), 'gemma.gguf');
    cpSync(join(FIXTURES, 'split/gemma-00001-of-00002.gguf'), path);
    await expect(openModel(path)).rejects.toThrow(/gemma\.gguf: it is one of 2 parts; expected the name/);
  });
});
