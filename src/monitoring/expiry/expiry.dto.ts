/** What is known of a registration after its registry was asked. */
export class RegistrationView {
  /** the name that is registered: the domain's own, or the one that it lies below */
  name!: string;
  /** null: nobody tells it */
  expires_at!: string | null;
  /** who told it */
  source!: 'rdap' | 'whois' | 'provider' | null;
  checked_at!: string | null;
  /** why nobody tells it */
  error!: string | null;
}

/** What a host showed when a connection with TLS was made to it. */
export class CertificateView {
  id!: number;
  host!: string;
  valid_from!: string | null;
  /** its end; what was seen last stays when the host shows nothing */
  valid_to!: string | null;
  issuer!: string | null;
  /** why none was seen the last time, or why a browser would not believe it */
  error!: string | null;
  checked_at!: string | null;
}
