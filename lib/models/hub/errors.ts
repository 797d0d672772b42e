/** Errors of the Hub, one line each: the request, the answer, the remedy. */

import { UmaError, type UmaErrorCode } from '../../base/errors.ts';

/** @param the request: "hf:org/name", "config.json of hf:org/name". */
export function hubError(
  what: string,
  name: string,
  message: string,
  code: UmaErrorCode = 'ERR_UMA_NETWORK',
  status: number | null = null,
): UmaError {
  return new UmaError(code, { source: 'hub', call: what, status, name, message });
}

export function notRead(what: string): UmaError {
  return hubError(what, 'OFFLINE', 'it was not read before, and HF_HUB_OFFLINE is set');
}

/** Turns the Hub's refusal of a model into an error. */
export function refusal(what: string, response: Response, page: string, hasToken: boolean): UmaError {
  const { status } = response;
  if (status === 401 || status === 403) return denied(what, response, page, hasToken);
  if (status === 404) return missing(what, response, page);
  if (status === 429) {
    const when = waitOf(response.headers.get('retry-after'));
    const message = `too many requests: try again ${when}${hasToken ? '' : ', or with HF_TOKEN'}`;
    return hubError(what, 'HUB_RATE_LIMIT', message, undefined, status);
  }
  if (status === 407) return hubError(what, 'PROXY', 'the proxy wants a login', undefined, status);
  const why = status >= 500 ? 'the server failed: try again later' : 'an answer that was not expected';
  return hubError(what, 'HUB_STATUS', why, undefined, status);
}

function waitOf(retryAfter: string | null): string {
  const seconds = Number(retryAfter ?? Number.NaN);
  return seconds > 0 ? `in ${Math.ceil(Math.min(seconds, 86_400))} s` : 'in some minutes';
}

function denied(what: string, { headers, status }: Response, page: string, hasToken: boolean): UmaError {
  const login = hasToken
    ? 'the token that was sent does not give access'
    : 'set HF_TOKEN, or log in with `hf auth login`';
  if (headers.get('x-error-code') === 'GatedRepo') {
    const message = `access is gated: accept its terms at ${page}; ${login}`;
    return hubError(what, 'HUB_GATED', message, 'ERR_UMA_PERMISSION', status);
  }
  // The Hub answers 401 to who is not logged in, so that nobody learns which private models there are.
  const message = hasToken
    ? `it does not exist, or ${login}`
    : `it does not exist, or is private or gated: check the name; for a private one ${login}`;
  return hubError(what, 'HUB_DENIED', message, 'ERR_UMA_PERMISSION', status);
}

function missing(what: string, { headers, status }: Response, page: string): UmaError {
  const reason = headers.get('x-error-code');
  const message =
    reason === 'RevisionNotFound'
      ? 'there is no such revision'
      : reason === 'EntryNotFound'
        ? 'there is no such file'
        : `there is no such model at ${page}: check the name`;
  return hubError(what, 'HUB_MISSING', message, 'ERR_UMA_MODEL', status);
}
