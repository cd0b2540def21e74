import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Jobs } from '../platform/jobs/jobs.js';
import { KeptAnswersRepository } from './kept-answers.repository.js';
import { KeptAnswers } from './kept-answers.service.js';

const HOUR_MS = 3_600_000;

@Module({ providers: [KeptAnswersRepository, KeptAnswers], exports: [KeptAnswers] })
export class IdempotencyModule {}

@Injectable()
class KeptAnswersSweep implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly answers: KeptAnswers,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('kept-answers.sweep', HOUR_MS, () => this.answers.sweep());
  }
}

/** For the service only: the administration commands do without. */
@Module({ imports: [IdempotencyModule], providers: [KeptAnswersSweep], exports: [IdempotencyModule] })
export class IdempotencyJobsModule {}
