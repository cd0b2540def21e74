// biome-ignore lint/style/noRestrictedImports: the host of the database is the operator's, as its driver looks it up
import { connect, type Socket } from 'node:net';
import { after } from '../common/clock.js';

/** ms that a server has to say something to who comes new */
const PATIENCE_MS = 5000;
/** ms until a server that ended the connection without a word is asked again */
const AGAIN_MS = 1000;
/** PostgreSQL speaks second: whether it takes TLS is answered with one letter */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Whether a server of PostgreSQL or MariaDB says anything at all: one whose process is stopped takes connections, since
 * its kernel does, and answers nothing. While it is silent one connection waits for its first word: many that are given
 * up would have MariaDB shut our host out.
 */
export class Pulse {
  /** it was asked, and has not answered yet */
  silent = false;
  private asking: Promise<boolean> | null = null;
  private line: Socket | null = null;
  private stopped = false;

  constructor(
    private readonly host: string,
    private readonly port: number,
    private readonly asksFirst: boolean,
  ) {}

  /** Asks it, unless somebody does. */
  beats(): Promise<boolean> {
    if (this.silent || this.stopped) return Promise.resolve(false);
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  stop(): void {
    this.stopped = true;
    this.line?.destroy();
  }

  private ask(): Promise<boolean> {
    return new Promise((resolve) => {
      const silence = () => {
        this.silent = true;
        resolve(false);
      };
      const cancel = after(PATIENCE_MS, silence, { idle: true });
      const end = (spoke: boolean) => {
        cancel();
        this.line = null;
        // one that is down is not silent: the pool hears the same
        if (spoke || !this.silent || this.stopped) this.silent = false;
        else after(AGAIN_MS, () => void this.ask(), { idle: true });
        resolve(true);
      };
      this.line = connect(this.port, this.host).unref();
      this.line.once('connect', () => this.asksFirst && this.line?.write(SSL_REQUEST));
      this.line.once('data', () => {
        this.line?.end();
        this.line?.removeAllListeners('close');
        end(true);
      });
      this.line.once('close', () => end(false));
      this.line.on('error', () => undefined);
    });
  }
}
