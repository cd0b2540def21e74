// Load generator in its own process: keep-alive connections with one request in flight each, over plain sockets to keep
// its own cost low.
import { connect } from 'node:net';

/** What the head of an answer says: what is wrong with it, how long its body is, whether the connection ends. */
function readHead(head) {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const status = Number(head.slice(9, 12));
  const wrong = length === undefined && status !== 204 ? 'no Content-Length' : status >= 300 && `status ${status}`;
  return { wrong, length: Number(length ?? 0), last: /\r\nconnection: close/i.test(head) };
}

/**
 * Sends requests one after the other until `until()` is true, on the same connection while the server keeps it open.
 * Answers must have a Content-Length.
 */
function worker(port, request, until, seen) {
  return new Promise((resolve, reject) => {
    let socket;
    let chunks = [];
    let have = 0;
    let need = -1;
    let closing = false;
    let start = 0;
    const next = () => {
      if (until()) {
        socket?.destroy();
        return resolve();
      }
      start = performance.now();
      if (socket && !closing) socket.write(request());
      else open();
    };
    const open = () => {
      socket?.destroy();
      closing = false;
      socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request()));
      socket.on('error', reject);
      socket.on('data', receive);
      const mine = socket;
      socket.on('close', () => {
        if (mine === socket && !closing) reject(new Error('the server closed a connection'));
      });
    };
    const receive = (chunk) => {
      chunks.push(chunk);
      have += chunk.length;
      if (need < 0) {
        const text = chunks.length === 1 ? chunk : Buffer.concat(chunks);
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return;
        const { wrong, length, last } = readHead(text.latin1Slice(0, end));
        if (wrong) return reject(new Error(`${wrong}: ${text.toString()}`));
        need = end + 4 + length;
        closing = last;
      }
      if (have < need) return;
      chunks = [];
      have = 0;
      need = -1;
      seen(performance.now() - start);
      next();
    };
    next();
  });
}

/** Renders requests; `{n}` in the body is replaced by the number of the request. */
function renderer({ method = 'GET', path, headers = {}, body, first = 0 }) {
  const head = (target, length) =>
    [
      `${method} ${target} HTTP/1.1`,
      'Host: 127.0.0.1',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(length === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${length}`]),
      '\r\n',
    ].join('\r\n');
  if (body === undefined) {
    const text = Buffer.from(head(path));
    return () => text;
  }
  let n = first;
  return () => {
    const text = body.replaceAll('{n}', String(n++));
    return head(path, Buffer.byteLength(text)) + text;
  };
}

/**
 * @param job `{port, method, path, headers, body, first, connections, ms, count}`: ends after `ms` or `count` requests,
 *   whichever comes first; lists of paths and of ports are distributed over the connections
 */
async function measure(job) {
  const times = [];
  const ports = [job.port].flat();
  const requests = [job.path].flat().map((path) => renderer({ ...job, path }));
  const start = performance.now();
  let sent = 0;
  const { count = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY } = job;
  const until = () => sent++ >= count || performance.now() - start > ms;
  await Promise.all(
    Array.from({ length: job.connections }, (_none, i) =>
      worker(ports[i % ports.length], requests[i % requests.length], until, (time) => times.push(time)),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return { rps: times.length / seconds, p50: at(0.5), p99: at(0.99), requests: times.length };
}

process.on('message', (job) => {
  measure(job).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: error.message }),
  );
});
