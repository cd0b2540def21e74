export class Health {
  /** ok, or setup: ready, and waiting for the setup flow */
  status!: string;
}
