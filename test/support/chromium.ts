import { existsSync } from 'node:fs';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { missing } from './bind.js';

// the one without windows does the same in two thirds of the time
const SHELL = '/usr/bin/chromium-headless-shell';
export const PROGRAM = process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium');
// half a minute of the processor less for all tests: one process for pages and drawing, scripts are not optimised
const LIGHT = ['--disable-gpu', '--in-process-gpu', '--renderer-process-limit=1', '--js-flags=--no-opt'];
const QUIET = [...LIGHT, '--disable-quic', '--no-first-run'];
const ALONE = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** A reason to skip tests that need a browser, or false. Importing this in CI fails without one. */
export const noChromium: string | false = missing(PROGRAM) ?? false;

/** The options that `start` of our API returns for the browser. */
export type Options = Record<string, unknown>;
/** Result of a ceremony as JSON. */
export type Ceremony = Record<string, unknown> & { id: string; response: Record<string, string> };

/** A credential stored in the virtual authenticator. */
export type Kept = Awaited<ReturnType<Authenticator['kept']>>[number];

/** A page with a virtual authenticator that confirms every request. */
export class Authenticator {
  private constructor(
    private readonly page: Page,
    private readonly devtools: CDPSession,
    private readonly authenticatorId: string,
  ) {}

  static async plugIn(page: Page, hasUserVerification: boolean): Promise<Authenticator> {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification,
        isUserVerified: hasUserVerification,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(page, devtools, authenticatorId);
  }

  /** `navigator.credentials.create`. @throws Error with the name of the browser's error, such as NotAllowedError */
  create(options: Options): Promise<Ceremony> {
    return this.run('create', 'parseCreationOptionsFromJSON', options);
  }

  /** `navigator.credentials.get`. @throws Error with the name of the browser's error, such as NotAllowedError */
  get(options: Options): Promise<Ceremony> {
    return this.run('get', 'parseRequestOptionsFromJSON', options);
  }

  /** Starts a ceremony without user interaction, and aborts it from the page. */
  async cancelled(method: 'create' | 'get', options: Options): Promise<Error> {
    await this.present(false);
    const parse = method === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
    const abort = 'signal: AbortSignal.timeout(200)';
    const failure = await this.run(method, parse, options, abort).then(
      () => new Error('it was not cancelled'),
      (error: Error) => error,
    );
    await this.present(true);
    return failure;
  }

  /** Sets whether user verification succeeds from now on. */
  async verifiesUser(isUserVerified: boolean): Promise<void> {
    await this.devtools.send('WebAuthn.setUserVerified', { authenticatorId: this.authenticatorId, isUserVerified });
  }

  /** Its credentials, including private keys. */
  async kept() {
    const { authenticatorId } = this;
    return (await this.devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  }

  /** Stores a credential, replacing the one with the same id. */
  async put(credential: Kept): Promise<void> {
    const { authenticatorId } = this;
    await this.remove(credential.credentialId);
    await this.devtools.send('WebAuthn.addCredential', { authenticatorId, credential });
  }

  async remove(credentialId: string): Promise<void> {
    const { authenticatorId } = this;
    await this.devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  private async present(enabled: boolean): Promise<void> {
    const { authenticatorId } = this;
    await this.devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  }

  /** The code is passed as text because it runs in the page. */
  private async run(method: string, parse: string, options: Options, more = ''): Promise<Ceremony> {
    const publicKey = `PublicKeyCredential.${parse}(${JSON.stringify(options)})`;
    const result = await this.page.evaluate(`navigator.credentials.${method}({ publicKey: ${publicKey}, ${more} }).then(
      (credential) => ({ credential: credential.toJSON() }),
      (error) => ({ name: error.name, message: error.message }))`);
    const { credential, name, message } = result as { credential?: Ceremony; name: string; message: string };
    if (!credential) throw Object.assign(new Error(message), { name });
    return credential;
  }
}

/** A headless browser. */
export interface Browser {
  /**
   * Opens the page in a new profile with an authenticator.
   * @param verification whether the authenticator supports user verification
   */
  open(url: string, verification?: boolean): Promise<Authenticator>;
  stop(): Promise<void>;
}

/** A headless browser without a page. */
export const launchChromium = (args: string[] = []) =>
  chromium.launch({ executablePath: PROGRAM, chromiumSandbox: false, args: [...QUIET, ...ALONE, ...args] });

/** A browser that shows pages. */
export interface Pages {
  /** Opens a page in a new profile. */
  open(url: string): Promise<Page>;
  stop(): Promise<void>;
}

export async function startPages(): Promise<Pages> {
  const browser = await launchChromium();
  return {
    async open(url) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(url);
      return page;
    },
    stop: () => browser.close(),
  };
}

export async function startChromium(): Promise<Browser> {
  const browser = await launchChromium();
  return {
    async open(url, verification = true) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(url);
      return Authenticator.plugIn(page, verification);
    },
    stop: () => browser.close(),
  };
}
