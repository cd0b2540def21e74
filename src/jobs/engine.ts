/**
 * What tells the processes that a job is due. The table of jobs decides who does it, whatever the engine: without
 * Redis each process looks there by itself; with Redis BullMQ hands each tick to one of them, and the look is the net
 * below, for what Redis lost.
 */
export interface Engine {
  /** Whether it tells; else the processes look by themselves. */
  readonly up: boolean;
  start(): Promise<void>;
  /** A job will be due at this moment; to say so twice does nothing. */
  plan(id: number, at: string): void;
  /** Whether this process is handed nothing, since it could not do it. */
  rest(resting: boolean): void;
  stop(): Promise<void>;
}
