import { type Schemas, type Zoneward, ZonewardError } from '@zoneward/client';
import type { Command } from 'commander';
import { EXIT } from './exits.js';
import { Failure } from './failures.js';
import { ending, list, wholeNumber } from './options.js';
import { harmless, print, printJson, say, table } from './output.js';
import { askSecretly, type Common, connect, forget, keep, profileOf, sessionOf, signal } from './session.js';

const TOKEN = /^svc_[0-9a-f]{64}$/;

/** Signs in with a password, and a second factor where one is asked for. @returns the token of the session */
async function signIn(zoneward: Zoneward, username: string): Promise<string> {
  const password = process.env.ZONEWARD_PASSWORD || (await askSecretly('Password'));
  const send = async (more: { totpCode?: string; recoveryCode?: string }) => {
    const { token } = await zoneward.post('/api/auth/login', { body: { username, password, ...more }, signal });
    return token as string;
  };
  try {
    return await send({});
  } catch (error) {
    if (!(error instanceof ZonewardError) || error.code !== -2) throw error;
    const code = process.env.ZONEWARD_CODE || (await askSecretly('Code of the second factor'));
    return send(/^\d{6}$/.test(code) ? { totpCode: code } : { recoveryCode: code });
  }
}

async function login(options: { url?: string; user?: string }, command: Command): Promise<number> {
  const common = command.optsWithGlobals<Common>();
  const url = options.url ?? process.env.ZONEWARD_URL;
  if (!url) throw new Failure('where is the service? --url https://dns.example.com');
  let token: string;
  let who: string;
  if (options.user !== undefined) {
    token = await signIn(connect(url, undefined, common), options.user);
    who = `${options.user}, until the session ends`;
  } else {
    token = process.env.ZONEWARD_TOKEN || (await askSecretly('API token'));
    if (!TOKEN.test(token)) throw new Failure('this is no API token; with a password: --user <name>');
    const self = await connect(url, token, common).get('/api/tokens/self', { signal });
    who = `the token ${self.name} of ${self.username}`;
  }
  keep(profileOf(common), { url, token });
  say(harmless(`signed in at ${url} as ${who}`));
  return EXIT.done;
}

async function logout(_: object, command: Command): Promise<number> {
  const common = command.optsWithGlobals<Common>();
  const old = forget(profileOf(common));
  // a token lives on, a session is ended
  if (old && !TOKEN.test(old.token)) await connect(old.url, old.token, common).post('/api/auth/logout', { signal });
  say(old ? 'signed out' : 'there was no such profile');
  return EXIT.done;
}

type Token = Schemas['TokenView'];
const rowOf = (one: Token) => [
  one.id,
  one.name,
  one.is_active ? '' : 'disabled',
  one.preset ?? (one.rules ? 'rules' : ''),
  one.allowed_services.join(),
  one.end_time ?? '',
  one.last_used_at ?? 'never',
];
const tokenTable = (tokens: Token[]): string =>
  table(['ID', 'NAME', '', 'RULES', 'SCOPES', 'ENDS', 'LAST USED'], tokens.map(rowOf));

async function self(_: object, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const one = await zoneward.get('/api/tokens/self', { signal });
  if (json) printJson(one);
  else print(tokenTable([one]));
  return EXIT.done;
}

async function listTokens(_: object, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const tokens = await zoneward.get('/api/tokens', { signal });
  if (json) printJson(tokens);
  else print(tokenTable(tokens));
  return EXIT.done;
}

interface CreateOptions {
  zones?: string[];
  scopes?: string[];
  preset?: 'acme' | 'ddns' | 'read-only';
  host?: string;
  ends?: string;
}

/** Shows a secret, which is shown this once. */
function printSecret(json: boolean, made: Schemas['TokenCreated']): number {
  if (json) printJson(made);
  else print(made.token);
  say(harmless(`the token ${made.tokenData.name} (${made.tokenData.id}); it is shown this once`));
  return EXIT.done;
}

async function create(name: string, options: CreateOptions, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const { zones = [], scopes, preset, host, ends } = options;
  if (host !== undefined && !preset) throw new Failure('--host goes with --preset');
  const ids = [];
  for (const zone of zones)
    ids.push((await zoneward.get('/api/domains/{domain_id}', { path: { domain_id: zone }, signal })).id);
  const body = {
    name,
    ...(ids.length ? { allowed_domains: ids } : {}),
    ...(scopes ? { allowed_services: scopes as Schemas['TokenInput']['allowed_services'] & object } : {}),
    ...(preset ? { preset: { name: preset, ...(host === undefined ? {} : { host }) } } : {}),
    ...(ends === undefined ? {} : { end_time: ends }),
  };
  return printSecret(json, await zoneward.post('/api/tokens', { body, signal }));
}

async function rotate(id: number, { overlap }: { overlap: number }, command: Command): Promise<number> {
  const { zoneward, json } = sessionOf(command);
  const body = { overlap_minutes: overlap };
  return printSecret(json, await zoneward.post('/api/tokens/{id}/rotate', { path: { id }, body, signal }));
}

async function remove(id: number, _: object, command: Command): Promise<number> {
  const { zoneward } = sessionOf(command);
  await zoneward.delete('/api/tokens/{id}', { path: { id }, signal });
  say('deleted');
  return EXIT.done;
}

export function tokenCommands(program: Command): void {
  program
    .command('login')
    .description('keep an address and a credential in a profile; both come from standard input or the environment')
    .option('--url <address>', 'of the service; left out: ZONEWARD_URL')
    .option('--user <name>', 'with a password, for a session; left out: with an API token')
    .action(ending(login));
  program.command('logout').description('forget a profile').action(ending(logout));
  const tokens = program.command('tokens').description('API tokens');
  tokens.command('self').description('what the token in use may do').action(ending(self));
  tokens.command('list').description('your tokens; in a session').action(ending(listTokens));
  tokens
    .command('create <name>')
    .description('a new token, shown this once; in a session')
    .option('--zones <zones>', 'only these, with commas between', list)
    .option('--scopes <scopes>', 'such as records:read,records:write', list)
    .option('--preset <preset>', 'acme, ddns or read-only')
    .option('--host <host>', 'of the preset')
    .option('--ends <time>', 'ISO 8601')
    .action(ending(create));
  tokens
    .command('rotate')
    .argument('<id>', 'of the token', wholeNumber)
    .description('a new secret; in a session')
    .option('--overlap <minutes>', 'how long the old one works on', wholeNumber, 0)
    .action(ending(rotate));
  tokens
    .command('rm')
    .argument('<id>', 'of the token', wholeNumber)
    .description('delete; in a session')
    .action(ending(remove));
}
