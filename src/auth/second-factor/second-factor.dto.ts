export class TotpSetup {
  /** Base32, 160 bits, for typing in */
  secret!: string;
  otpauth_url!: string;
  /** the same as a picture, a data URL */
  qr_code!: string;
}
