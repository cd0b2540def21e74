import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Dispatcher } from 'undici';
import { monotonicMs, timeoutSignal } from '../../../platform/common/clock.js';
import { FairPool, type Owner } from '../../../platform/common/fair-pool.js';
import type { Config } from '../../../platform/config/config.js';
import { CONFIG } from '../../../platform/config/config.module.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { outboundAgent } from '../../../platform/outbound/agent.js';
import { resolveAllowed } from '../../../platform/outbound/guard.js';
import type { Verdict } from './decide.js';
import { Peer } from './peer.js';
import { connected, probe, type Subject } from './probe.js';

const CONNECT_MS = 3000;
/** ms for which the result is kept whether this node has a network */
const NETWORK_MS = 2000;

const LOST = 'this node reaches none of CHECK_REFERENCES: its own network is down';

/** The common verdict of all nodes that check. */
@Injectable()
export class Votes implements OnApplicationShutdown {
  private readonly checks = new FairPool('failover checks');
  private readonly forNodes = new FairPool('failover checks for nodes');
  private readonly agent: Dispatcher;
  private readonly peers: Peer[];
  private network: { at: number; up: Promise<boolean> } | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly metrics: Metrics,
  ) {
    const { checkers, checkerSecret, outboundDeny } = config;
    // the operator has configured them: they may be on private networks
    this.agent = outboundAgent(outboundDeny, CONNECT_MS);
    this.peers = checkers.map((url) => new Peer(url, checkerSecret ?? '', this.agent));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /**
   * The verdict of more than half of the votes. A node votes unless it cannot be asked, or has lost its own network;
   * unless more than half of all nodes vote, the verdict is unknown.
   * @param owner of the domain, whose slots the check takes
   * @param signal ends the wait for a slot. @throws its reason
   */
  async of(target: Subject, owner: Owner, signal?: AbortSignal): Promise<Verdict> {
    return this.checks.run({ user: owner, target: endpointOf(target) }, () => this.asked(target, owner), signal);
  }

  /** This node's vote for another one, which limits the questions of its users itself. */
  ofNode(target: Subject, node: string): Promise<Verdict> {
    return this.forNodes.run({ user: node, target: endpointOf(target) }, () => this.own(target));
  }

  private async asked(target: Subject, owner: Owner): Promise<Verdict> {
    const votes = await Promise.all([this.own(target), ...this.peers.map((peer) => peer.ask(target, owner))]);
    const [own] = votes as [Verdict];
    const all = majority(votes);
    this.metrics.failoverChecks.inc({ outcome: all === null ? 'none' : all ? 'up' : 'down' });
    if (all === true) return { up: true, error: null, latency_ms: own.latency_ms };
    const reason = votes.find(({ up, error }) => error !== null && up === all)?.error ?? own.error;
    const voted = votes.filter(({ up }) => up !== null).length;
    const few = `no quorum: ${voted} of ${votes.length} checkers voted`;
    const error = all === false || votes.length === 1 ? reason : reason ? `${few}; ${reason}` : few;
    return { up: all, error, latency_ms: null };
  }

  /** This node's own vote. */
  private async own(target: Subject): Promise<Verdict> {
    const { outboundDeny, outboundAllow } = this.config;
    const verdict = await probe(target, outboundDeny, outboundAllow);
    return verdict.up || (await this.hasNetwork()) ? verdict : { up: null, error: LOST, latency_ms: null };
  }

  /** Whether one of the references can be reached, as of a moment ago; always true without references. */
  private hasNetwork(): Promise<boolean> {
    const { checkReferences, outboundDeny } = this.config;
    if (!checkReferences.length) return Promise.resolve(true);
    if (!this.network || this.network.at < monotonicMs() - NETWORK_MS) {
      const signal = timeoutSignal(CONNECT_MS);
      const looks = checkReferences.map(async ({ host, port }) =>
        connected(await resolveAllowed(host, outboundDeny), port, signal),
      );
      this.network = {
        at: monotonicMs(),
        up: Promise.any(looks).then(
          () => true,
          () => false,
        ),
      };
    }
    return this.network.up;
  }
}

/** What a check connects to. */
const endpointOf = ({ value, check }: Subject): string => `${value.toLowerCase()} ${check.port}`;

/** Null: too few nodes vote, or as many for it as against it. */
export function majority(votes: readonly Pick<Verdict, 'up'>[]): boolean | null {
  const voting = votes.filter(({ up }) => up !== null);
  const ups = voting.filter(({ up }) => up).length;
  if (voting.length * 2 <= votes.length || ups * 2 === voting.length) return null;
  return ups * 2 > voting.length;
}
