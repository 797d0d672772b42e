/** The lines below the name of an estimated model: its kind, and the use that was estimated. */
import { formatBytes, formatCount } from '../../base/format.ts';
import type { EstimateReport } from '../../types/index.ts';

/** "qwen3", "36 layers", "8.19 billion parameters". */
export function modelFacts(model: EstimateReport['model']): string[] {
  return [
    model.architecture,
    model.layers === null ? null : `${model.layers} layers`,
    // If nothing else is known, the number of parameters is the name.
    model.parameters === null || model.source === 'parameters'
      ? null
      : `${parametersText(model.parameters)} parameters`,
    model.quantization,
    model.files === 0
      ? null
      : `${formatCount(model.files)} ${model.files === 1 ? 'file' : 'files'}, ${formatBytes(model.fileBytes)}`,
  ].filter((fact) => fact !== null);
}

/** "inference", "32,768 tokens × 1", "cache in bf16", "for vllm". */
export function useFacts(use: EstimateReport['use']): string[] {
  const sequences = `${formatCount(use.context)} tokens × ${formatCount(use.batch ?? use.sequences)}`;
  return [
    use.use === 'inference' ? 'inference' : `training (${use.use})`,
    ...(use.context === 0 ? [] : [sequences]),
    ...(use.use === 'inference' && use.context > 0 ? [`cache in ${use.kvDtype}`] : []),
    ...(use.use !== 'inference' ? [] : [use.program === null ? 'any program' : `for ${use.program}`]),
  ];
}

/** "8.19 billion", "596 million". */
function parametersText(parameters: number): string {
  if (parameters >= 1e9) return `${Number((parameters / 1e9).toPrecision(4))} billion`;
  return parameters >= 1e6 ? `${Number((parameters / 1e6).toPrecision(3))} million` : formatCount(parameters);
}
