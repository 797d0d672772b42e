import { packageVersion } from '../../base/package-version.ts';
import { type Command, type CommandOutcome, type Context, finished, type ListedCommand } from '../core/command.ts';
import { EXIT } from '../core/exit.ts';
import { UsageError } from '../core/usage.ts';
import { errorReply, lineOf, lines, MAX_LINE, RPC, RpcError } from '../mcp/rpc.ts';
import { McpServer } from '../mcp/server.ts';
import { loadTools } from '../mcp/tools.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  description:
    'Serves the Model Context Protocol on stdin and stdout, for agents that run no shell: memory, snapshot, doctor, fit, estimate, explain_error and processes. ' +
    'Each call runs that command and answers its document. Nothing is changed, and nothing but the protocol is printed.\n' +
    'Ends with its input, once the calls that run are answered. An agent that runs commands needs no server: skills/umaprobe/SKILL.md in the package tells it how.',
  examples: [
    { command: 'claude mcp add memory -- umaprobe mcp', means: 'add it to an agent' },
    { command: 'umaprobe mcp --sim gb10', means: 'for a simulated machine' },
  ],
  run,
};

async function run({ commands, json, stderr, stdin, stdout }: Context): Promise<CommandOutcome> {
  if (json) throw new UsageError('mcp prints the protocol, which is JSON; --json does not apply.');
  if (stdin.isTTY)
    stderr.write('umaprobe mcp is started by an agent, which writes JSON-RPC to its stdin; Ctrl-D ends it.\n');
  const load = async (name: string): Promise<ListedCommand> => {
    const command = (await commands()).all.find((candidate) => candidate.name === name);
    if (command === undefined) throw new Error(`there is no command ${name}`);
    return command;
  };
  let tools: ReturnType<typeof loadTools> | undefined;
  const server = new McpServer({ version: packageVersion(), tools: () => (tools ??= loadTools(load)) });
  const running = new Set<Promise<void>>();
  for await (const line of lines(stdin)) {
    if (line?.trim() === '') continue;
    const answered = (line === null ? Promise.resolve(tooLong()) : server.answer(line)).then((reply) => {
      if (reply !== null) stdout.write(lineOf(reply));
    });
    running.add(answered);
    void answered.finally(() => running.delete(answered));
  }
  await Promise.all(running);
  return finished(EXIT.success);
}

function tooLong() {
  return errorReply(null, new RpcError(RPC.request, `a line has more than ${MAX_LINE} bytes`));
}
