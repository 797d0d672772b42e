/**
 * One call of a tool: the command in a process of its own, with a deadline. The server itself opens no library and creates no
 * CUDA context, and a driver that hangs is left behind with that process.
 */
import { objectIn } from '../../base/objects.ts';
import { startOwnProgram } from '../../base/start-process.ts';
import { RPC, RpcError } from './rpc.ts';
import type { Invocation } from './tools.ts';

/** The slowest command takes 3 s on a machine where all is well, and 15 where libraries hang. */
const CALL_MS = 60_000;
/** Longest document, in bytes; a snapshot has 20 kB, the processes of a busy machine some 500. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The document that the command prints under --json; that of an error, too.
 *
 * @throws RpcError at the deadline, and where the command prints none. The signal's reason when it is aborted.
 */
export async function callCommand(
  { args, input = '' }: Invocation,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  signal.throwIfAborted();
  const child = await startOwnProgram('cli', args, {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  const pieces: Buffer[] = [];
  let length = 0;
  // One that stands in a driver does not end by SIGKILL: it is not waited for.
  const leave = (): void => {
    child.kill('SIGKILL');
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  };
  try {
    return await new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.aborted ? signal.reason : late(args));
      ended.addEventListener('abort', abort, { once: true });
      if (ended.aborted) abort();
      child.stdin?.on('error', () => undefined); // it has ended without reading all
      child.stdin?.end(input);
      child.stdout?.on('data', (piece: Buffer) => {
        length += piece.length;
        pieces.push(piece);
        if (length > MAX_BYTES) reject(new RpcError(RPC.internal, `${args[0]} printed more than ${MAX_BYTES} bytes`));
      });
      child.once('close', (code) => {
        const document = objectIn(Buffer.concat(pieces).toString('utf8'));
        if (document === null)
          reject(new RpcError(RPC.internal, `${args[0]} ended with ${code} and printed no document`));
        else resolve(document);
      });
    });
  } finally {
    leave();
  }
}

function late([command = '']: readonly string[]): RpcError {
  return new RpcError(
    RPC.internal,
    `${command} did not answer within ${CALL_MS / 1000} s; what hangs: umaprobe doctor`,
  );
}
