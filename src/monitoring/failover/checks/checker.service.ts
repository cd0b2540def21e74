import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { monotonicMs, now } from '../../../platform/common/clock.js';
import type { Config } from '../../../platform/config/config.js';
import { CONFIG } from '../../../platform/config/config.module.js';
import { CheckerNodesRepository } from './checker-nodes.repository.js';
import { CheckerQuestionsRepository } from './checker-questions.repository.js';
import type { Verdict } from './decide.js';
import type { Subject } from './probe.js';
import { sign, WINDOW_MS } from './signature.js';
import { Votes } from './votes.service.js';

/** ms between two removals of questions whose timestamp alone refuses them by now */
const SWEEP_MS = 60_000;

/** This node as a checker for other nodes. */
@Injectable()
export class Checker {
  private name: string | null = null;
  /** When old questions are removed next, by `monotonicMs()`. */
  private sweepAt = 0;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly nodes: CheckerNodesRepository,
    private readonly questions: CheckerQuestionsRepository,
    private readonly votes: Votes,
  ) {}

  /** The name of this node, made with the first question. */
  async node(): Promise<string> {
    this.name ??= await this.stored();
    return this.name;
  }

  private async stored(): Promise<string> {
    const known = await this.nodes.name();
    if (known) return known;
    const node = randomBytes(16).toString('hex');
    if (await this.nodes.add(node)) return node;
    return (await this.nodes.name()) ?? node;
  }

  /** Accepts a signed question. @returns false when a replica has accepted it before */
  async accept(signature: string): Promise<boolean> {
    if (this.sweepAt < monotonicMs()) {
      this.sweepAt = monotonicMs() + SWEEP_MS;
      await this.questions.removeEndedBefore(now());
    }
    return this.questions.add(signature, now(2 * WINDOW_MS));
  }

  /**
   * Checks targets for another node.
   * @param asked signature of the question
   * @returns with the signature of the answer
   */
  async answer(
    targets: readonly Subject[],
    asked: string,
    ip: string,
  ): Promise<{ votes: Verdict[]; signature: string }> {
    const votes = await Promise.all(targets.map((target) => this.votes.ofNode(target, ip)));
    return { votes, signature: sign(this.config.checkerSecret ?? '', asked, JSON.stringify(votes)) };
  }
}
