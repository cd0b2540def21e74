import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { INestApplication, Type } from '@nestjs/common';
import { createApp, listen } from '../../src/create-app.js';
import { createLogger } from '../../src/platform/common/logger.js';
import { parseConfig } from '../../src/platform/config/config.js';
import { DatabaseService } from '../../src/platform/database/database.service.js';
import type { DataOf } from './answers.js';
import { type Kind, migratedDatabase, migratedFile } from './databases.js';
import type { Document } from './openapi.js';

const ENTRY = join(import.meta.dirname, '../../dist/zoneward.cjs');
const QUICK_HASHES = `--require=${join(import.meta.dirname, 'quick-hashes.cjs')}`;

/** ms after which a process that does not listen is killed. */
const START_MS = 60_000;

export const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

/** One answer of the API. */
export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  code: number;
  msg: string;
  data: T;
}

/** Headers as in `fetch`, with separate cookies. */
function headersOf(given: NodeJS.Dict<string[]>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(given)) for (const value of values ?? []) headers.append(name, value);
  return headers;
}

interface DeclaredFailures {
  method: string;
  pattern: RegExp;
  /** Descriptions of the answers by status. */
  responses: Record<string, string>;
}

/** Fixed paths precede those with parameters, as in the service. */
function declaredFailures(document: unknown): DeclaredFailures[] {
  const { paths, components } = document as Document;
  return Object.keys(paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .flatMap((path) =>
      Object.entries(paths[path]).map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, { $ref, description }]) => [
            status,
            $ref ? components.responses[$ref.split('/').at(-1) as string].description : description,
          ]),
        ),
      })),
    );
}

/** Whether a process is stopped, for example by SIGSTOP. */
export function isStopped(pid: number): boolean {
  try {
    return /^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const newDataDir = () => mkdtempSync(join(tmpdir(), 'zoneward-test-'));

/** The committed description, which a test of its own compares with what the service answers. */
const DESCRIPTION = join(import.meta.dirname, '../../docs/openapi.json');
let declared: DeclaredFailures[] | undefined;

/** Sends a request; redirects are answers. @throws Error when the connection ends before the answer does */
async function send(
  url: URL,
  options: RequestOptions,
  body?: string,
): Promise<{ head: IncomingMessage; content: string }> {
  const head = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end(body);
  });
  return { head, content: await text(head) };
}

/** A running service, called over real HTTP. */
export abstract class Server {
  /** Keeps connections open; without it each request has its own. */
  protected agent: Agent | false = false;

  protected constructor(
    readonly url: string,
    readonly dataDir: string,
  ) {}

  /** The service's log so far. */
  abstract get log(): string;
  /** Stops it as an operator would (SIGTERM). @returns the exit code */
  abstract stop(): Promise<number | null>;
  /** Kills it like a crash (SIGKILL), if it is a process. */
  abstract kill(): Promise<number | null>;

  /** Sends one request; `body` is sent as JSON (text unchanged). */
  async call<M extends string, P extends string>(
    method: M,
    path: P,
    body?: unknown,
    token?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer<DataOf<M, P>>> {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const all = new Headers({ 'user-agent': 'node' });
    if (sent !== undefined) {
      all.set('content-type', 'application/json');
      // without it Node sends the body of a DELETE with no length
      all.set('content-length', String(Buffer.byteLength(sent)));
    }
    if (token) all.set('authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const { head, content } = await send(
      new URL(this.url + path),
      { method, headers: Object.fromEntries(all), agent: this.agent },
      sent,
    );
    const json = content.startsWith('{') ? JSON.parse(content) : {};
    const status = head.statusCode as number;
    if (json.code >= 400_000) this.assertDescribed(method, path, status, json.code);
    return {
      status,
      headers: headersOf(head.headersDistinct),
      code: json.code,
      msg: json.msg,
      data: json.data,
    };
  }

  /** Failures are part of the API: each one met in a test must be declared in the OpenAPI description. */
  private assertDescribed(method: string, path: string, status: number, code: number): void {
    declared ??= declaredFailures(JSON.parse(readFileSync(DESCRIPTION, 'utf8')));
    const url = path.split('?')[0] as string;
    const route = declared.find((r) => r.method === method && r.pattern.test(url));
    if (!route || route.responses[status]?.includes(String(code))) return;
    const words = `${method} ${path} answered ${code}, which its description does not declare`;
    throw new Error(
      `${words}: its handler needs @Fails with the kind of ${code} (then UPDATE_DOCS=1 for test/api/openapi)`,
    );
  }

  /** A client with this credential. */
  as(token: string) {
    const call =
      <M extends string>(method: M) =>
      <P extends string>(path: P, body?: unknown, headers?: Record<string, string>): Promise<Answer<DataOf<M, P>>> =>
        this.call(method, path, body, token, headers);
    return { get: call('GET'), post: call('POST'), put: call('PUT'), patch: call('PATCH'), delete: call('DELETE') };
  }

  /** Logs in. @returns the JWT */
  async login(user: { username: string; password: string } = ADMIN): Promise<string> {
    const answer = await this.call('POST', '/api/auth/login', user);
    if (answer.code !== 0) throw new Error(`login failed: ${answer.status} ${answer.msg}`);
    return answer.data.token;
  }
}

/** The services in this process by data directory. */
const running = new Map<string, INestApplication>();

/** The application running in this process on a data directory, if any. */
export const applicationOf = (dataDir: string): INestApplication | undefined => running.get(dataDir);

/** Defaults for tests: providers apply nothing late, registries are not queried, and shutdown does not drain. */
const AT_ONCE = { UNCLEAR_AFTER_MS: '0', EXPIRY_LOOKUPS: 'off', DRAIN_MS: '0' };

/** The service in the test's own process. */
export class LocalServer extends Server {
  private constructor(
    private readonly app: INestApplication,
    dataDir: string,
    private readonly output: string[],
  ) {
    super(`http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`, dataDir);
    // the service never closes an idle connection in a test, so no request meets a closed one
    app.getHttpServer().keepAliveTimeout = 0;
    this.agent = new Agent({ keepAlive: true });
  }

