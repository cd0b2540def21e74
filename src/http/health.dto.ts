export class Health {
  /** setup: ready, and waiting for the setup flow */
  status!: 'ok' | 'setup';
}
