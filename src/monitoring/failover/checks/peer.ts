import type { Dispatcher } from 'undici';
import { after, timeMs, timeoutSignal } from '../../../platform/common/clock.js';
import type { Owner } from '../../../platform/common/fair-pool.js';
import { request } from '../../../platform/outbound/agent.js';
import { readBody } from '../../../platform/outbound/body.js';
import type { Verdict } from './decide.js';
import type { Subject } from './probe.js';
import { isSigned, NODE, SIGNATURE, sign, TIMESTAMP } from './signature.js';

/** ms in which questions are gathered for one call, and how many it has at most */
const GATHER_MS = 20;
const MOST = 100;
/** ms that a call may take longer than its checks */
const CALL_MS = 3000;

interface Question {
  target: Subject;
  answer: (verdict: Verdict) => void;
}

/** Another node that checks targets for this one. */
export class Peer {
  /** its name; empty until it is known */
  private node = '';
  /**
   * by the seconds that the checks may take, and by their owner: an answer comes when the slowest check of its call has
   * ended
   */
  private readonly waiting = new Map<string, Question[]>();

  constructor(
    readonly url: string,
    private readonly secret: string,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** The node's vote on a target; a node that cannot be asked does not vote (`up` null). */
  ask(target: Subject, owner: Owner): Promise<Verdict> {
    return new Promise((answer) => {
      const key = `${target.check.timeout_s} ${owner}`;
      const known = this.waiting.get(key);
      if (!known) this.waiting.set(key, [{ target, answer }]);
      else known.push({ target, answer });
      if (!known) after(GATHER_MS, () => this.flush(key));
    });
  }

  private flush(key: string): void {
    const all = this.waiting.get(key) ?? [];
    this.waiting.delete(key);
    for (let i = 0; i < all.length; i += MOST) this.send(all.slice(i, i + MOST));
  }

  private send(questions: readonly Question[]): void {
    this.call(questions.map(({ target }) => target)).then(
      (votes) => {
        for (const [i, { answer }] of questions.entries()) answer(votes[i] as Verdict);
      },
      (error: Error) => {
        const silent = { up: null, error: `${this.url} cannot be asked: ${error.message}`, latency_ms: null };
        for (const { answer } of questions) answer(silent);
      },
    );
  }

  /** A node names itself in its first refusal; a question is signed for one node, and no other one answers it. */
  private async call(checks: Subject[]): Promise<Verdict[]> {
    const body = JSON.stringify({ checks: checks.map(asked) });
    const { node } = this;
    try {
      return await this.callAs(node, body, checks);
    } catch (error) {
      if (this.node === node) throw error;
      return this.callAs(this.node, body, checks);
    }
  }

  private async callAs(node: string, body: string, checks: readonly Subject[]): Promise<Verdict[]> {
    const timestamp = String(timeMs());
    const signature = sign(this.secret, `${timestamp}.${node}`, body);
    const longest = Math.max(...checks.map(({ check }) => check.timeout_s * 1000));
    const answer = await request(`${this.url}/api/checks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [TIMESTAMP]: timestamp, [NODE]: node, [SIGNATURE]: signature },
      body,
      signal: timeoutSignal(longest + CALL_MS),
      dispatcher: this.dispatcher,
    });
    const text = String(await readBody(answer.body, 1));
    const told = String(answer.headers[NODE] ?? '');
    if (answer.statusCode === 401 && told && isSigned(this.secret, signature, told, String(answer.headers[SIGNATURE])))
      this.node = told;
    if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
    const { votes } = (JSON.parse(text) as { data: { votes: Verdict[] } }).data;
    if (!isSigned(this.secret, signature, JSON.stringify(votes), String(answer.headers[SIGNATURE])))
      throw new Error('its answer is not signed');
    if (votes.length !== checks.length) throw new Error('it did not answer all');
    return votes;
  }
}

/** A target as another node gets it: without intervals and thresholds. */
function asked({ value, name, check }: Subject): Subject {
  const { kind, port, path, expect_status, expect_body, timeout_s, verify_tls, public_only } = check;
  const asked = { kind, port, path, expect_status, expect_body, timeout_s, verify_tls };
  return { value, name, check: { ...asked, ...(public_only && { public_only }) } };
}
