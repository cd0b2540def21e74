/** The paths that may be gone back to: within the console. */
export const safeBack = (back: string | undefined): string =>
  back && /^\/(?![/\\])/.test(back) && !/^\/(sign-in|setup|reset|oauth)/.test(back) ? back : '/';
