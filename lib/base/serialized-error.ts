/** Errors between processes and threads: plain fields on one side, the same error again on the other. */

import { type Failure, toUmaError, UmaError, type UmaErrorCode } from './errors.ts';

/** `code` and `failure`: a UmaError. `failure` alone: from the addon; it becomes a UmaError in the parent. */
export interface SerializedError {
  message: string;
  code: string | null;
  failure: Failure | null;
  stack: string | null;
}

export function serializeError(error: unknown): SerializedError {
  const { code = null, failure = null } = error as { code?: string; failure?: Failure };
  const { message, stack = null } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof UmaError)) return { message, code, failure, stack };
  const { call, nativeName, source, status } = error;
  return {
    message,
    code: error.code,
    failure: { failed: true, source, call, status, name: nativeName, message: '' },
    stack,
  };
}

export function deserializeError({ code, failure, message, stack }: SerializedError): Error {
  if (failure === null) return Object.assign(new Error(message), { code, stack });
  if (code === null) return toUmaError(failure);
  const error = new UmaError(code as UmaErrorCode, failure);
  error.message = message;
  return error;
}