  /** @param controllers additional ones */
  static async start(
    env: Record<string, string> = {},
    dataDir = newDataDir(),
    controllers: Type[] = [],
  ): Promise<LocalServer> {
    const config = parseConfig({ HOST: '127.0.0.1', DATA_DIR: dataDir, ...AT_ONCE, ...env });
    const output: string[] = [];
    const logger = createLogger(config.logLevel, { write: (line) => void output.push(line) });
    const app = await createApp(config, logger, controllers);
    try {
      await app.get(DatabaseService).start();
      await listen(app, config, 0);
    } catch (error) {
      await app.close();
      throw error;
    }
    running.set(dataDir, app);
    return new LocalServer(app, dataDir, output);
  }

  get log(): string {
    return this.output.join('');
  }

  async stop(): Promise<number> {
    if (running.get(this.dataDir) === this.app) {
      running.delete(this.dataDir);
      await this.app.close();
    }
    return 0;
  }

  kill(): Promise<number> {
    return this.stop();
  }
}

/** The service as a separate process, for tests of its start, shutdown, memory or environment. */
export class ServerProcess extends Server {
  private constructor(
    url: string,
    dataDir: string,
    private readonly child: ChildProcess,
    private readonly output: string[],
  ) {
    super(url, dataDir);
  }

  /**
   * Starts `node dist/zoneward.cjs` with this environment, without the caller's variables that affect it, and waits
   * until it listens.
   * @param through a wrapper program and its arguments
   */
  static async start(
    env: Record<string, string> = {},
    dataDir = newDataDir(),
    through: readonly string[] = [],
  ): Promise<ServerProcess> {
    const { PATH } = process.env;
    const own = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, ...AT_ONCE };
    const NODE_OPTIONS = `${QUICK_HASHES} ${env.NODE_OPTIONS ?? ''}`;
    const [program = '', ...more] = [...through, process.execPath, ENTRY];
    const child = spawn(program, more, {
      cwd: dataDir,
      env: { PATH, ...own, ...env, NODE_OPTIONS },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    const port = await new Promise<number>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output.push(String(chunk));
        const [, found] = /"port":(\d+),[^\n]*"msg":"listening"/.exec(output.join('')) ?? [];
        if (found) resolve(Number(found));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${output.join('')}`)));
    }).finally(() => clearTimeout(late));
    return new ServerProcess(`http://127.0.0.1:${port}`, dataDir, child, output);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get log(): string {
    return this.output.join('');
  }

  stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

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

export interface Service<S extends Server = Server> {
  server: S;
  admin: Client;
  token: string;
  databaseUrl: string;
  stop(): Promise<void>;
}
type Start<S extends Server> = { start(env: Record<string, string>, dataDir?: string): Promise<S> };

async function initialised<S extends Server>(
  { start }: Start<S>,
  kind: Kind,
  env: Record<string, string>,
): Promise<Service<S>> {
  const dataDir = newDataDir();
  const database = kind === 'sqlite' ? null : await migratedDatabase(kind);
  if (!database) await migratedFile(join(dataDir, 'zoneward.db'));
  const databaseUrl = database?.url ?? 'sqlite:zoneward.db';
  const preset = { DATABASE_URL: databaseUrl, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password };
  const server = await start({ ...preset, ...env }, dataDir);
  const token = await server.login();
  const stop = async () => {
    await server.kill();
    await database?.drop();
    rmSync(server.dataDir, { recursive: true, force: true });
  };
  return { server, admin: server.as(token), token, databaseUrl, stop };
}

/** An initialised service on an empty database in the test's process, with a logged-in administrator. */
export const startService = (kind: Kind, env: Record<string, string> = {}): Promise<Service> =>
  initialised(LocalServer, kind, env);

/** The same with additional controllers. */
export const startServiceWith = (kind: Kind, controllers: Type[]): Promise<Service> =>
  initialised({ start: (env, dataDir) => LocalServer.start(env, dataDir, controllers) }, kind, {});

/** The same as a separate process. */
export const startProcess = (
  kind: Kind,
  env: Record<string, string> = {},
  through: readonly string[] = [],
): Promise<Service<ServerProcess>> =>
  initialised({ start: (own, dataDir) => ServerProcess.start(own, dataDir, through) }, kind, env);
