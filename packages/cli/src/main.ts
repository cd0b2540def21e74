import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { completionCommands } from './completion.js';
import { EXIT } from './exits.js';
import { exitOf, Failure, wordsOf } from './failures.js';
import { ending } from './options.js';
import { say } from './output.js';
import { planCommands } from './plans.js';
import { recordCommands } from './records.js';
import { endOnSignals } from './session.js';
import { tokenCommands } from './tokens.js';
import { zoneCommands } from './zones.js';

const EXITS = `
Exit codes: 0 done, or nothing to do; 1 usage, or another failure; 2 there are differences; 3 refused (rights, a guard,
a freeze); 4 it waits for an approval; 5 somebody changed it meanwhile, or a conflict; 6 no answer, or nobody knows
whether it was done; 130 interrupted.
Environment: ZONEWARD_URL, ZONEWARD_TOKEN, ZONEWARD_PROFILE, ZONEWARD_CONFIG, NO_COLOR.`;

/** Where a secret was given in place of an argument, it is not told on. */
const SECRET = /svc_[0-9a-f]{16,}|eyJ[\w-]+\.[\w-]+\.[\w-]+/;

function programOf(): Command {
  const program = new Command('zoneward')
    .description('DNS records of a Zoneward service')
    .version(version)
    .option('--profile <name>', 'which profile of zoneward login; left out: ZONEWARD_PROFILE, or default')
    .option('--json', 'data as JSON')
    .option('--debug', 'tell each request on standard error, without credentials and bodies')
    .addHelpText('after', EXITS);
  for (const add of [zoneCommands, recordCommands, planCommands, tokenCommands, completionCommands]) add(program);
  program
    .command('mcp')
    .description('a server of the Model Context Protocol on standard input and output')
    .option('--allow-apply', 'let it apply plans, as far as the token may')
    .action(
      ending(async (options: { allowApply?: boolean }, command: Command) => {
        const { serve } = await import('./mcp.js');
        return serve(options, command);
      }),
    );
  return program;
}

/** Runs a command line, which sets the exit code. */
async function run(args: string[]): Promise<void> {
  if (args.some((arg) => SECRET.test(arg)))
    throw new Failure(
      'a credential among the arguments is seen by others of this machine: use ZONEWARD_TOKEN or zoneward login',
    );
  const program = programOf();
  const watch = (command: Command): void => {
    command.exitOverride();
    for (const inner of command.commands) watch(inner);
  };
  watch(program);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // its message is printed already
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode ? EXIT.other : EXIT.done;
  }
}

for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // whoever read has read enough: the work goes on, and has its own exit code
    if (error.code === 'EPIPE') return;
    // what could not be written is missing where it was to be kept
    say(`zoneward: ${wordsOf(error)}`);
    process.once('exit', () => {
      process.exitCode ||= EXIT.other;
    });
  });
endOnSignals();
try {
  await run(process.argv.slice(2));
} catch (error) {
  say(`zoneward: ${wordsOf(error)}`);
  process.exitCode = exitOf(error);
}
