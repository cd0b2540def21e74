// Logins beside other requests, in its own process: `fork('logins.mjs', [port])`. Requests are sent at a fixed rate,
// independent of answers. Sends its parent {idle, busy, accepted, turned, withoutRetryAfter, known, unknown}: ms.
import { Agent, request } from 'node:http';
import { size } from './short.mjs';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const EVERY_MS = { me: 10, login: 50 };
const WARM_MS = size(3000, 100);
const PHASE_MS = size(8000, 200);
const PAIRS = size(25, 1);

let network = 0;
/** A new address for every login, to stay below the rate limit of one network. */
const elsewhere = () => {
  network += 1;
  return `10.${(network >> 16) & 255}.${(network >> 8) & 255}.${network & 255}`;
};

function call(method, path, { token, body } = {}) {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const headers = {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}),
      'x-forwarded-for': elsewhere(),
    };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          retryAfter: response.headers['retry-after'],
          ms: performance.now() - start,
          data: JSON.parse(Buffer.concat(chunks)).data,
        }),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

const login = (username, password) => call('POST', '/api/auth/login', { body: { username, password } });
const at = (times, share) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))];

/** Starts `work` at a fixed rate for a while. @returns all answers */
async function paced(every, work, ms = PHASE_MS) {
  const answers = [];
  const end = performance.now() + ms;
  for (let next = performance.now(); next < end; next += every) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
    answers.push(work());
  }
  return Promise.all(answers);
}

const { data } = await login(ADMIN.username, ADMIN.password);
const me = () => call('GET', '/api/auth/me', { token: data.token });
// both kinds of requests are warmed up first, for V8's compilers and for swapped-out memory
await Promise.all([paced(EVERY_MS.me, me, WARM_MS), paced(EVERY_MS.login, () => login('nobody', 'wrong'), WARM_MS)]);
const idle = await paced(EVERY_MS.me, me);
const [busy, logins] = await Promise.all([
  paced(EVERY_MS.me, me),
  paced(EVERY_MS.login, () => login(ADMIN.username, ADMIN.password)),
]);
const known = [];
const unknown = [];
for (let i = 0; i < PAIRS; i++) {
  known.push((await login(ADMIN.username, 'wrong')).ms);
  unknown.push((await login('nobody-of-this-name', 'wrong')).ms);
}
const p = (answers) => ({
  p50: at(
    answers.map((a) => a.ms),
    0.5,
  ),
  p99: at(
    answers.map((a) => a.ms),
    0.99,
  ),
});
const accepted = logins.filter((a) => a.status === 200);
const turned = logins.filter((a) => a.status === 429);
process.send({
  idle: p(idle),
  busy: p(busy),
  offered: logins.length,
  accepted: { count: accepted.length, ...p(accepted) },
  turned: { count: turned.length, ...p(turned.length ? turned : [{ ms: 0 }]) },
  withoutRetryAfter: turned.filter((a) => !Number(a.retryAfter)).length,
  others: logins.length - accepted.length - turned.length,
  known: at(known, 0.5),
  unknown: at(unknown, 0.5),
});
agent.destroy();
