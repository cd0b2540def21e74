/**
 * Hands out jobs that are due. With every engine the table of jobs decides which process runs a job. Without Redis each
 * process polls the table; with Redis BullMQ hands each tick to one process, and polling only finds what Redis lost.
 */
export interface Engine {
  /** Whether it hands out jobs; otherwise the processes poll the table. */
  readonly up: boolean;
  start(): Promise<void>;
  /** Plans a job that will be due at this moment; planning it twice does nothing. */
  plan(id: number, at: string): void;
  /** Whether this process is handed no jobs, since it could not run them. */
  rest(resting: boolean): void;
  stop(): Promise<void>;
}
