export class Health {
  /** setup: ready, and waiting for the setup flow */
  status!: 'ok' | 'setup';
  /** of `ready`, where Redis is used; the service works without it, too */
  redis?: 'up' | 'away';
}
