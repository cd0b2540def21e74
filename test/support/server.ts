import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';

export type Kind = 'sqlite' | 'postgresql' | 'mysql';

const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const MYSQL = process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/mysql';
const ENTRY = join(import.meta.dirname, '../../../dist/src/main.js');

export const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

async function run(kind: Kind, sql: string): Promise<void> {
  if (kind === 'postgresql') {
    const client = new pg.Client({ connectionString: POSTGRES, connectionTimeoutMillis: 2000 });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  } else {
    const client = await mysql.createConnection({ uri: MYSQL, connectTimeout: 2000 });
    await client.query(sql).finally(() => client.end());
  }
}

/** Why suites on this kind are left out, or false. In CI a missing server is a failure, not a skip. */
async function absence(kind: Kind): Promise<string | false> {
  if (kind === 'sqlite') return false;
  try {
    await run(kind, 'SELECT 1');
    return false;
  } catch (error) {
    if (process.env.CI) throw error;
    return `no ${kind} server (set TEST_${kind === 'mysql' ? 'MYSQL' : 'POSTGRES'}_URL)`;
  }
}

const wanted = (process.env.TEST_DATABASES ?? 'sqlite,postgresql,mysql').split(',') as Kind[];

/** The database kinds to test on: `for (const { kind, skip } of DATABASES) describe('… on ' + kind, { skip }, …)`. */
export const DATABASES: { kind: Kind; skip: string | false }[] = await Promise.all(
  wanted.map(async (kind) => ({ kind, skip: await absence(kind) })),
);

/** An empty database of a server kind. @returns its URL for `DATABASE_URL`, and how to drop it */
export async function freshDatabase(
  kind: Exclude<Kind, 'sqlite'>,
): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const name = `zoneward_${randomBytes(6).toString('hex')}`;
  await run(kind, `CREATE DATABASE ${name}`);
  const url = new URL(kind === 'postgresql' ? POSTGRES : MYSQL);
  url.pathname = `/${name}`;
  const drop = () => run(kind, `DROP DATABASE IF EXISTS ${name}${kind === 'postgresql' ? ' WITH (FORCE)' : ''}`);
  return { url: url.href, name, drop };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** One answer of the API. */
export interface Answer {
  status: number;
  headers: Headers;
  code: number;
  msg: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  data: any;
}

interface DeclaredFailures {
  method: string;
  pattern: RegExp;
  /** description of the answers by status */
  responses: Record<string, string>;
}

/** Fixed paths come before those with parameters, as in the service. */
function declaredFailures(document: unknown): DeclaredFailures[] {
  // biome-ignore lint/suspicious/noExplicitAny: a document is walked, not typed
  const { paths, components } = document as any;
  return Object.keys(paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .flatMap((path) =>
      Object.entries<{ responses: Record<string, { $ref?: string; description: string }> }>(paths[path]).map(
        ([method, { responses }]) => ({
          method: method.toUpperCase(),
          pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
          responses: Object.fromEntries(
            Object.entries(responses).map(([status, { $ref, description }]) => [
              status,
              $ref ? components.responses[$ref.split('/').at(-1) as string].description : description,
            ]),
          ),
        }),
      ),
    );
}

/** A running server process: the built service, over real HTTP. */
export class Server {
  private output = '';
  private failures?: Promise<DeclaredFailures[]>;
  private constructor(
    readonly url: string,
    readonly dataDir: string,
    private readonly child: ChildProcess,
  ) {
    child.stdout?.on('data', (chunk) => {
      this.output += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      this.output += chunk;
    });
  }

  /** Starts `node dist/src/main.js` with this environment and nothing of the caller's, and waits until it listens. */
  static async start(
    env: Record<string, string> = {},
    dataDir = mkdtempSync(join(tmpdir(), 'zoneward-test-')),
  ): Promise<Server> {
    const port = await freePort();
    const child = spawn(process.execPath, [ENTRY], {
      cwd: dataDir,
      env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const server = new Server(`http://127.0.0.1:${port}`, dataDir, child);
    for (let i = 0; i < 600; i++) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}:\n${server.output}`);
      if (
        await fetch(`${server.url}/health/live`).then(
          (r) => r.ok,
          () => false,
        )
      )
        return server;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await server.kill();
    throw new Error(`the server does not listen:\n${server.output}`);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Everything that the process wrote to stdout and stderr so far. */
  get log(): string {
    return this.output;
  }

  /** One call; `body` is sent as JSON (text as it is). */
  async call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const json = text.startsWith('{') ? JSON.parse(text) : {};
    if (json.code >= 400_000) await this.assertDescribed(method, path, response.status, json.code);
    return { status: response.status, headers: response.headers, code: json.code, msg: json.msg, data: json.data };
  }

  /** Failures are part of the API: the OpenAPI description has to declare each that any test meets. */
  private async assertDescribed(method: string, path: string, status: number, code: number): Promise<void> {
    this.failures ??= fetch(`${this.url}/api/openapi.json`)
      .then((answer) => answer.json())
      .then(declaredFailures, () => []); // gone already, or below another path
    const url = path.split('?')[0] as string;
    const route = (await this.failures).find((r) => r.method === method && r.pattern.test(url));
    if (!route || route.responses[status]?.includes(String(code))) return;
    const words = `${method} ${path} answered ${code}, which its description does not declare`;
    throw new Error(`${words}: its handler needs @Fails with the kind of ${code}`);
  }

  /** A client that sends this credential. */
  as(token: string) {
    const call = (method: string) => (path: string, body?: unknown) => this.call(method, path, body, token);
    return { get: call('GET'), post: call('POST'), put: call('PUT'), patch: call('PATCH'), delete: call('DELETE') };
  }

  /** Logs in. @returns the JWT */
  async login(user: { username: string; password: string } = ADMIN): Promise<string> {
    const answer = await this.call('POST', '/api/auth/login', user);
    if (answer.code !== 0) throw new Error(`login failed: ${answer.status} ${answer.msg}`);
    return answer.data.token;
  }

  /** Ends as an operator would (SIGTERM). @returns the exit code */
  stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  /** Ends as a crash would (SIGKILL). */
  kill(): Promise<number | null> {
    return this.end('SIGKILL');
  }

  private end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
    return new Promise((resolve) => {
      child.once('exit', (code) => resolve(code));
      child.kill(signal);
    });
  }
}

export type Client = ReturnType<Server['as']>;

/** An initialised service on an empty database of a kind, with an administrator who is logged in. */
export async function startService(
  kind: Kind,
  env: Record<string, string> = {},
): Promise<{ server: Server; admin: Client; token: string; databaseUrl: string; stop(): Promise<void> }> {
  const database = kind === 'sqlite' ? null : await freshDatabase(kind);
  const databaseUrl = database?.url ?? 'sqlite:zoneward.db';
  const server = await Server.start({
    DATABASE_URL: databaseUrl,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    ...env,
  });
  const token = await server.login();
  const stop = async () => {
    await server.kill();
    await database?.drop();
    rmSync(server.dataDir, { recursive: true, force: true });
  };
  return { server, admin: server.as(token), token, databaseUrl, stop };
}
