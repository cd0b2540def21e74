import PQueue from 'p-queue';

/** Work that is under way at once: of each domain, so that what is slow there waits behind its own kind, and in all. */
export class Shares {
  private readonly all: PQueue;
  /** of domains with work */
  private readonly ones = new Map<number, PQueue>();

  constructor(
    private readonly ofOne: number,
    all = Number.POSITIVE_INFINITY,
  ) {
    this.all = new PQueue({ concurrency: all });
  }

  /**
   * @param domainId whose share it takes; null: nobody's
   * @param signal ends the wait for a place. @throws its reason
   */
  async add<T>(domainId: number | null, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (domainId === null) return this.all.add(work);
    const own = this.ones.get(domainId) ?? new PQueue({ concurrency: this.ofOne });
    this.ones.set(domainId, own);
    try {
      return await own.add(() => this.all.add(work), { signal });
    } finally {
      if (!own.size && !own.pending) this.ones.delete(domainId);
    }
  }

  /** When all that the domains have now is done. */
  async onIdle(): Promise<void> {
    await Promise.all([...this.ones.values()].map((own) => own.onIdle()));
  }
}
