/** Longest context that a config.json of Hugging Face allows. */

import type { Architecture } from './architecture.ts';
import type { ModelConfig } from './model-config.ts';

/** Kinds of stretched positions whose factor is in the number of positions already; Gemma 3's is, too. */
const STRETCHED_ALREADY = /^(?:default|su|longrope|llama3)$/;

/**
 * Positions, stretched as the config says: vLLM's _get_and_verify_max_len (config/model.py). SGLang's get_context_length does not
 * stretch where the config has the original number. null: the config does not say.
 */
export function contextOf(config: ModelConfig): Pick<Architecture, 'maxContext' | 'unstretched'> {
  const positions = config.count([
    'max_position_embeddings',
    'n_positions',
    'seq_length',
    'max_seq_len',
    'model_max_length',
  ]);
  const rope = config.inner('rope_scaling') ?? config.inner('rope_parameters');
  if (positions === null || rope === null) return { maxContext: positions };
  rope.repeats(...rope.names());
  const kind = rope.text('rope_type') ?? rope.text('type') ?? 'default';
  if (STRETCHED_ALREADY.test(kind) || (config.text('model_type') ?? '').startsWith('gemma3'))
    return { maxContext: positions };
  const given = rope.number('original_max_position_embeddings');
  const original = (kind === 'yarn' ? given : null) ?? positions;
  const maxContext = Math.max(positions, Math.floor(original * (rope.number('factor') ?? 1)));
  return { maxContext, ...(given === null ? {} : { unstretched: positions }) };
}
