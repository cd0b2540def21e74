class PauseView {
  since!: string;
  reason!: string;
}

export class Health {
  /** setup: ready, and waiting for the setup flow */
  status!: 'ok' | 'setup';
  /** of `ready`, where Redis is used; the service works without it, too */
  redis?: 'up' | 'away';
  /**
   * of `ready`, in a database that was restored or copied: since when, and why, no jobs run and providers are not
   * written to
   */
  paused?: PauseView;
  /**
   * of `ready`, where the clock of this machine is off by more than 5 s: by how many seconds it is ahead of that of the
   * database. All that processes share goes by the database's; this one takes no jobs while others can
   */
  clock_offset_seconds?: number;
}
