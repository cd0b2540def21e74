import createClient, { type Middleware } from 'openapi-fetch';
import i18n from '~/i18n';
import { ended, whenSignedIn } from '~/session/ended';
import { sessionHeaders } from '~/session/opened-for';
import { noteCall, shownBody } from './calls';
import { ApiError, Unreachable } from './errors';
import { noteReachable, noteUnreachable } from './reachable';
import type { paths as Described } from './schema';

/** The address of the service, below which `/api` is. */
export const BASE = new URL('.', document.baseURI).href.replace(/\/$/, '');

/** without the request for a second factor, which is a failure here */
type Data<E> = E extends { code: -2 }
  ? never
  : E extends { data: infer D }
    ? D
    : E extends { data?: infer D }
      ? D
      : never;
type Answer<R, S> = R extends { content: { 'application/json': infer E } }
  ? Omit<R, 'content'> & {
      content: { 'application/json': `${S & number}` extends `2${string}` ? Data<E> : ApiError };
    }
  : R;
type Operation<O> = O extends { responses: infer R }
  ? Omit<O, 'responses'> & { responses: { [S in keyof R]: Answer<R[S], S> } }
  : O;
/** The described API with the envelope taken off: answers are `data`, failures are an `ApiError`. */
export type paths = { [P in keyof Described]: { [M in keyof Described[P]]: Operation<Described[P][M]> } };

interface Envelope {
  code: number;
  data?: unknown;
  msg: string;
}

async function envelopeOf(response: Response): Promise<Envelope> {
  try {
    return (await response.clone().json()) as Envelope;
  } catch {
    // a proxy in between that answers with a page of its own
    return { code: response.status * 1000, msg: i18n.t('common:failure.notOurs', { status: response.status }) };
  }
}

/** The failure that an answer is, or null. */
export async function failureOf(response: Response): Promise<ApiError | null> {
  if (!/json/.test(response.headers.get('content-type') ?? '') && response.ok) return null;
  const { code, data, msg } = await envelopeOf(response);
  if (code === 0 || (response.ok && code > 0 && response.status === 207)) return null;
  const seconds = Number(response.headers.get('retry-after'));
  const id = response.headers.get('x-request-id');
  return new ApiError(response.status, code, msg, (data ?? {}) as ApiError['data'], id, seconds || null);
}

const opensSession = (url: string) =>
  /\/api\/(auth\/(login|second-factor|webauthn\/login|oauth\/callback|password-reset)|init|site)/.test(url);

const isEnded = (failure: ApiError) =>
  failure.status === 401 &&
  ['session_invalid', 'session_expired', 'session_ended', 'no_token'].includes(String(failure.reason));

/**
 * `fetch` for the API: adds the header of the session, notes the call, tells whether the service can be reached, and
 * where the session has ended waits for the next sign-in and asks again.
 */
export async function ask(request: Request, quietly = false): Promise<Response> {
  const copy = request.clone();
  const { pathname, search } = new URL(request.url);
  const path = BASE.length > location.origin.length ? pathname.slice(new URL(BASE).pathname.length) : pathname;
  const answered = noteCall(request.method, path + search, shownBody(await request.clone().text()));
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    noteUnreachable();
    throw new Unreachable();
  }
  answered(response.status);
  if ([502, 504].includes(response.status)) noteUnreachable();
  else noteReachable();
  if (response.status !== 401 || opensSession(request.url)) return response;
  const failure = await failureOf(response);
  if (failure?.reason === 'session_of_another') {
    // the page becomes that of who has signed in since; nothing of it goes on
    location.reload();
    return new Promise(() => undefined);
  }
  if (quietly || !failure || !isEnded(failure)) return response;
  ended();
  await whenSignedIn(request.signal);
  return ask(copy, true);
}

const envelope: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(sessionHeaders())) request.headers.set(name, value);
    request.headers.set('Accept-Language', i18n.language);
    return request;
  },
  async onResponse({ response }) {
    const failure = await failureOf(response);
    if (failure) throw failure;
    if (!/json/.test(response.headers.get('content-type') ?? '')) return undefined;
    const { data } = await envelopeOf(response);
    return new Response(JSON.stringify(data ?? null), response);
  },
};

const clientOf = (quietly: boolean) => {
  const client = createClient<paths>({ baseUrl: BASE, fetch: (request) => ask(request, quietly) });
  client.use(envelope);
  return client;
};

/** The API. Answers are the `data` of its envelope; what fails throws an `ApiError`, or `Unreachable`. */
export const client = clientOf(false);
/** The same, for what asks whether somebody is signed in: an ended session is a failure like others. */
export const quietClient = clientOf(true);
